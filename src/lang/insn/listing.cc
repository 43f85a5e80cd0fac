#include "lang/insn/listing.h"

#include <algorithm>
#include <limits>

#include "base/sorted.h"
#include "base/suggest.h"
#include "lang/insn/helpers.h"
#include "lang/insn/names.h"

namespace gpufs {
namespace {

bool is_local(Relocation::Kind kind) {
    return kind == Relocation::Kind::label || kind == Relocation::Kind::subprogram ||
           kind == Relocation::Kind::callback;
}

std::string_view what_is(Relocation::Kind kind) {
    switch (kind) {
        case Relocation::Kind::label:
            return "label";
        case Relocation::Kind::subprogram:
            return "helper or local function";
        case Relocation::Kind::callback:
            return "local function";
        case Relocation::Kind::map:
        case Relocation::Kind::map_value:
            return "map";
        default:
            return "constant";
    }
}

}  // namespace

void InsnSequence::add_label(const SourceText& source, Span name) {
    const std::string text = source.text.substr(name.begin, name.end - name.begin);
    if (find_register(text))
        diagnostics_->error(source, name, cat("'", text, "' is a register, not a label"));
    else if (!labels_.emplace(text, next_).second)
        diagnostics_->error(source, name, cat("label '", text, "' is defined twice"));
}

std::optional<std::size_t> InsnSequence::find_label(std::string_view name) const {
    const auto it = labels_.find(name);
    return it == labels_.end() ? std::nullopt : std::optional(it->second);
}

bool InsnSequence::is_repeated(std::size_t at, const ParsedInsn& parsed) const {
    std::vector<const InsnRef*> before;
    for (const Ref& ref : refs_)
        if (ref.insn == at) before.push_back(&ref.symbol);
    if (before.size() != parsed.refs.size()) return false;
    for (std::size_t i = 0; i < before.size(); ++i)
        if (before[i]->to.name != parsed.refs[i].to.name) return false;
    for (std::size_t i = 0; i < parsed.insns.size(); ++i)
        if (at + i >= insns_.size() || !same_insn(insns_[at + i], parsed.insns[i])) return false;
    return true;
}

void InsnSequence::put(std::size_t at, const SourceText& source, const ParsedInsn& parsed) {
    const std::size_t end = at + parsed.insns.size();
    if (insns_.size() < end) {
        insns_.resize(end, insn::leave());
        places_.resize(end, {&source, parsed.span});
        states_.resize(end, State::missing);
    }
    for (std::size_t i = at; i < end; ++i) {
        insns_[i] = parsed.insns[i - at];
        places_[i] = {&source, parsed.span};
        states_[i] = parsed.is_kernel_address ? State::kernel_address : State::given;
    }
    for (const InsnRef& symbol : parsed.refs) refs_.push_back({at, symbol});
}

void InsnSequence::add(const SourceText& source, const ParsedInsn& parsed,
                       std::optional<std::size_t> index) {
    if (!index) {
        put(next_, source, parsed);
        next_ += parsed.insns.size();
        return;
    }
    if (!log_base_) log_base_ = next_ - *index;
    const std::size_t at = *log_base_ + *index;
    if (*index > kMostInsns || at > kMostInsns) {
        diagnostics_->error(source, parsed.span,
                            cat("instruction ", *index,
                                *index > kMostInsns ? " is beyond what a program has"
                                                    : " comes before the first one of this log"));
        return;
    }
    const State before = at < states_.size() ? states_[at] : State::missing;
    const bool was_address = before == State::kernel_address && parsed.is_wide();
    if (before == State::missing || (was_address && !parsed.is_kernel_address)) {
        put(at, source, parsed);
    } else if (before == State::given && !parsed.is_kernel_address && !is_repeated(at, parsed)) {
        diagnostics_->error(source, parsed.span,
                            cat("instruction ", *index, " was another one before"),
                            "the numbers in front are a log's: remove them to change its program");
    }
    next_ = at + parsed.insns.size();
}

bool InsnSequence::add_mistake(const SourceText& source, const AsmLine& line) {
    if (line.index && log_base_ && *log_base_ + *line.index < states_.size())
        return states_[*log_base_ + *line.index] != State::mistake;
    ParsedInsn filler;
    // A 16-byte load takes two slots, so that the log's indices stay right.
    const bool is_wide = line.opcode == (BPF_LD | BPF_IMM | BPF_DW);
    filler.insns.assign(is_wide ? 2 : 1, insn::leave());
    filler.span = line.code;
    const std::size_t before = insns_.size();
    add(source, filler, line.index);
    for (std::size_t i = before; i < states_.size(); ++i)
        if (states_[i] == State::given) states_[i] = State::mistake;
    return true;
}

void InsnSequence::complain_of_holes() {
    for (std::size_t i = 0; i < states_.size(); ++i) {
        const Place& place = places_[i];
        if (states_[i] == State::kernel_address) {
            diagnostics_->error(*place.source, place.span,
                                "the log shows an address here, not what was loaded",
                                "name it: r1 = map[NAME], or map[NAME][0] for its value");
            ++i;
        }
        if (states_[i] != State::missing) continue;
        std::size_t end = i;
        while (end < states_.size() && states_[end] == State::missing) ++end;
        const std::size_t base = log_base_.value_or(0);
        const std::string which =
            end - i == 1 ? cat("instruction ", i - base, " is")
                         : cat("instructions ", i - base, " to ", end - 1 - base, " are");
        diagnostics_->error(*place.source, place.span, cat(which, " missing in this log"),
                            "a log of log_level 2 shows more of them");
        i = end - 1;
    }
}

void InsnSequence::link(const Ref& ref) {
    const auto complain = [&](std::string_view message, std::string_view hint) {
        diagnostics_->error(*places_[ref.insn].source, ref.symbol.span, message, hint);
    };
    const std::string& name = ref.symbol.to.name;
    const auto target = find_label(name);
    if (!target) {
        std::vector<std::string> known;
        for (const auto& [label, at] : labels_) known.push_back(label);
        if (ref.symbol.to.kind == Relocation::Kind::subprogram)
            for (std::string& helper : helper_names()) {
                known.push_back("bpf_" + helper);
                known.push_back(std::move(helper));
            }
        return complain(cat("no ", what_is(ref.symbol.to.kind), " is named '", name, "'"),
                        did_you_mean(name, known));
    }
    const auto distance =
        static_cast<std::int64_t>(*target) - static_cast<std::int64_t>(ref.insn) - 1;
    bpf_insn& one = insns_[ref.insn];
    if (ref.symbol.slot != InsnRef::Slot::off) {
        one.imm = static_cast<__s32>(distance);
        return;
    }
    if (distance < std::numeric_limits<__s16>::min() ||
        distance > std::numeric_limits<__s16>::max())
        return complain(cat("'", name, "' is ", distance, " instructions away: this jump reaches ",
                            distance < 0 ? "-32768" : "32767"),
                        "'gotol' reaches further");
    one.off = static_cast<__s16>(distance);
}

void InsnSequence::end_log() {
    complain_of_holes();
    sort_stably(refs_, {}, &Ref::insn);
}

void InsnSequence::link_labels() {
    end_log();
    for (const Ref& ref : refs_)
        if (is_local(ref.symbol.to.kind)) link(ref);
    std::erase_if(refs_, [](const Ref& ref) { return is_local(ref.symbol.to.kind); });
}

bool add_asm_line(InsnSequence& sequence, const SourceText& source, Span line,
                  const AsmNames& names, Diagnostics& diagnostics, bool after_log) {
    const AsmLine parts = split_asm_line(source, line, after_log);
    for (const Span label : parts.labels) sequence.add_label(source, label);
    if (parts.kind == AsmLine::Kind::empty) return after_log;
    if (parts.kind == AsmLine::Kind::code) {
        try {
            sequence.add(source, parts, parse_insn_line(source, parts, names));
        } catch (const SourceError& mistake) {
            if (sequence.add_mistake(source, parts)) diagnostics.error(source, mistake);
        }
    }
    return parts.is_from_log();
}

void complain_of_too_many(Diagnostics& errors, const SourceText& source, Span line) {
    errors.error(source, line,
                 cat("more than ", kMostInsns, " instructions: no kernel takes them"));
}

std::vector<Span> line_spans(const SourceText& source) {
    std::vector<Span> lines;
    for (std::size_t begin = 0; begin < source.text.size();) {
        const std::size_t end = std::min(source.text.find('\n', begin), source.text.size());
        lines.push_back({begin, end});
        begin = end + 1;
    }
    return lines;
}

Listing assemble_bare(const SourceText& source, const AsmNames& names) {
    Listing listing;
    InsnSequence sequence(listing.errors);
    bool after_log = false;
    for (const Span line : line_spans(source)) {
        after_log = add_asm_line(sequence, source, line, names, listing.errors, after_log);
        if (listing.errors.is_full()) break;
        if (sequence.insns().size() <= kMostInsns) continue;
        complain_of_too_many(listing.errors, source, line);
        break;
    }
    sequence.link_labels();
    for (const InsnSequence::Ref& ref : sequence.refs()) {
        const std::string_view what = what_is(ref.symbol.to.kind);
        listing.errors.error(
            source, ref.symbol.span, cat("no ", what, " is named '", ref.symbol.to.name, "'"),
            what == "map" ? "bare instructions declare no maps; map[fd:5] is that of descriptor 5"
                          : "");
    }
    listing.insns = sequence.insns();
    for (const InsnSequence::Place& place : sequence.places()) listing.spans.push_back(place.span);
    return listing;
}

}  // namespace gpufs
