#include <algorithm>

#include "base/suggest.h"
#include "lang/asm/form_parser.h"
#include "lang/ir/aggregate.h"
#include "lang/ir/stack_map.h"

namespace gpufs {
namespace {

constexpr std::size_t kWord = 8;

// What the widest of the members is aligned to; texts and bytes may lie anywhere.
std::size_t alignment_of(const Layout& layout) {
    std::size_t alignment = 1;
    for (const Member& member : layout.members) {
        const bool is_bytes = member.type.kind == ValueType::Kind::text ||
                              member.type.kind == ValueType::Kind::raw_bytes;
        if (!is_bytes) alignment = std::max(alignment, std::min(member.type.bytes, kWord));
    }
    return alignment;
}

}  // namespace

const MapDeclaration& FormParser::aggregated_map(const AsmToken& name) const {
    const MapDeclaration* map = work_.program.find_map(name.text);
    if (!map && work_.symbols.is_forgiven(name.text)) throw AlreadyTold();
    if (!map)
        tokens_.fail(name.span, cat("no map is named '", name.text, "'"),
                     did_you_mean(name.text, names_of(work_.program.maps)));
    if (map->aggregation.kind == Aggregation::Kind::none)
        tokens_.fail(name.span, cat("map '", name.text, "' keeps data"),
                     "'add' is for values such as count, stats or log2");
    return *map;
}

// What stands in the brackets, for r1.
FormParser::Argument FormParser::key_of(const MapDeclaration& map) {
    const AsmToken first = tokens_.peek();
    for (int depth = 0; !tokens_.at_end(); tokens_.next()) {
        if (depth == 0 && tokens_.is("]")) break;
        depth += tokens_.is("[") ? 1 : tokens_.is("]") ? -1 : 0;
    }
    const Span span = tokens_.since(first);
    AsmTokens inside(source_, span);
    const bool is_variable = inside.accept("&") && inside.peek().is_word();
    const auto reg = first.is_word() ? find_register(first.text) : std::nullopt;
    if (map.is_array() ? first.is("&") : !is_variable && (!reg || reg->is_low))
        tokens_.fail(span,
                     map.is_array() ? cat("map '", map.name, "' is an array: its key is an index")
                                    : cat("map '", map.name, "' is a hash: its key is in memory"),
                     map.is_array() ? "a register that holds it, or a number"
                                    : "a register that points at it, or &VARIABLE");
    Argument key = argument(Reg::r1, span);
    const std::size_t wanted = map.key.bytes;
    if (key.bytes && *key.bytes != wanted)
        tokens_.fail(span, cat("this points at ", *key.bytes, " bytes: a key of map '", map.name,
                               "' has ", wanted));
    return key;
}

// add MAP[KEY] [VALUE]
void FormParser::add() {
    tokens_.next();
    const AsmToken name = tokens_.expect_word("a map of an aggregation");
    const MapDeclaration& map = aggregated_map(name);
    tokens_.expect("[");
    std::vector<Argument> arguments;
    arguments.push_back(key_of(map));
    const std::size_t alignment =
        std::min(kWord, pointed_alignment_.value_or(alignment_of(map.key)));
    tokens_.expect("]");
    const AsmToken value = tokens_.peek();
    if (map.aggregation.kind == Aggregation::Kind::count) {
        if (!tokens_.at_end())
            tokens_.fail(value.span, cat("map '", map.name, "' counts: it takes no value"));
    } else {
        if (tokens_.at_end()) tokens_.fail_expected("the value: a register or a number");
        while (!tokens_.at_end()) tokens_.next();
        arguments.push_back(argument(Reg::r2, tokens_.since(value)));
    }
    put(std::move(arguments));
    call_generated(add_function(map), name.span);
    const auto known = work_.added_to.emplace(map.name, alignment).first;
    known->second = std::min(known->second, alignment);
}

// Calls a function that the assembler makes; `at`: what asks for it.
void FormParser::call_generated(std::string function, Span at) {
    FormStep call;
    call.insn.insns.push_back(insn::call_local(0));
    InsnRef& to = call.insn.refs.emplace_back();
    to.to.kind = Relocation::Kind::subprogram;
    to.to.name = std::move(function);
    to.span = at;
    to.slot = InsnRef::Slot::imm;
    call.text = cat("call ", to.to.name);
    steps_.push_back(std::move(call));
}

bool is_generated(const AsmWork& work, std::string_view function) {
    const auto map = [&](const std::string& name) -> const MapDeclaration& {
        return *work.program.find_map(name);
    };
    return std::ranges::any_of(
               work.added_to,
               [&](const auto& added) { return add_function(map(added.first)) == function; }) ||
           std::ranges::any_of(work.stacks_asked, [&](const auto& asked) {
               return stack_function(map(asked.first)) == function;
           });
}

void define_generated(AsmWork& work) {
    std::vector<Subprogram>& functions = work.program.subprograms;
    const std::size_t first = functions.size();
    AggregateFunctions aggregates(work.program);
    for (const auto& [name, alignment] : work.added_to) {
        const MapDeclaration map = *work.program.find_map(name);  // more maps come
        aggregates.define(map, {alignment, false});
    }
    for (const auto& [name, has_callers] : work.stacks_asked) {
        MapDeclaration& map = *std::ranges::find(work.program.maps, name, &MapDeclaration::name);
        map.has_callers = has_callers;
        define_stack_function(work.program, MapDeclaration(map));
    }
    for (std::size_t i = first; i < functions.size(); ++i) functions[i].is_generated = true;
}

}  // namespace gpufs
