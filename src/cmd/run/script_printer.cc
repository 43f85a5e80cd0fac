#include "cmd/run/script_printer.h"

#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/align.h"
#include "base/bytes.h"
#include "base/cat.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/sorted.h"
#include "cmd/run/script_run.h"
#include "engine/results/lost_counters.h"
#include "kernel/host/shell_command.h"
#include "lang/ir/aggregate.h"
#include "view/bt/diagnostic_text.h"
#include "view/bt/histogram_rows.h"
#include "view/bt/stack_keys.h"
#include "view/bt/time_text.h"

namespace gpufs {
namespace {

using Kind = bt::SentRecord::Kind;

constexpr std::size_t kLargeOutput = 64 << 10;

std::vector<bt::MapElement> elements_of(
    const std::vector<std::pair<std::vector<std::byte>, std::vector<std::byte>>>& entries) {
    std::vector<bt::MapElement> elements;
    elements.reserve(entries.size());
    for (const auto& [key, value] : entries) elements.push_back({key, value});
    return elements;
}

bt::ValueTables tables_of(const bt::Compiled& script) {
    return {script.names, script.formats, script.output.cut_string_trailer,
            script.output.language == bt::Language::as_of_0_17};
}

}  // namespace

ScriptPrinter::ScriptPrinter(Context& ctx, RunningProgram& running, const bt::Compiled& script,
                             const MonitorPrinter::Form& form, bt::ValueNames& names, Maps maps,
                             std::string program)
    : ctx_(ctx),
      running_(running),
      script_(script),
      names_(names),
      writer_(tables_of(script), names),
      output_(form.json ? bt::ScriptOutput::Form::json : bt::ScriptOutput::Form::text, writer_,
              std::move(program), form.controls),
      maps_(running) {
    for (const bt::SentRecord& record : script.records) {
        records_.emplace(record.name, &record);
        formats_.emplace(&record, bt::FormatText(record.text, record.values));
        const bool empties =
            record.clears || record.kind == Kind::clear || record.kind == Kind::zero;
        if (empties && maps == Maps::read_here) keep_when_cleared(script_map(record.map));
    }
}

void ScriptPrinter::keep_when_cleared(const bt::ScriptMap& map) {
    ProgramMap* const contents = program_map(map.name);
    if (!map.is_only_added_to || !contents) return;
    const bool has_two = map.value->is(bt::Type::Kind::avg) || map.value->is(bt::Type::Kind::stats);
    cleared_maps_.try_emplace(map.name, *contents, has_two ? 2 : 1);
}

void ScriptPrinter::begin_run(std::uint64_t) {
    if (!script_.output.says_attached) return;
    output_.attached_probes(probe_count(script_));
    flush();
}

void ScriptPrinter::print(const RecordLayout& layout, std::span<const std::byte> record) {
    if (is_silent_) return;
    const auto found = records_.find(layout.name);
    if (found != records_.end()) take(*found->second, record);
    if (output_.out.size() > kLargeOutput) flush();
}

void ScriptPrinter::pass(const RecordLayout& layout, std::span<const std::byte> record) {
    print(layout, record);
    output_.out.clear();
}

void ScriptPrinter::hand_over() {
    if (!output_.out.empty()) ctx_.out.write(std::exchange(output_.out, {}));
    if (!output_.err.empty()) ctx_.err.write(std::exchange(output_.err, {}));
}

// A script has ended, also where the ring had no room to say so.
void ScriptPrinter::look_for_exit() {
    const ProgramMap* const map = exit_status_ ? nullptr : running_.map(bt::kExitMap);
    if (!map) return;
    const std::uint32_t key = 0;
    std::uint64_t word = 0;
    const bool is_there = map->lookup(bytes_of(key), std::as_writable_bytes(std::span(&word, 1)));
    if (is_there && (word & bt::kExitUntold) != 0)
        exit_status_ = static_cast<int>(word >> bt::kExitCodeShift);
}

void ScriptPrinter::flush() {
    hand_over();
    look_for_exit();
    ctx_.out.flush();
    ctx_.err.flush();
}

std::string ScriptPrinter::formatted(const bt::SentRecord& record, bt::Bytes bytes,
                                     Controls controls) {
    std::string text;
    formats_.at(&record).append(text, bytes, writer_, controls);
    return text;
}

void ScriptPrinter::take(const bt::SentRecord& record, bt::Bytes bytes) {
    switch (record.kind) {
        case Kind::printf:
            return output_.printf(told(record, bytes));
        case Kind::warnf:
            if (!script_.output.has_warnings) return;
            [[fallthrough]];
        case Kind::errorf:
            return message(record, bytes);
        case Kind::print: {
            const bt::SentValue& value = record.values.front();
            return output_.value(value, bytes.subspan(value.offset));
        }
        case Kind::print_map:
            return print_map(record, bytes);
        case Kind::print_entry:
            return print_entry(record, bytes);
        case Kind::clear:
            return clear(record.map);
        case Kind::zero:
            return zero(record.map);
        case Kind::exit:
            exit_status_ =
                record.values.empty()
                    ? 0
                    : static_cast<int>(0xff &
                                       bt::number_of(*record.values.front().type,
                                                     bytes.subspan(record.values.front().offset)));
            is_silent_ = true;
            return;
        case Kind::time:
            return output_.time(bt::time_text(
                record.text, names_.wall_ns(bt::ValueNames::Clock::monotonic, running_.now_ns())));
        case Kind::join:
            return join(record, bytes);
        case Kind::system:
            return run_command(exact(record, bytes));
        case Kind::cat:
            return print_file(exact(record, bytes));
        case Kind::helper_error: {
            if (!script_.output.has_warnings) return;
            const bt::SentValue& code = record.values.front();
            return output_.helper_error(
                place_of(record.at), record.text,
                static_cast<std::int64_t>(bt::number_of(*code.type, bytes.subspan(code.offset))));
        }
    }
}

const bt::ScriptMap& ScriptPrinter::script_map(const std::string& name) const {
    return *std::ranges::find(script_.maps, name, &bt::ScriptMap::name);
}

ProgramMap* ScriptPrinter::program_map(const std::string& name) const {
    return running_.map(cat('@', name));
}

ClearedMap* ScriptPrinter::cleared_map(const std::string& name) {
    const auto map = cleared_maps_.find(name);
    return map == cleared_maps_.end() ? nullptr : &map->second;
}

void ScriptPrinter::clear(const std::string& name) {
    if (ClearedMap* const cleared = cleared_map(name))
        cleared->clear();
    else if (ProgramMap* const map = program_map(name))
        map->take_each([](auto, auto) {});
}

void ScriptPrinter::print_map(const bt::ScriptMap& map, bt::MapPart part, bool clears) {
    ProgramMap* contents = program_map(map.name);
    if (!contents) return;
    std::vector<std::pair<std::vector<std::byte>, std::vector<std::byte>>> entries;
    bt::StackKeys stacks(map, names_);
    std::map<std::vector<std::byte>, std::size_t> places;  // where keys are united
    const auto keep = [&](std::span<const std::byte> key, std::span<const std::byte> value) {
        std::vector<std::byte> own(key.begin(), key.end());
        if (stacks.are_united()) {
            own = stacks.united(key);
            const auto [place, is_new] = places.try_emplace(own, entries.size());
            if (!is_new) return stacks.merge(value, entries[place->second].second);
        }
        entries.emplace_back(std::move(own), std::vector(value.begin(), value.end()));
    };
    if (ClearedMap* const cleared = cleared_map(map.name))
        clears ? cleared->take_each(keep) : cleared->for_each(keep);
    else
        clears ? contents->take_each(keep) : contents->for_each(keep);
    if (entries.empty() && map.is_always_there && !map.value->has_slots())
        entries.emplace_back(std::vector<std::byte>(contents->spec().key_bytes),
                             std::vector<std::byte>(contents->whole_value_bytes()));
    output_.map(map, elements_of(entries), std::move(part));
}

void ScriptPrinter::print_map(const bt::SentRecord& record, bt::Bytes bytes) {
    bt::MapPart part;
    part.zero_if_empty =
        script_map(record.map).is_always_there || script_.output.language == bt::Language::newest;
    const auto number = [&](std::size_t i) {
        const bt::SentValue& value = record.values[i];
        return bt::number_of(*value.type, bytes.subspan(value.offset));
    };
    // bpftrace 0.17 shows all elements of stats, and nothing of them divided.
    const bool is_old = script_.output.language != bt::Language::newest;
    const bool takes_all = is_old && script_map(record.map).value->is(bt::Type::Kind::stats);
    if (!record.values.empty() && !takes_all) part.top = number(0);
    if (record.values.size() > 1 && !takes_all) part.div = number(1);
    print_map(script_map(record.map), part, record.clears);
}

// An element of an aggregation, as it is now.
void ScriptPrinter::print_entry(const bt::SentRecord& record, bt::Bytes bytes) {
    const bt::ScriptMap& map = script_map(record.map);
    ProgramMap* contents = program_map(record.map);
    if (!contents) return;
    const std::size_t key_bytes = align_up(map.key->bytes, bt::kWord);
    const bt::Bytes own = bytes.subspan(record.values.front().offset, key_bytes);
    std::vector<std::byte> key(own.begin(), own.end()), value(contents->whole_value_bytes());
    key.resize(contents->spec().key_bytes);
    ClearedMap* const cleared = cleared_map(map.name);
    const auto look_up = [&] {
        return cleared ? cleared->lookup(key, value) : contents->lookup(key, value);
    };
    if (!map.value->has_slots()) {
        // What is not there shows zeros.
        look_up();
        return output_.value({map.value}, value);
    }
    const bool is_series = map.value->is(bt::Type::Kind::tseries);
    const std::uint64_t slots = is_series ? map.value->count : map.value->slots();
    std::vector<std::pair<std::vector<std::byte>, std::vector<std::byte>>> entries;
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
        std::memcpy(key.data() + key_bytes, &slot, sizeof slot);
        if (look_up()) entries.emplace_back(key, value);
    }
    output_.map(map, elements_of(entries));
}

