#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "lang/asm/form_parser.h"
#include "lang/insn/effects.h"
#include "lang/insn/helpers.h"
#include "lang/ir/stack_map.h"

namespace gpufs {
namespace {

constexpr std::size_t kMaxArguments = 5, kStackArguments = 3;

// What the arguments of helpers are whose sizes can be checked.
struct MapHelper {
    std::string_view name;
    std::vector<std::string> parameters;
};
const MapHelper kMapHelpers[] = {
    {"map_lookup_elem", {"map", "key"}},
    {"map_update_elem", {"map", "key", "value", "flags"}},
    {"map_delete_elem", {"map", "key"}},
};

unsigned bit_of(unsigned reg) {
    return 1u << reg;
}

// The registers whose values from before the steps they read.
unsigned reads_of(const std::vector<FormStep>& steps) {
    unsigned reads = 0, written = 0;
    for (const FormStep& step : steps) {
        const bpf_insn& one = step.insn.insns[0];
        BpfEffects effects = effects_of(one);
        if (step.kind != CodeItem::Kind::insn) {
            effects = {};
            effects.reads_src = effects.writes_dst = true;
        }
        if (effects.reads_dst) reads |= bit_of(one.dst_reg) & ~written;
        if (effects.reads_src) reads |= bit_of(one.src_reg) & ~written;
        if (effects.writes_dst) written |= bit_of(one.dst_reg);
    }
    return reads;
}

Reg argument_register(std::size_t index) {
    return static_cast<Reg>(index + 1);
}

}  // namespace

// [REGISTER =] call FUNCTION(ARGUMENT, ...) [else LABEL]
bool FormParser::call(const Target* result) {
    const AsmToken word = tokens_.next();
    const AsmToken function = tokens_.peek();
    if (!function.is_word()) return false;
    tokens_.next();
    if (!tokens_.is("(")) return false;
    const AsmToken open = tokens_.next();
    std::vector<Span> spans;
    if (!tokens_.is(")")) {
        do spans.push_back(argument_span());
        while (tokens_.accept(","));
    }
    tokens_.expect(")");
    const Span list = tokens_.since(open);
    if (spans.size() > kMaxArguments)
        tokens_.fail(spans[kMaxArguments], "a function has 5 arguments at most");
    if (!asks_stacks(function, spans)) {
        check_count(function, list, spans.size());
        std::vector<Argument> arguments;
        for (const Span& span : spans)
            arguments.push_back(argument(argument_register(arguments.size()), span));
        check_sizes(function, arguments);
        put(std::move(arguments));

        AsmTokens plain(source_, {word.span.begin, function.span.end});
        FormStep made;
        made.insn = parse_insn(plain, names_);
        made.text = cat("call ", function.text);
        steps_.push_back(std::move(made));
    }
    if (tokens_.is("else")) go_without_result();
    if (!result) return true;
    require_writable(*result);
    if (result->reg() != Reg::r0)
        step(insn::mov(result->reg(), Reg::r0), cat(to_text(result->name), " = r0"));
    return true;
}

// else LABEL: where r0 is 0
void FormParser::go_without_result() {
    tokens_.next();
    const AsmToken label = tokens_.expect_word("a label");
    if (find_register(label.text))
        tokens_.fail(label.span, cat("'", label.text, "' is a register; a label belongs here"));
    step(insn::jump64(JumpOp::eq, Reg::r0, 0, 0), cat("if r0 == 0 goto ", label.text));
    InsnRef ref{{}, label.span, InsnRef::Slot::off};
    ref.to.kind = Relocation::Kind::label;
    ref.to.name = label.text;
    steps_.back().insn.refs = {std::move(ref)};
}

// call get_stackid(CONTEXT, map[STACKS], FLAGS[, BACK]), where the map keeps whole stacks: calls
// the map's own function.
bool FormParser::asks_stacks(const AsmToken& function, const std::vector<Span>& arguments) {
    const auto helper = find_helper(function.text);
    const bool has_back = arguments.size() == kStackArguments + 1;
    if (!helper || *helper != BPF_FUNC_get_stackid ||
        (!has_back && arguments.size() != kStackArguments))
        return false;
    const std::string name = argument(Reg::r2, arguments[1]).map;
    const MapDeclaration* map = work_.program.find_map(name);
    if (!map || !map->keeps_stacks) return false;
    std::vector<Argument> put_there{argument(Reg::r1, arguments[0]),
                                    argument(Reg::r2, arguments[2])};
    if (has_back) put_there.push_back(argument(Reg::r3, arguments[3]));
    put(std::move(put_there));
    if (!has_back) step(insn::mov(Reg::r3, 0), "r3 = 0");
    call_generated(stack_function(*map), function.span);
    bool& has_callers = work_.stacks_asked[name];
    has_callers = has_callers || has_back;
    return true;
}

// Steps over an argument.
Span FormParser::argument_span() {
    const AsmToken first = tokens_.peek();
    for (int depth = 0; !tokens_.at_end(); tokens_.next()) {
        if (depth == 0 && (tokens_.is(",") || tokens_.is(")"))) break;
        if (tokens_.is("(") || tokens_.is("[")) ++depth;
        if (tokens_.is(")") || tokens_.is("]")) --depth;
    }
    if (tokens_.peek().span.begin == first.span.begin) tokens_.fail_expected("an argument");
    return tokens_.since(first);
}

FormParser::Argument FormParser::argument(Reg to, Span span) {
    Argument made;
    made.span = span;
    AsmTokens tokens(source_, span);
    const AsmToken first = tokens.peek();
    const auto from = first.is_word() ? find_register(first.text) : std::nullopt;
    const RegName dst{to, from && from->is_low};
    std::vector<FormStep> before = std::exchange(steps_, {});
    pointed_bytes_.reset();
    pointed_alignment_.reset();
    if (value(tokens, {dst, span})) {
        tokens.expect_end();
        made.bytes = pointed_bytes_;
    } else {
        FormStep step;
        step.insn = parse_assigned(tokens, dst, names_);
        const bool is_there =
            from && *from == dst && same_insn(step.insn.insns[0], insn::mov(to, to));
        if (!is_there) steps_.push_back(std::move(step));
    }
    made.steps = std::exchange(steps_, std::move(before));
    for (FormStep& step : made.steps) {
        if (step.text.empty()) step.text = cat(to_text(dst), " = ", tokens.text_of(span));
        for (const InsnRef& ref : step.insn.refs)
            if (ref.to.kind == Relocation::Kind::map) made.map = ref.to.name;
    }
    made.reads = reads_of(made.steps);
    return made;
}

// The names of a function's parameters; none where it does not tell them.
std::vector<std::string> FormParser::parameters_of(const AsmToken& function) const {
    if (const auto helper = find_helper(function.text)) {
        const auto known = std::ranges::find(kMapHelpers, helper_name(*helper), &MapHelper::name);
        return known == std::end(kMapHelpers) ? std::vector<std::string>() : known->parameters;
    }
    const auto known = work_.parameters.find(function.text);
    return known == work_.parameters.end() ? std::vector<std::string>() : known->second;
}

void FormParser::check_count(const AsmToken& function, Span list, std::size_t count) const {
    std::optional<std::size_t> wanted;
    std::string hint;
    if (const auto helper = find_helper(function.text)) {
        if (const auto arguments = helper_arguments(*helper))
            wanted = static_cast<std::size_t>(*arguments);
    } else if (const auto known = work_.parameters.find(function.text);
               known != work_.parameters.end()) {
        wanted = known->second.size();
        hint = cat(function.text, "(", join(known->second, ", "), ")");
    }
    if (wanted && *wanted != count)
        throw SourceError(
            source_, list,
            cat("'", function.text, "' takes ", counted(*wanted, "argument"), ", not ", count),
            hint);
}

// A `key` and a `value` behind a `map` are that map's.
void FormParser::check_sizes(const AsmToken& function,
                             const std::vector<Argument>& arguments) const {
    const std::vector<std::string> parameters = parameters_of(function);
    const MapDeclaration* map = nullptr;
    for (std::size_t i = 0; i < std::min(parameters.size(), arguments.size()); ++i) {
        const Argument& argument = arguments[i];
        if (parameters[i] == "map") map = work_.program.find_map(argument.map);
        const bool is_key = parameters[i] == "key";
        if (!map || !argument.bytes || (!is_key && parameters[i] != "value")) continue;
        const std::size_t wanted = is_key ? map->key.bytes : map->value_bytes();
        if (wanted != *argument.bytes)
            throw SourceError(source_, argument.span,
                              cat("this points at ", counted(*argument.bytes, "byte"), ": a ",
                                  parameters[i], " of map '", map->name, "' has ", wanted));
    }
}

// Sets r1 to r5, each before the registers that it reads are overwritten.
void FormParser::put(std::vector<Argument> arguments) {
    std::vector<bool> is_set(arguments.size());
    const auto can_be_set = [&](std::size_t i) {
        if (is_set[i]) return false;
        for (std::size_t other = 0; other < arguments.size(); ++other)
            if (other != i && !is_set[other] && !arguments[i].steps.empty() &&
                (arguments[other].reads & bit_of(static_cast<unsigned>(argument_register(i)))))
                return false;
        return true;
    };
    for (std::size_t left = arguments.size(); left > 0; --left) {
        std::size_t i = 0;
        while (i < arguments.size() && !can_be_set(i)) ++i;
        if (i == arguments.size()) {
            const auto first =
                static_cast<std::size_t>(std::ranges::find(is_set, false) - is_set.begin());
            throw SourceError(source_, arguments[first].span,
                              "this argument and others overwrite the registers that they read",
                              "put one of them into r0 or r6 to r9 first");
        }
        is_set[i] = true;
        std::ranges::move(arguments[i].steps, std::back_inserter(steps_));
    }
}

}  // namespace gpufs
