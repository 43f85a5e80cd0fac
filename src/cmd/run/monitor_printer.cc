#include "cmd/run/monitor_printer.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "cmd/run/gpu_section.h"
#include "cmd/shared/pictures.h"
#include "cmd/shared/screen.h"
#include "engine/results/report_rows.h"
#include "view/json.h"
#include "view/losses.h"
#include "view/report/report_cells.h"
#include "view/report/report_json.h"
#include "view/report/report_stacks.h"
#include "view/report/report_text.h"

namespace gpufs {
namespace {

constexpr std::size_t kMuch = 64 << 10;

ValueNames with_maps(ValueNames names, const StackMaps& stacks, const RunningProgram& running) {
    names.text = [&running](std::string_view map, std::uint64_t key) {
        return text_in(running, map, key);
    };
    names.file = [&running](std::string_view map, std::uint64_t key) {
        return file_path_in(running, map, key).value_or("[path not kept: the map is full]");
    };
    names.frames = [&stacks](std::string_view map, std::int32_t id) {
        return stacks.frames(map, id);
    };
    return names;
}

}  // namespace

std::string run_end_json(std::uint64_t records, const LossLedger& losses,
                         const std::vector<Tally>& tallies) {
    JsonArray told;
    for (const Tally& tally : tallies)
        told.add(JsonObject().text("what", tally.what).number("count", tally.count).done());
    JsonObject summary;
    summary.number("records", records);
    add_loss(summary, "lost", losses.total());
    summary.raw("losses", losses_json(losses)).raw("tallies", told.done());
    return JsonObject().raw("summary", summary.done()).done();
}

MonitorPrinter::MonitorPrinter(Context& ctx, RunningProgram& running, Form form, ValueNames names)
    : ctx_(ctx),
      running_(running),
      form_(form),
      stacks_(running),
      names_(with_maps(std::move(names), stacks_, running)),
      values_(names_, form.controls),
      records_(running.program(), values_),
      drawn_records_(running.program(), values_, LargeNumbers::texts),
      maps_(running) {
    begin_batch();
}

void MonitorPrinter::begin_batch() {
    if (form_.json) return;
    values_.look_at_clock();
    screen_ = screen_of(ctx_.out.fd());
    if (form_.plotted) screen_.plot = plot_of(ctx_.out.fd());
    records_.set_screen(screen_);
}

void MonitorPrinter::hand_over() {
    ctx_.out.write(text_);
    text_.clear();
}

void MonitorPrinter::flush() {
    hand_over();
    ctx_.out.flush();
}

// A record that tells no time is left out: there is no place for it.
void MonitorPrinter::draw_line(const RecordLayout& layout, std::span<const std::byte> record) {
    const auto time = std::ranges::find_if(layout.layout.members, [](const Member& member) {
        return member.type.kind == ValueType::Kind::time;
    });
    if (time == layout.layout.members.end()) return;
    std::string json;
    drawn_records_.json(json, layout, record);
    const bool is_one = layout.name.find('.') == layout.name.npos;
    form_.pictures->add_line(
        is_one ? running_.program().name : layout.name.substr(0, layout.name.find('.')),
        integer_at(plan_value(layout.layout, *time), record), json);
}

void MonitorPrinter::print(const RecordLayout& layout, std::span<const std::byte> record) {
    if (is_silent_ || layout.is_for_freeze()) return;
    if (form_.pictures && form_.pictures->wants_lines()) draw_line(layout, record);
    ++count_;
    is_below_text_ = true;
    if (form_.json)
        records_.json(text_, layout, record);
    else if (layout.actions.empty() && !form_.folded)
        records_.columns(text_, layout, record);
    for (const Action& action : layout.actions) {
        switch (action.kind) {
            case Action::Kind::print:
                if (!form_.json && !form_.folded) records_.print(text_, layout, action, record);
                break;
            case Action::Kind::print_map:
                print_map(*running_.program().find_map(action.map), maps_.read(action.map));
                break;
            case Action::Kind::clear_map:
                maps_.clear(action.map);
                break;
            case Action::Kind::freeze:
                break;
            case Action::Kind::exit:
                if (!exit_status_) exit_status_ = action.exit_status;
                is_silent_ = true;
                break;
        }
    }
    if (text_.size() >= kMuch) hand_over();
}

void MonitorPrinter::print_report(const MapDeclaration& map, const Report& report,
                                  MapEntries entries) {
    ReportRows rows = shown_rows(map, report, std::move(entries), values_);
    rows.during_ns = during_ns_;
    if (form_.folded) {
        text_ += folded_text(map, rows, values_);
    } else if (form_.json) {
        text_ += report_json(map, report, rows, values_);
        text_ += '\n';
    } else {
        const std::string text = report_text(map, report, std::move(rows), values_, screen_);
        if (!text.empty() && is_below_text_) text_ += '\n';
        is_below_text_ = is_below_text_ || !text.empty();
        text_ += text;
    }
}

void MonitorPrinter::print_map(const MapDeclaration& map, MapEntries entries) {
    print_taken(shown(map, std::move(entries), Histograms::drawn));
}

std::vector<const MapDeclaration*> MonitorPrinter::data_of_scripts() const {
    std::vector<const MapDeclaration*> maps;
    for (const bt::ScriptTables* script : scripts_)
        for (const std::string& name : script->kept_maps())
            if (const MapDeclaration* map = running_.program().find_map(name)) maps.push_back(map);
    return maps;
}

MonitorPrinter::Taken MonitorPrinter::shown(const MapDeclaration& map, MapEntries entries,
                                            Histograms scripts) {
    has_counted_ = has_counted_ || !entries.empty();
    for (bt::ScriptTables* script : scripts_) {
        const bt::ScriptMap* own = script->find(map.name);
        if (!own) continue;
        if (!script->shows_maps()) return {&map, {}, {}, {}};
        const bool is_series = own->value->is(bt::Type::Kind::tseries);
        if (is_series || (own->value->has_slots() && scripts == Histograms::drawn))
            return {&map, {}, {}, script->picture(*own, entries, form_.json)};
        bt::ScriptTables::Table table = script->table(*own, std::move(entries));
        return {table.map, std::move(table.entries), {std::move(table.report)}, {}};
    }
    return {&map, std::move(entries), reports_of(running_.program(), map), {}};
}

void MonitorPrinter::print_taken(Taken taken) {
    if (form_.folded && taken.reports.empty()) return;
    if (!taken.picture.empty() && is_below_text_ && !form_.json) text_ += '\n';
    is_below_text_ = is_below_text_ || !taken.picture.empty();
    text_ += taken.picture;
    for (const Report& report : taken.reports) {
        const bool is_last = &report == &taken.reports.back();
        print_report(*taken.map, report, is_last ? std::move(taken.entries) : taken.entries);
    }
}

// What was taken at the end of the current interval, which print_times() begins anew.
void MonitorPrinter::draw(const Taken& taken, std::uint64_t now_ns) {
    if (!form_.pictures) return;
    form_.pictures->add(*taken.map, taken.reports, taken.entries, values_);
    if (form_.intervals)
        form_.pictures->add_column(*taken.map, taken.reports, taken.entries, interval_begin_ns_,
                                   now_ns);
    else
        form_.pictures->sample(*taken.map, taken.reports, taken.entries, now_ns);
}

void MonitorPrinter::begin_run(std::uint64_t now_ns) {
    begin_intervals(now_ns);
    if (form_.pictures) form_.pictures->begin(now_ns, names_.time);
}

void MonitorPrinter::sample(std::uint64_t moment_ns, std::uint64_t now_ns) {
    if (!form_.pictures || !form_.pictures->wants_sample(now_ns)) return;
    for (const MapDeclaration* map : reported_maps(running_.program()))
        if (map->aggregation.is_histogram())
            form_.pictures->sample(*map, reports_of(running_.program(), *map),
                                   maps_.read(map->name), moment_ns);
    form_.pictures->pass_time(now_ns);
}

std::vector<MonitorPrinter::Taken> MonitorPrinter::take(Histograms scripts) {
    running_.run_snapshots();
    running_.turn();
    std::vector<Taken> taken;
    for (const MapDeclaration* map : reported_maps(running_.program())) {
        MapEntries entries = maps_.take(map->name);
        stack_collisions_ += count_stack_collisions(*map, entries);
        taken.push_back(shown(*map, std::move(entries), scripts));
    }
    for (const MapDeclaration* map : data_of_scripts())
        taken.push_back(shown(*map, maps_.read(map->name), scripts));
    return taken;
}

std::string MonitorPrinter::time_text(std::uint64_t ns) {
    if (form_.json) return values_.json_time(ns);
    std::string text;
    values_.time(text, ns);
    return text;
}

// The wall clock is read again and again: its words are kept, so that a moment is not told in two
// ways.
std::string MonitorPrinter::begin_intervals(std::uint64_t now_ns) {
    values_.look_at_clock();
    interval_begin_ns_ = now_ns;
    interval_from_ = time_text(now_ns);
    return interval_from_;
}

void MonitorPrinter::print_times(std::uint64_t now_ns) {
    if (interval_from_.empty()) begin_intervals(interval_begin_ns_);  // a recording without records
    const std::string to = time_text(now_ns);
    const std::string from = std::exchange(interval_from_, to);
    during_ns_ = now_ns - std::exchange(interval_begin_ns_, now_ns);
    if (form_.json) {
        JsonObject times;
        times.raw("from", from).raw("to", to);
        text_ += cat(JsonObject().raw("interval", times.done()).done(), '\n');
    } else if (!form_.folded) {
        text_ += cat('\n', from, " to ", to, '\n');
    }
    is_below_text_ = false;
}

void MonitorPrinter::print_gpus() {
    if (!gpus_) return;
    gpus_->take();
    const std::string text = form_.json ? gpus_->json() : gpus_->text(screen_);
    text_ += text;
    is_below_text_ = is_below_text_ || !text.empty();
}

void MonitorPrinter::tell_if_empty() {
    if (is_below_text_ || form_.json || form_.folded) return;
    text_ += form_.intervals ? kNothingCounted : "nothing counted\n";
    is_below_text_ = true;
}

void MonitorPrinter::print_interval(std::uint64_t now_ns) {
    const std::vector<Taken> all = take(Histograms::drawn);
    begin_batch();
    for (const Taken& taken : all) draw(taken, now_ns);
    print_times(now_ns);
    print_gpus();
    for (const Taken& taken : all) print_taken(taken);
    if (!all.empty()) tell_if_empty();
    during_ns_ = 0;
    is_below_text_ = true;
    release_stacks(all);
}

void MonitorPrinter::release_stacks(const std::vector<Taken>& taken) {
    std::set<StackMaps::Name> used;
    for (const Taken& one : taken) StackMaps::add_names(*one.map, one.entries, used);
    stacks_.release(std::move(used));
}

LossLedger MonitorPrinter::print_end(std::uint64_t now_ns, LossLedger known) {
    begin_batch();
    maps_.keep();
    std::vector<const MapDeclaration*> maps = reported_maps(running_.program());
    std::ranges::copy(data_of_scripts(), std::back_inserter(maps));
    std::vector<Taken> all;
    for (const MapDeclaration* map : maps) {
        MapEntries entries = maps_.read(map->name);
        stack_collisions_ += count_stack_collisions(*map, entries);
        all.push_back(shown(*map, std::move(entries), Histograms::drawn));
        draw(all.back(), now_ns);
    }
    if (form_.intervals) {
        print_times(now_ns);
        print_gpus();
    }
    for (Taken& taken : all) print_taken(std::move(taken));
    // In bpftrace's language an empty map is not shown.
    const bool is_answer = form_.intervals || (scripts_.empty() && count_ == 0);
    if (is_answer && !all.empty()) tell_if_empty();
    text_ += below_;
    flush();
    LossLedger losses = read_losses(std::move(known), running_, maps_);
    losses.add("stacks, their place was taken",
               Loss::exactly(stack_collisions_ + records_.stack_collisions()));
    if (!counts_losses(running_.program()))
        losses.add("texts cut", Loss::exactly(values_.cut_texts()));
    if (form_.pictures) form_.pictures->add_note(losses_text(losses));
    print_summary(losses, read_tallies(running_, maps_));
    return losses;
}

void MonitorPrinter::print_summary(const LossLedger& losses, const std::vector<Tally>& tallies) {
    if (form_.json) {
        ctx_.out.line(run_end_json(count_, losses, tallies));
        return;
    }
    // What only counts has none to be counted.
    const bool has_records = !running_.program().records.empty();
    ctx_.err.line(
        cat(has_records ? cat(counted(static_cast<std::size_t>(count_), "record"), ", ") : "",
            end_text(losses, tallies)));
}

}  // namespace gpufs