void ScriptPrinter::zero(const std::string& name) {
    if (ClearedMap* const cleared = cleared_map(name)) return cleared->zero();
    ProgramMap* contents = program_map(name);
    if (!contents) return;
    std::vector<std::vector<std::byte>> keys;
    contents->for_each([&](std::span<const std::byte> key, std::span<const std::byte>) {
        keys.emplace_back(key.begin(), key.end());
    });
    const std::vector<std::byte> zeros(contents->whole_value_bytes());
    for (const auto& key : keys) contents->update(key, zeros);
}

void ScriptPrinter::join(const bt::SentRecord& record, bt::Bytes bytes) {
    const bt::Bytes joined = bytes.subspan(record.values.front().offset);
    const auto count = bt::load<std::uint32_t>(joined);
    const std::size_t texts = record.values.front().offset + sizeof(std::uint64_t);
    std::string text;
    for (std::uint32_t i = 0; i < count; ++i) {
        if (i != 0) text += record.text;
        text += up_to_nul(bytes.subspan(texts + i * record.stride, record.stride));
    }
    output_.join(text);
}

void ScriptPrinter::run_command(const std::string& command) {
    // Those that wait may be many, and the commands may cause more of them.
    if (is_stopping_ && is_stopping_()) {
        ++commands_left_;
        return;
    }
    flush();
    std::string text;
    run_shell(command, [&](std::string_view part) {
        text += part;
        const auto lines = output_.is_json() ? 0 : text.rfind('\n') + 1;
        if (lines == 0) return;
        output_.syscall(text.substr(0, lines));
        text.erase(0, lines);
        flush();
    });
    if (!text.empty() || output_.is_json()) output_.syscall(text);
}

