#include "lang/adhoc/key.h"

#include <algorithm>

#include "base/align.h"

namespace gpufs {
namespace {

bool is_in_words(const ValueType& type) {
    return type.kind == ValueType::Kind::text || type.kind == ValueType::Kind::raw_bytes;
}

// Whether a number has one name in one of them, and another in the other.
bool contradict(const ValueType& a, const ValueType& b) {
    return std::ranges::any_of(a.words, [&](const auto& word) {
        return std::ranges::any_of(b.words, [&](const auto& other) {
            return word.first == other.first && word.second != other.second;
        });
    });
}

// The larger of both types, if they have the same kind. `is_shown`: each number as it is, with a
// sign or without; else -1 is the same as 0xffffffff, which are one thread to two events.
std::optional<ValueType> common_type(const ValueType& a, const ValueType& b, bool is_shown) {
    if (a.kind != b.kind) return std::nullopt;
    ValueType both = a.bytes < b.bytes ? b : a;
    both.is_signed = a.is_signed || b.is_signed;
    if (is_shown && a.is_signed != b.is_signed && a.kind == ValueType::Kind::integer)
        both.bytes = kWord;
    if (a.flags != b.flags) both.flags.clear();
    for (const ValueType* one : {&a, &b})
        for (const auto& word : one->words)
            if (std::ranges::count(both.words, word) == 0) both.words.push_back(word);
    return both;
}

// Finds the common type of all meanings of a member, or adds a mistake.
class TypeFinder {
public:
    TypeFinder(const std::vector<SourceText>& sources, Diagnostics& mistakes)
        : sources_(sources), mistakes_(mistakes) {}

    std::optional<ValueType> type_of(const KeyColumn& column) {
        is_shown_ = column.meanings.size() == 1;
        for (const KeyMeaning& meaning : column.meanings)
            for (const AdhocEvent& event : meaning.events)
                if (!add(meaning.name, event)) return std::nullopt;
        if (type_ && are_words_apart_) type_->words.clear();
        return type_;
    }

private:
    bool add(const AdhocWord& name, const AdhocEvent& event) {
        const auto value = find_value(event, name.text);
        const std::string event_name = event.format.full_name();
        if (!value)
            return wrong(name, cat(event_name, " has no field '", name.text, "'"),
                         hint_for_value({&event}, name.text));
        if (value->type.bytes == 0)
            return wrong(name, cat("'", name.text, "' (", value->field->declaration(),
                                   ") cannot be a key: it is no number and no text"));
        are_words_apart_ = are_words_apart_ || (type_ && contradict(*type_, value->type));
        const auto both = type_ ? common_type(*type_, value->type, is_shown_) : value->type;
        if (!both)
            return wrong(name, cat("'", name.text, "' of ", event_name, " and ", first_,
                                   " are not of one kind"));
        if (!type_) first_ = cat("'", name.text, "' of ", event_name);
        type_ = both;
        return true;
    }

    bool wrong(const AdhocWord& name, std::string_view message, std::string_view hint = {}) {
        mistakes_.error(sources_.at(name.at.source), name.at.span, message, hint);
        return false;
    }

    const std::vector<SourceText>& sources_;
    Diagnostics& mistakes_;
    std::optional<ValueType> type_;
    bool is_shown_ = true, are_words_apart_ = false;
    std::string first_;  // the name that determined the type
};

}  // namespace

void add_member(Layout& layout, std::string name, ValueType type) {
    const std::size_t align = is_in_words(type) ? kWord : type.bytes;
    std::size_t end = 0;
    if (!layout.members.empty())
        end = layout.members.back().offset + layout.members.back().type.bytes;
    Member member{std::move(name), std::move(type), align_up(end, align)};
    end = member.offset + member.type.bytes;
    layout.members.push_back(std::move(member));
    std::size_t widest = align;
    for (const Member& m : layout.members)
        widest = std::max(widest, is_in_words(m.type) ? kWord : m.type.bytes);
    layout.bytes = align_up(end, widest);
}

std::vector<KeyColumn> key_columns(std::span<const AdhocWord> names,
                                   std::span<const AdhocEvent> events) {
    std::vector<KeyColumn> columns;
    for (const AdhocWord& name : names) columns.push_back({name, {{name, events}}});
    return columns;
}

Layout key_layout(std::span<const KeyColumn> columns, std::size_t max_bytes,
                  const std::vector<SourceText>& sources, Diagnostics& mistakes) {
    Layout layout;
    for (const KeyColumn& column : columns) {
        const AdhocWord& name = column.name;
        const auto type = TypeFinder(sources, mistakes).type_of(column);
        if (!type) continue;
        const auto wrong = [&](std::string_view message) {
            mistakes.error(sources.at(name.at.source), name.at.span, message);
        };
        if (layout.find(name.text)) {
            wrong(cat("'", name.text, "' is a key already"));
            continue;
        }
        add_member(layout, name.text, *type);
        if (layout.bytes <= max_bytes) continue;
        wrong(cat("up to here the keys take ", layout.bytes, " bytes; a program has room for ",
                  max_bytes));
        break;
    }
    return layout;
}

std::vector<AdhocWord> with_process(std::vector<AdhocWord> names,
                                    std::span<const AdhocEvent> events) {
    const auto names_process = [&](const AdhocWord& word) {
        const auto value = find_value(events.front(), word.text);
        return value && value->type.kind == ValueType::Kind::process;
    };
    const auto user = std::ranges::find(names, "ustack", &AdhocWord::text);
    if (user == names.end() || std::ranges::any_of(names, names_process)) return names;
    const bool has_field = std::ranges::any_of(
        events, [](const AdhocEvent& event) { return event.format.find("pid") != nullptr; });
    names.insert(user, AdhocWord{has_field ? kProcess : "pid", user->at});
    return names;
}

void append_padding(ir::Code& code, const Layout& layout, ir::Slot slot, std::size_t base) {
    std::size_t end = 0;
    const auto pad = [&](std::size_t to) {
        while (end < to) {
            std::uint8_t bytes = kWord;
            while (end % bytes != 0 || end + bytes > to) bytes /= 2;
            code.store({slot, static_cast<std::int64_t>(base + end)}, 0, {bytes, false});
            end += bytes;
        }
    };
    for (const Member& member : layout.members) {
        pad(member.offset);
        end = member.offset + member.type.bytes;
    }
    pad(layout.bytes);
}

void append_values(AdhocValueCode& values, const AdhocEvent& event,
                   std::span<const AdhocWord> names, const Layout& layout, ir::Slot slot,
                   std::size_t base) {
    for (std::size_t i = 0; i < layout.members.size(); ++i)
        values.store(find_value(event, names[i].text).value(), layout.members[i].type, slot,
                     base + layout.members[i].offset);
}

}  // namespace gpufs
