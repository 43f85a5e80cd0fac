#pragma once

// What the tests of the expression language share: an event with a field of every kind, a record
// with chosen values, and random conditions.

#include <algorithm>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cat.h"
#include "lang/event/event_format.h"
#include "lang/expr/expr.h"

namespace gpufs::test {

// Every size and sign, and every kind of text.
inline constexpr std::string_view kEveryKind =
    "name: every\n"
    "ID: 1234\n"
    "format:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
    "\n"
    "\tfield:s8 s8;\toffset:8;\tsize:1;\tsigned:1;\n"
    "\tfield:u8 u8;\toffset:9;\tsize:1;\tsigned:0;\n"
    "\tfield:s16 s16;\toffset:10;\tsize:2;\tsigned:1;\n"
    "\tfield:u16 u16;\toffset:12;\tsize:2;\tsigned:0;\n"
    "\tfield:bool flag;\toffset:14;\tsize:1;\tsigned:0;\n"
    "\tfield:s32 s32;\toffset:16;\tsize:4;\tsigned:1;\n"
    "\tfield:u32 u32;\toffset:20;\tsize:4;\tsigned:0;\n"
    "\tfield:s64 s64;\toffset:24;\tsize:8;\tsigned:1;\n"
    "\tfield:u64 u64;\toffset:32;\tsize:8;\tsigned:0;\n"
    "\tfield:long prev_state;\toffset:40;\tsize:8;\tsigned:1;\n"
    "\tfield:char task_comm[16];\toffset:48;\tsize:16;\tsigned:0;\n"
    "\tfield:char tag[4];\toffset:64;\tsize:4;\tsigned:0;\n"
    "\tfield:__data_loc char[] path;\toffset:68;\tsize:4;\tsigned:0;\n"
    "\tfield:__rel_loc char[] rel;\toffset:72;\tsize:4;\tsigned:0;\n"
    "\tfield:__data_loc cpumask_t mask;\toffset:76;\tsize:4;\tsigned:0;\n"
    "\tfield:const char * label;\toffset:80;\tsize:8;\tsigned:0;\n"
    "\tfield:void * ip;\toffset:88;\tsize:8;\tsigned:0;\n"
    "\tfield:__u8 addr[4];\toffset:96;\tsize:4;\tsigned:0;\n"
    "\tfield:unsigned char mac[6];\toffset:100;\tsize:6;\tsigned:0;\n"
    "\tfield:unsigned long args[6];\toffset:112;\tsize:48;\tsigned:0;\n"
    "\tfield:__data_loc u32[] words;\toffset:160;\tsize:4;\tsigned:0;\n"
    "\n"
    "print fmt: \"s8=%d kind=%s state=%s\", REC->s8, __print_symbolic(REC->u8, { 0, \"HI\" }, "
    "{ 1, \"TIMER\" }, { 0x0a, \"RCU\" }), __print_flags(REC->prev_state & 0xff, \"|\", "
    "{ 0x00000001, \"S\" }, { 0x00000002, \"D\" })\n";

inline const EventFormat& every_kind() {
    static const EventFormat event = parse_event_format("test", kEveryKind);
    return event;
}

// The bytes of one record, made field by field; what is not set is zero.
class RecordMaker {
public:
    explicit RecordMaker(const EventFormat& event) : event_(event) {
        std::size_t end = 0;
        for (const Field& f : event.fields) end = std::max(end, f.offset + f.size);
        bytes_.resize((end + 7) / 8 * 8);
    }

    RecordMaker& number(std::string_view field, std::uint64_t value) {
        const Field& f = *event_.find(field);
        std::memcpy(&bytes_[f.offset], &value, f.size);  // little-endian, as the test machines are
        return *this;
    }
    // In a fixed array, text that fills it has no NUL.
    RecordMaker& text(std::string_view field, std::string_view text) {
        const Field& f = *event_.find(field);
        if (f.is_dynamic()) return tail(f, std::string(text) + '\0');
        std::memset(&bytes_[f.offset], 0, f.size);
        std::memcpy(&bytes_[f.offset], text.data(), std::min(text.size(), f.size));
        return *this;
    }
    RecordMaker& cpus(std::string_view field, std::uint64_t mask) {
        return tail(*event_.find(field), {reinterpret_cast<const char*>(&mask), sizeof mask});
    }

