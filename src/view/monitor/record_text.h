#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "lang/program/program.h"
#include "view/columns.h"
#include "view/monitor/value_text.h"

namespace gpufs {

// Formats the records of a program, as text or JSON. Resolves each layout once into a plan.
//
// Records without actions are printed in columns, below a line of their members' names:
//
//             PID  COMM             FILE
//   OPEN    21300  cat              /etc/hostname
//
// Each line begins with the layout's title; if it has none and is not the only layout, with its
// name.
class RecordText {
public:
    // Keeps references to both.
    RecordText(const Program& program, ValueWriter& values,
               LargeNumbers large = LargeNumbers::numbers);

    // On a terminal, repeats the names on each screenful and truncates lines in columns.
    void set_screen(const Screen& screen) { screen_ = screen; }

    // Appends a record's line in columns, preceded by the names if they are due. `layout` must be
    // one of the program's; `record` must have its length.
    void columns(std::string& out, const RecordLayout& layout, std::span<const std::byte> record);
    // Appends the output of a print action of the layout, after the title, as one line.
    void print(std::string& out, const RecordLayout& layout, const Action& action,
               std::span<const std::byte> record);
    // Appends {"record":"opened","values":{"pid":21300,...}} and a newline; before the last brace
    // the "units" of members that have one.
    void json(std::string& out, const RecordLayout& layout, std::span<const std::byte> record);

    // Number of stacks missing in records because their slot in the stack map was occupied.
    std::uint64_t stack_collisions() const noexcept { return stack_collisions_; }

private:
    struct Column {
        ValuePlan plan;
        std::string name;
        int width = 0;
    };
    struct Piece {
        std::string text;  // before the value
        ValuePlan plan;
        int width = 0;
        bool has_value = false;
    };
    struct Plan {
        std::string front;  // the title and a space
        std::vector<Column> columns;
        std::vector<ValuePlan> stacks;           // below the columns
        std::vector<std::vector<Piece>> prints;  // per action
        std::vector<std::string> json_names;     // `,"pid":`
        std::vector<ValuePlan> json_values;
        std::string json_front, json_back;
        bool has_names = false;      // they have been printed
        std::size_t lines_left = 0;  // lines until the names are repeated
    };
    static std::vector<Piece> pieces_of(const RecordLayout& layout, const Action& action);
    void plan_columns(Plan& plan, const RecordLayout& layout) const;
    void append_names(std::string& out, Plan& plan) const;
    void count_collisions(const Plan& plan, std::span<const std::byte> record);
    Plan& plan_of(const RecordLayout& layout) {
        return plans_[static_cast<std::size_t>(&layout - program_.records.data())];
    }

    const Program& program_;
    ValueWriter& values_;
    LargeNumbers large_;
    Screen screen_;
    std::vector<Plan> plans_;  // by layout
    std::uint64_t stack_collisions_ = 0;
};

}  // namespace gpufs