void ScriptPrinter::print_file(const std::string& path) {
    std::string text;
    try {
        // A traced process may have chosen the path: a pipe or a terminal is not waited for.
        const Fd file = open_file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
        text = read_all(file.get(), path, script_.output.cat_bytes);
    } catch (const SysError& e) {
        const bool is_old = script_.output.language == bt::Language::as_of_0_17;
        output_.err += cat("ERROR: ",
                           is_old ? failed_to_open(path, e.code())
                                  : cat("failed to open file '", path, "' (",
                                        std::generic_category().message(e.code()), ')'),
                           '\n');
        return;
    }
    output_.cat(text);
}

void ScriptPrinter::message(const bt::SentRecord& record, bt::Bytes bytes) {
    using Severity = bt::ScriptOutput::Severity;
    const Severity severity = record.kind == Kind::errorf ? Severity::error : Severity::warning;
    output_.message(severity, place_of(record.at), told(record, bytes));
    for (const SourceRef& use : record.expanded_from)
        output_.expanded_from(severity, place_of(use));
}

bt::OutputPlace ScriptPrinter::place_of(const SourceRef& where) const {
    const SourceText& source = script_.program.sources.at(where.source);
    const PlacedMessage at = place_message(source, where.span, "");
    return {bt::place_words(at), source.name, at.begin.line, at.begin.column, bt::marked_line(at)};
}

void ScriptPrinter::print_maps() {
    std::vector<const bt::ScriptMap*> maps;
    for (const bt::ScriptMap& map : script_.maps) maps.push_back(&map);
    sort_stably(maps, {}, [](const bt::ScriptMap* map) { return map->name; });
    for (const bt::ScriptMap* map : maps) print_map(*map, {}, false);
}

// Once for each, where it first appears: what found no room may be very much.
void ScriptPrinter::tell_full_maps() {
    if (!script_.output.has_warnings) return;
    for (const bt::ScriptMap& map : script_.maps) {
        const MapDeclaration* declared = script_.program.find_map(cat('@', map.name));
        ProgramMap* refused = running_.map(refused_of(*declared));
        std::uint64_t keys = 0;
        if (refused)
            refused->for_each([&](std::span<const std::byte>, std::span<const std::byte> value) {
                keys += bt::load<std::uint64_t>(value);
            });
        if (keys == 0) continue;
        output_.helper_error(place_of(declared->at), "map_update_elem", -E2BIG);
    }
    flush();
}

LossLedger ScriptPrinter::commands_left() const {
    if (commands_left_ == 0) return {};
    return {{"commands of system(), the run was ended", Loss::exactly(commands_left_)}};
}

void ScriptPrinter::print_interval(std::uint64_t) {
    print_maps();
    flush();
}

LossLedger ScriptPrinter::print_end(std::uint64_t, LossLedger known) {
    flush();
    output_.end_of_run();
    if (script_.output.prints_maps_on_exit) print_maps();
    flush();
    tell_full_maps();
    known.add(commands_left());
    LossLedger losses = read_losses(std::move(known), running_, maps_);
    output_.losses(losses, read_tallies(running_, maps_));
    flush();
    return losses;
}

}  // namespace gpufs