    std::span<const std::byte> bytes() const { return bytes_; }

private:
    RecordMaker& tail(const Field& f, std::string_view data) {
        const std::size_t base = f.place == Field::Place::rel_loc ? f.offset + f.size : 0;
        const auto loc = static_cast<std::uint32_t>((data.size() << 16) | (bytes_.size() - base));
        std::memcpy(&bytes_[f.offset], &loc, sizeof loc);
        const auto* first = reinterpret_cast<const std::byte*>(data.data());
        bytes_.insert(bytes_.end(), first, first + data.size());
        return *this;
    }

    const EventFormat& event_;
    std::vector<std::byte> bytes_;
};

// Random conditions that check_expression accepts for an event, the same ones in every run.
class ExprGenerator {
public:
    struct Limits {
        std::size_t cpus = 64;    // CPUs in lists stay below; 0: no lists
        std::string symbol;       // for .function; empty: none
        bool any_pattern = true;  // also patterns that to_filter has to write in another way
        bool pointers = true;     // also texts behind pointers
        std::vector<std::string> fields;  // none: all of the event, CPU, COMM and common_pid
    };

    ExprGenerator(const EventFormat& event, Limits limits, std::uint64_t seed = 1)
        : event_(event), limits_(std::move(limits)), random_(seed), fields_(limits_.fields) {
        if (!fields_.empty()) return;
        fields_ = event.field_names();
        for (const char* name : {"CPU", "COMM", "common_pid"}) fields_.emplace_back(name);
        std::erase_if(fields_, [&](const std::string& name) {
            const auto kind = find_subject(event, name)->kind;
            return kind == Subject::Kind::opaque ||
                   (kind == Subject::Kind::cpumask && limits_.cpus == 0) ||
                   (kind == Subject::Kind::text_pointer && !limits_.pointers);
        });
    }

    Expression expression() { return {{"generated", ""}, node(3, ExprNode::Kind::predicate)}; }

    std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
    std::uint64_t bits() { return random_(); }

private:
    // A node as the parser makes it: no all_of inside an all_of, no any_of inside an any_of.
    ExprNode node(std::size_t depth, ExprNode::Kind parent) {
        using Kind = ExprNode::Kind;
        ExprNode node;
        constexpr Kind kKinds[] = {Kind::all_of, Kind::any_of, Kind::negation, Kind::predicate};
        node.kind = depth == 0 ? Kind::predicate : kKinds[below(4)];
        if (node.kind == parent && parent != Kind::negation) node.kind = Kind::predicate;
        if (node.kind == Kind::predicate) {
            node.predicate = predicate();
            return node;
        }
        const std::size_t count = node.kind == Kind::negation ? 1 : 2 + below(3);
        for (std::size_t i = 0; i < count; ++i)
            node.terms.push_back(this->node(depth - 1, node.kind));
        return node;
    }

