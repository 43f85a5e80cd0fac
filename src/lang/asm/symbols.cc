#include "lang/asm/symbols.h"

#include <algorithm>
#include <limits>

#include "base/suggest.h"
#include "lang/insn/names.h"

namespace gpufs {
namespace {

NameMeaning later(Relocation::Kind kind, std::string_view name) {
    Relocation to;
    to.kind = kind;
    to.name = name;
    return NameMeaning::of_later(std::move(to));
}

bool is_field(std::string_view name) {
    return name.starts_with('@');
}

// The names for which `is_meant` holds, sorted.
template <class Map, class Predicate>
std::vector<std::string> keys_of(const Map& map, Predicate is_meant) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : map)
        if (is_meant(value)) keys.push_back(key);
    std::ranges::sort(keys);
    return keys;
}

}  // namespace

void AsmSymbols::declare(const SourceText& source, Span name) {
    const std::string text = source.text.substr(name.begin, name.end - name.begin);
    if (find_register(text))
        throw SourceError(source, name, cat("'", text, "' is a register and cannot be a name"));
    if (is_field(text) || text.find('.') != text.npos)
        throw SourceError(source, name, cat("'", text, "' is no name to declare"),
                          "names have letters, digits and '_'");
    const auto [it, is_new] = declared_.emplace(text, Declaration{&source, name.begin});
    if (is_new) return;
    const auto line = position_of(*it->second.source, it->second.offset).line;
    throw SourceError(source, name, cat("'", text, "' is declared twice"),
                      cat("line ", line, " declares it first"));
}

bool AsmSymbols::is_forgiven(std::string_view name) const {
    return forgiven_.contains(name.substr(0, name.find('.')));
}

void AsmSymbols::define_number(const std::string& name, Int128 number) {
    define(name, {number, {}, {}});
}

void AsmSymbols::define_size(const std::string& name, std::size_t bytes) {
    define(name, {{}, bytes, {}});
}

void AsmSymbols::define_layout(const std::string& name, const Layout& layout) {
    const Place whole{0, layout.bytes, false};
    define(name, {{}, layout.bytes, whole});
    define_parts(name, whole, layout);
}

void AsmSymbols::define_variable(const std::string& name, std::int64_t offset,
                                 const Layout& layout) {
    const Place whole{offset, layout.bytes, true};
    define_place(name, whole);
    define_parts(name, whole, layout);
}

void AsmSymbols::define_parts(const std::string& path, const Place& whole, const Layout& layout) {
    const auto define_part = [&](const std::string& name, std::size_t offset, std::size_t bytes) {
        if (name.empty()) return;  // a lone type
        define_place(cat(path, '.', name),
                     {whole.offset + static_cast<std::int64_t>(offset), bytes, whole.is_on_stack});
    };
    for (const Member& member : layout.members)
        define_part(member.name, member.offset, member.type.bytes);
    for (const Layout::Part& part : layout.parts) define_part(part.name, part.offset, part.bytes);
}

void AsmSymbols::define_place(const std::string& path, const Place& place) {
    define(path, {place.offset, place.bytes, place});
}

void AsmSymbols::define(const std::string& name, const Meaning& meaning) {
    const auto [it, is_new] = meanings_.try_emplace(name, meaning);
    if (is_new) return;
    Meaning& known = it->second;
    if (!known.number) known.number = meaning.number;
    if (!known.bytes) known.bytes = meaning.bytes;
    if (!known.place) known.place = meaning.place;
}

const AsmSymbols::Meaning* AsmSymbols::find_meaning(std::string_view name) const {
    const auto it = meanings_.find(name);
    return it == meanings_.end() ? nullptr : &it->second;
}

const AsmSymbols::Place* AsmSymbols::find_place(std::string_view path) const {
    const Meaning* meaning = find_meaning(path);
    return meaning && meaning->place ? &*meaning->place : nullptr;
}

std::vector<std::string> AsmSymbols::places() const {
    return keys_of(meanings_, [](const Meaning& one) { return one.place.has_value(); });
}

void AsmSymbols::define_later(const std::string& name, Relocation::Kind kind) {
    later_.emplace(name, kind);
}

AsmNames AsmSymbols::names_for(const SourceText& source) const {
    return {[this, &source](const NameUse& use) { return find(use, source); },
            [this] { return known(); }};
}

std::vector<std::string> AsmSymbols::known() const {
    std::vector<std::string> names =
        keys_of(meanings_, [](const Meaning& one) { return one.number.has_value(); });
    for (const auto& [name, kind] : later_) names.push_back(name);
    for (const char* call : {"sizeof", "record", "btf"}) names.emplace_back(call);
    return names;
}

NameMeaning AsmSymbols::find(const NameUse& use, const SourceText& source) const {
    if (is_forgiven(use.argument.empty() ? use.name : use.argument)) throw AlreadyTold();
    if (!use.argument.empty()) return find_call(use, source);
    if (is_field(use.name)) return later(Relocation::Kind::field_offset, use.name.substr(1));
    const Meaning* const known = find_meaning(use.name);
    if (known && known->number) return NameMeaning::of_number(*known->number);
    if (const auto it = later_.find(use.name); it != later_.end())
        return later(it->second, use.name);
    if (std::ranges::count(maps_, use.name)) {
        // LLVM's spelling of a map's address is `NAME ll`: no constant is meant.
        if (AsmTokens(source, {use.span.end, use.span.end + 4}).is("ll")) return {};
        throw SourceError(source, use.span, cat("'", use.name, "' is a map"),
                          cat("its address is map[", use.name, "]"));
    }
    if (declared_.contains(use.name))
        throw SourceError(source, use.span, cat("'", use.name, "' is no number"),
                          known && known->bytes ? cat("its size is sizeof(", use.name, ")") : "");
    return {};
}

NameMeaning AsmSymbols::find_call(const NameUse& use, const SourceText& source) const {
    const std::string_view name = use.name, argument = use.argument;
    const auto refuse = [&](std::string_view what, const std::vector<std::string>& known) {
        throw SourceError(source, use.argument_span, cat("no ", what, " is named '", argument, "'"),
                          did_you_mean(argument, known));
    };
    if (use.fallback && name != "btf")
        throw SourceError(source, use.span, "only btf() has a fallback");
    if (name == "sizeof") {
        if (is_field(argument)) return later(Relocation::Kind::field_size, argument.substr(1));
        const Meaning* const meant = find_meaning(argument);
        if (!meant || !meant->bytes)
            refuse("structure, record or member",
                   keys_of(meanings_, [](const Meaning& one) { return one.bytes.has_value(); }));
        return NameMeaning::of_number(static_cast<Int128>(*meant->bytes));
    }
    if (name == "record") {
        if (!std::ranges::count(records_, argument)) refuse("record", records_);
        return later(Relocation::Kind::record_id, argument);
    }
    if (name == "btf") {
        NameMeaning member = later(Relocation::Kind::btf_offset, argument);
        const auto dot = argument.find('.');
        const bool is_place = dot != argument.npos || argument.ends_with(']');
        if (dot == 0 || !is_place || argument.ends_with('.') ||
            std::ranges::count(argument, ':') > 1)
            throw SourceError(source, use.argument_span, "expected STRUCT.MEMBER",
                              "as in btf(task_struct.pid ? 2468)");
        if (use.fallback) {
            if (*use.fallback < 0 || *use.fallback > std::numeric_limits<std::int32_t>::max())
                throw SourceError(source, use.span, "the fallback is no offset");
            member.relocation.fallback = static_cast<std::int64_t>(*use.fallback);
        }
        return member;
    }
    return {};
}

}  // namespace gpufs
