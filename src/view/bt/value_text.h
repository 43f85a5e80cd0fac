#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bt/types/type.h"
#include "view/bt/value_bytes.h"
#include "view/bt/value_names.h"

namespace gpufs::bt {

// The parts of a Compiled that its values refer to.
struct ValueTables {
    std::map<std::uint64_t, std::string> names;  // of probe_name
    std::vector<std::string> formats;            // of timestamp
    std::string cut_trailer = "..";              // behind a string that fills its bytes
    bool is_old = false;                         // see Language
};

// Prints values. `bytes` are as in value_bytes.h.
class ValueWriter {
public:
    // Borrows the names.
    ValueWriter(ValueTables tables, ValueNames& names)
        : tables_(std::move(tables)), names_(names) {}

    // Appends a value as %s, print() and a map's value have it: a string bare, a pointer in hex,
    // a tuple as "(1, a)", a structure as "{ .a = 1 }", an array as "[1,2]". A stack begins with a
    // newline and has one behind each frame. Numbers are divided by `div`, a stats's average only.
    void text(std::string& out, const Type& type, Bytes bytes, std::uint64_t div = 1) const;
    // Appends a map's key as it stands between the brackets: a tuple's parts without parentheses.
    void key(std::string& out, const Type& type, Bytes bytes) const;

    // Appends a value as JSON: enums and pointers are numbers, a buffer is an array of them.
    void json(std::string& out, const Type& type, Bytes bytes, std::uint64_t div = 1) const;
    // Appends a key as a quoted JSON string: its parts have no blank between them.
    void json_key(std::string& out, const Type& type, Bytes bytes) const;

    ValueNames& names() const { return names_; }
    bool is_old() const { return tables_.is_old; }

private:
    // Blanks between parts: "(1, 2)", "(1,2)".
    enum class Blanks { yes, no };
    struct How {
        std::uint64_t div = 1;
        Blanks blanks = Blanks::yes;
        bool is_key = false;
    };
    void write(std::string& out, const Type& type, Bytes bytes, How how) const;
    void write_key(std::string& out, const Type& type, Bytes bytes, Blanks blanks) const;
    void write_array(std::string& out, const Type& type, Bytes bytes, How how) const;
    void write_tuple(std::string& out, const Type& type, Bytes bytes, How how) const;
    void write_record(std::string& out, const std::vector<Type::Field>& fields, Bytes bytes,
                      How how) const;
    void write_field(std::string& out, const Type::Field& field, Bytes bytes, How how) const;
    void write_stack(std::string& out, const Type& type, Bytes bytes) const;
    void json_array(std::string& out, const Type& type, Bytes bytes, std::uint64_t div) const;
    void json_tuple(std::string& out, const Type& type, Bytes bytes, std::uint64_t div) const;
    void json_record(std::string& out, const std::vector<Type::Field>& fields, Bytes bytes,
                     std::uint64_t div) const;
    void json_field(std::string& out, const Type::Field& field, Bytes bytes,
                    std::uint64_t div) const;
    // Of the kinds whose text is a word from elsewhere.
    std::string word(const Type& type, Bytes bytes) const;
    std::string task_name(std::uint32_t tid) const;
    std::string timestamp(Bytes bytes) const;

    ValueTables tables_;
    ValueNames& names_;
};

// The bytes of a buffer: those that ASCII has a character for as they are, others as "\x0a"
// (printable); all as "\x0a" (escaped); all as "0a 0b" (digits).
enum class BufferForm { printable, escaped, digits };
void append_buffer(std::string& out, Bytes contents, BufferForm form);

}  // namespace gpufs::bt
