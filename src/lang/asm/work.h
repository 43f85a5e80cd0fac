#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "lang/asm/symbols.h"
#include "lang/program/program.h"

namespace gpufs {

// A program or a function of a .bpf text, with its lines of code.
struct AsmUnit {
    struct Line {
        std::size_t source = 0;
        Span span;
        std::size_t guard = 0;  // as in CodeItem
    };
    bool is_program = true;
    std::size_t index = 0;  // into Program::programs or Program::subprograms
    std::vector<Line> lines;
    bool is_complete = true;  // no line and no guard of it is missing for a mistake
};

// A program in the making: what the parts of the assembler share.
struct AsmWork {
    Program program;                 // its sources when all is read
    std::deque<SourceText> sources;  // stay where they are when more come
    AsmSymbols symbols;
    std::map<std::string, Layout, std::less<>> structs;  // records, too
    std::map<std::string, EnumWords, std::less<>> enums;
    std::set<std::string, std::less<>>
        hex_enums;  // of which other numbers are shown in hexadecimal
    // Of the functions that name theirs.
    std::map<std::string, std::vector<std::string>, std::less<>> parameters;
    std::vector<AsmUnit> units;
    // Programs that declarations name; these may stand behind them.
    std::vector<std::pair<std::string, SourceRef>> programs_named;
    // The maps that `add` adds to, and the alignment of all keys it is given.
    std::map<std::string, std::size_t, std::less<>> added_to;
    // The maps of whole stacks that `call get_stackid(...)` asks, and whether one gives BACK.
    std::map<std::string, bool, std::less<>> stacks_asked;
    Diagnostics errors;
};

// What a probe is attached to: the rest of a .prog line, "tracepoint sched:sched_waking | kprobe
// try_to_wake_up". Throws SourceError.
std::vector<std::vector<ProbeTarget>> parse_probe_targets(const SourceText& source,
                                                          std::size_t source_index, Span range);

// Is it the name of the function of a map in `added_to` or `stacks_asked`?
bool is_generated(const AsmWork& work, std::string_view function);
// Makes these functions.
void define_generated(AsmWork& work);

// Fills the code of all units, and complains of what is wrong with their lines.
void assemble_units(AsmWork& work);

// The names of items, to suggest one.
template <class Items>
std::vector<std::string> names_of(const Items& items) {
    std::vector<std::string> names;
    for (const auto& item : items) names.push_back(item.name);
    return names;
}

}  // namespace gpufs
