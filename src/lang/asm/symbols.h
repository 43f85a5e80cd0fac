#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/text_hash.h"
#include "lang/insn/value.h"
#include "lang/program/types.h"

namespace gpufs {

// Thrown where a mistake follows from another one that was complained of: nobody needs to hear it.
struct AlreadyTold {};

// The names that a .bpf text declares and that expressions may use.
class AsmSymbols {
public:
    // Takes a name for a constant, parameter, structure, map or record: each has one meaning only.
    // Throws SourceError where it is taken already, or is a register's. Keeps a reference to the
    // source.
    void declare(const SourceText& source, Span name);

    // What a name means is not known, and its declaration was complained of: whoever uses it makes
    // no second mistake.
    void forgive(std::string_view name) { forgiven_.emplace(name); }
    // Is it, or is it a member of, a name that was forgiven?
    bool is_forgiven(std::string_view name) const;

    void define_number(const std::string& name, Int128 number);
    void define_size(const std::string& name, std::size_t bytes);
    // NAME.MEMBER is an offset, sizeof(NAME) and sizeof(NAME.MEMBER) are sizes.
    void define_layout(const std::string& name, const Layout& layout);
    // The same of a variable NAME.VARIABLE `offset` bytes above r10, and its members.
    void define_variable(const std::string& name, std::int64_t offset, const Layout& layout);

    // Bytes that a program can point at.
    struct Place {
        std::int64_t offset = 0;  // from r10, or from where the structure begins
        std::size_t bytes = 0;
        bool is_on_stack = false;
    };
    const Place* find_place(std::string_view path) const;
    std::vector<std::string> places() const;
    // A name that the linker fills: a parameter's.
    void define_later(const std::string& name, Relocation::Kind kind);
    void define_map(const std::string& name) { maps_.push_back(name); }
    void define_record(const std::string& name) { records_.push_back(name); }

    // For expressions of `source`, which is borrowed like the symbols themselves. Knows too
    //   @FIELD                 offset of the event's field       sizeof(@FIELD)  its bytes
    //   record(NAME)           the number of a record
    //   btf(STRUCT.MEMBER ? N) offset of a kernel structure's member; N where there is no BTF
    AsmNames names_for(const SourceText& source) const;

private:
    // What a name says; a place is both a number, its offset, and a size.
    struct Meaning {
        std::optional<Int128> number;
        std::optional<std::size_t> bytes;
        std::optional<Place> place;
    };
    // What a name means already stays.
    void define(const std::string& name, const Meaning& meaning);
    const Meaning* find_meaning(std::string_view name) const;
    void define_place(const std::string& path, const Place& place);
    void define_parts(const std::string& path, const Place& whole, const Layout& layout);
    NameMeaning find(const NameUse& use, const SourceText& source) const;
    NameMeaning find_call(const NameUse& use, const SourceText& source) const;
    std::vector<std::string> known() const;

    struct Declaration {
        const SourceText* source = nullptr;
        std::size_t offset = 0;
    };
    std::map<std::string, Declaration, std::less<>> declared_;
    std::unordered_map<std::string, Meaning, TextHash, std::equal_to<>> meanings_;
    std::map<std::string, Relocation::Kind, std::less<>> later_;
    std::vector<std::string> records_, maps_;
    std::set<std::string, std::less<>> forgiven_;
};

}  // namespace gpufs
