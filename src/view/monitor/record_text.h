#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "lang/program/program.h"
#include "view/columns.h"
#include "view/monitor/value_text.h"

namespace gpufs {

// Shows the records of a program, each way by a plan that is made once for its layout.
//
// Records without actions lie in columns, below a line of their members' names:
//
//             PID  COMM             FILE
//   OPEN    21300  cat              /etc/hostname
//
// In front stands the layout's title, or where it has none and is not the only one, its name.
class RecordText {
public:
    // Borrows both.
    RecordText(const Program& program, ValueWriter& values);

    // On a terminal the names come again each screenful, and lines in columns end at its edge.
    void set_screen(const Screen& screen) { screen_ = screen; }

    // Appends a record's line in columns, with the names above where they are due. `layout` is one
    // of the program's; `record` is as long as it.
    void columns(std::string& out, const RecordLayout& layout, std::span<const std::byte> record);
    // Appends what a print action of the layout says, behind the title: a line.
    void print(std::string& out, const RecordLayout& layout, const Action& action,
               std::span<const std::byte> record);
    // Appends {"record":"opened","values":{"pid":21300,...}} and a newline.
    void json(std::string& out, const RecordLayout& layout, std::span<const std::byte> record);

    // Stacks in records that have none because their place in the stack map was taken.
    std::uint64_t stack_collisions() const noexcept { return stack_collisions_; }

private:
    struct Column {
        ValuePlan plan;
        std::string name;
        int width = 0;
    };
    struct Piece {
        std::string text;  // in front of the value
        ValuePlan plan;
        int width = 0;
        bool has_value = false;
    };
    struct Plan {
        std::string front;  // the title and a space
        std::vector<Column> columns;
        std::vector<ValuePlan> stacks;           // below the columns
        std::vector<std::vector<Piece>> prints;  // of each action
        std::vector<std::string> json_names;     // `,"pid":`
        std::vector<ValuePlan> json_values;
        std::string json_front;
        bool has_names = false;      // they were shown
        std::size_t lines_left = 0;  // on the screen, until they are due again
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
    Screen screen_;
    std::vector<Plan> plans_;  // by layout
    std::uint64_t stack_collisions_ = 0;
};

}  // namespace gpufs