    Predicate predicate() {
        using Kind = Subject::Kind;
        Predicate p;
        p.field = fields_[below(fields_.size())];
        const Subject subject = *find_subject(event_, p.field);
        constexpr CompareOp kNumberOps[] = {CompareOp::eq,     CompareOp::ne, CompareOp::lt,
                                            CompareOp::le,     CompareOp::gt, CompareOp::ge,
                                            CompareOp::bit_and};
        switch (subject.kind) {
            case Kind::integer:
                if (subject.field->is_pointer && !limits_.symbol.empty() && below(3) == 0) {
                    p.suffix = "function";
                    p.op = kNumberOps[below(2)];
                    p.value = text(limits_.symbol);
                } else if (limits_.cpus > 0 && below(8) == 0) {
                    p.op = CompareOp::bit_and;
                    p.value = cpu_list();
                } else {
                    p.op = kNumberOps[below(7)];
                    p.value = number(*subject.field);
                    // Nothing without a sign is below 0, which is a mistake.
                    if (p.op == CompareOp::lt && !subject.field->is_signed &&
                        p.value.magnitude == 0)
                        p.op = CompareOp::le;
                }
                break;
            case Kind::cpu:
                p.op =
                    limits_.cpus > 0 && below(3) == 0 ? CompareOp::bit_and : kNumberOps[below(6)];
                if (p.op == CompareOp::bit_and)
                    p.value = cpu_list();
                else
                    p.value.magnitude = below(4);
                break;
            case Kind::cpumask:
                p.op = below(2) == 0 ? CompareOp::bit_and : kNumberOps[below(2)];
                p.value = cpu_list();
                break;
            case Kind::text_pointer:
                if (event_.system == "syscalls") p.suffix = "ustring";
                [[fallthrough]];
            default:
                p.op = below(2) == 0 ? CompareOp::glob : kNumberOps[below(2)];
                p.value = text(random_text(subject, p.op == CompareOp::glob));
        }
        return p;
    }

    Literal number(const Field& field) {
        const std::uint64_t all = ~std::uint64_t{0} >> (64 - field.size * 8);
        const std::uint64_t edges[] = {0,         1, 2, all, all / 2, all / 2 + 1, bits() & all,
                                       bits() & 7};
        std::uint64_t value = edges[below(8)];
        if (field.type == "bool") value &= 1;
        Literal literal;
        const bool is_negative = field.is_signed && value > all / 2;
        literal.is_negative = is_negative;
        literal.magnitude = is_negative ? all - value + 1 : value;
        if (below(3) == 0 && !is_negative && value != 0) {
            constexpr std::string_view kDigits = "0123456789abcdef";
            for (std::uint64_t rest = value; rest > 0; rest /= 16)
                literal.text.insert(0, 1, kDigits[rest % 16]);
            literal.text.insert(0, "0x");
        }
        return literal;
    }

    Literal cpu_list() {
        Literal literal;
        literal.kind = Literal::Kind::cpu_list;
        literal.text = cat(below(limits_.cpus));
        const std::size_t first = below(limits_.cpus);
        if (below(2) == 0)
            literal.text += cat(',', first, '-', first + below(limits_.cpus - first));
        return literal;
    }

    static Literal text(std::string text) {
        Literal literal;
        literal.kind = Literal::Kind::text;
        literal.text = std::move(text);
        literal.is_quoted = true;
        return literal;
    }

    // Few letters, so that patterns and texts meet.
    std::string random_text(const Subject& subject, bool is_pattern) {
        const std::string_view letters = is_pattern ? "ab*?[]!-\\0" : "ab*!-\\0' {&|)";
        const bool is_array = subject.kind == Subject::Kind::text && !subject.field->is_dynamic();
        const std::size_t room = is_array ? std::min<std::size_t>(subject.field->size, 15) : 15;
        std::string text;
        if (is_pattern && limits_.any_pattern && below(2) == 0) {
            // The ways of saying "begins with", "ends with" and "has", which the kernel tells
            // apart.
            text = below(4) == 0 ? "!" : "";
            if (below(2) == 0) text += '*';
            for (std::size_t n = 1 + below(2); n > 0; --n) text += "ab0"[below(3)];
            if (below(2) == 0) text += '*';
            return text;
        }
        if (is_pattern && !limits_.any_pattern) text = "a";
        for (std::size_t n = below(std::min<std::size_t>(room, 7)); n > 0; --n)
            text += letters[below(letters.size())];
        return text;
    }

    const EventFormat& event_;
    Limits limits_;
    std::mt19937_64 random_;
    std::vector<std::string> fields_;
};

}  // namespace gpufs::test
