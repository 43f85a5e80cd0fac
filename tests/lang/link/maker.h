#pragma once

// What tests of the linker share: an event with one field of every kind, and programs that are
// written line by line.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lang/insn/run.h"
#include "lang/link/link.h"

namespace gpufs::test {

inline constexpr std::string_view kEvent =
    "name: thing\n"
    "ID: 400\n"
    "format:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
    "\n"
    "\tfield:u64 seqno;\toffset:8;\tsize:8;\tsigned:0;\n"
    "\tfield:int count;\toffset:16;\tsize:4;\tsigned:1;\n"
    "\tfield:s16 delta;\toffset:20;\tsize:2;\tsigned:1;\n"
    "\tfield:u8 flags;\toffset:22;\tsize:1;\tsigned:0;\n"
    "\tfield:char comm[16];\toffset:24;\tsize:16;\tsigned:0;\n"
    "\tfield:__data_loc char[] ring;\toffset:40;\tsize:4;\tsigned:0;\n"
    "\tfield:__rel_loc char[] rel;\toffset:44;\tsize:4;\tsigned:0;\n"
    "\tfield:const char * name;\toffset:48;\tsize:8;\tsigned:0;\n"
    "\tfield:u32 words[4];\toffset:56;\tsize:16;\tsigned:0;\n"
    "\tfield:char odd[8];\toffset:74;\tsize:8;\tsigned:0;\n"
    "\n"
    "print fmt: \"\"\n";

inline const EventFormat& event() {
    static const EventFormat parsed = parse_event_format("gpu", kEvent);
    return parsed;
}

inline LinkTarget tracepoint() {
    LinkTarget target;
    target.context = LinkTarget::Context::record;
    target.event = &event();
    target.attached_to = "gpu:thing";
    return target;
}

// A program with its text: every item is a line of it, and each name in it is found there.
class Maker {
public:
    Maker() {
        program.name = "watch";
        probe.name = "probe";
        probe.at = {0, {0, 0}};
    }

    Maker& line(std::string_view text, CodeItem item, std::string_view named = {}) {
        const std::size_t begin = text_.size();
        text_ += text;
        text_ += '\n';
        item.at = {0, {begin, begin + text.size()}};
        const auto at = named.empty() ? text.npos : text.find(named);
        item.relocation.at =
            at == text.npos ? item.at : SourceRef{0, {begin + at, begin + at + named.size()}};
        code->push_back(std::move(item));
        return *this;
    }
    Maker& exit() { return line("exit", item_of(insn::leave())); }
    Maker& zero_and_exit() { return line("r0 = 0", item_of(insn::mov(Reg::r0, 0))).exit(); }
    // What follows is the code of a function.
    Maker& function(std::string name) {
        program.subprograms.push_back({std::move(name), {}, {}});
        program.subprograms.back().at = {0, {text_.size(), text_.size()}};
        code = &program.subprograms.back().code;
        return *this;
    }

    Linked link(const LinkTarget& target = tracepoint()) {
        program.sources = {{"watch.bpf", text_}};
        return gpufs::link(program, probe, target);
    }
    std::string refusal(const LinkTarget& target = tracepoint()) {
        try {
            link(target);
        } catch (const UsageError& e) {
            return e.what();
        }
        return {};
    }

    Program program;
    ProbeProgram probe;
    std::vector<CodeItem>* code = &probe.code;

private:
    std::string text_;
};

inline CodeItem field_load(const bpf_insn& op, std::string field, std::int64_t addend = 0) {
    CodeItem item = with(item_of(op), Relocation::Kind::field_offset, std::move(field));
    item.relocation.addend = addend;
    return item;
}
inline CodeItem macro(CodeItem::Kind kind, Reg dst, Reg src, std::string field) {
    CodeItem item = with({}, Relocation::Kind::none, std::move(field));
    item.kind = kind;
    item.insn = insn::mov(dst, src);
    return item;
}
inline constexpr auto kLoadField = CodeItem::Kind::load_field;
inline constexpr auto kFieldAddress = CodeItem::Kind::field_address;
inline constexpr auto kFieldLength = CodeItem::Kind::field_length;

inline bool same_code(const std::vector<bpf_insn>& a, const std::vector<bpf_insn>& b) {
    return std::ranges::equal(a, b, same_insn);
}

}  // namespace gpufs::test
