#include "view/export/profile_files.h"

#include <algorithm>
#include <unordered_map>

#include "base/cat.h"
#include "view/export/gzip.h"
#include "view/export/protobuf.h"
#include "view/json.h"
#include "view/monitor/folded.h"

namespace gpufs {
namespace {

// The numbers of fields, by message (proto/profile.proto of pprof).
namespace profile_fields {
constexpr unsigned kSampleType = 1, kSample = 2, kLocation = 4, kFunction = 5, kText = 6,
                   kDuration = 10;
constexpr unsigned kType = 1, kUnit = 2;
constexpr unsigned kSampleLocations = 1, kSampleValues = 2, kSampleLabel = 3;
constexpr unsigned kLabelKey = 1, kLabelText = 2, kLabelNumber = 3;
constexpr unsigned kId = 1, kAddress = 3, kLine = 4, kLineFunction = 1;
constexpr unsigned kFunctionName = 2, kSystemName = 3;
}  // namespace profile_fields

// The texts of a profile; the first is the empty one.
class TextTable {
public:
    TextTable() { number("", texts_); }

    std::uint64_t operator[](const std::string& text) { return number(text, texts_); }
    void write(Protobuf& out) const {
        for (const std::string* text : order_) out.text(profile_fields::kText, *text);
    }

private:
    using Texts = std::unordered_map<std::string, std::uint64_t>;
    std::uint64_t number(const std::string& text, Texts& texts) {
        const auto [it, is_new] = texts.try_emplace(text, texts.size());
        if (is_new) order_.push_back(&it->first);
        return it->second;
    }

    Texts texts_;
    std::vector<const std::string*> order_;
};

// Functions stand once each, whatever addresses they have.
class FunctionNumbers {
public:
    explicit FunctionNumbers(const StackProfile& profile) {
        for (const StackProfile::Frame& frame : profile.frames()) {
            const auto [it, is_new] = by_name_.try_emplace(shown(frame), by_name_.size());
            if (is_new) names_.push_back(&it->first);
            by_frame_.push_back(it->second);
        }
    }
    std::size_t operator[](std::uint32_t frame) const { return by_frame_[frame]; }
    // The names, by number.
    const std::vector<const std::string*>& names() const { return names_; }

    // A kernel function ends as other tools mark it.
    static std::string shown(const StackProfile::Frame& frame) {
        return frame.is_user ? frame.name : cat(frame.name, "_[k]");
    }

private:
    std::unordered_map<std::string, std::size_t> by_name_;
    std::vector<const std::string*> names_;
    std::vector<std::size_t> by_frame_;
};

void write_labels(Protobuf& out, const StackProfile::Sample& sample, TextTable& texts) {
    using namespace profile_fields;
    for (const auto& [key, text] : {std::pair("event", &sample.event), {"comm", &sample.comm}}) {
        const std::size_t label = out.open(kSampleLabel);
        out.number(kLabelKey, texts[key]);
        out.number(kLabelText, texts[*text]);
        out.close(label);
    }
    const std::size_t label = out.open(kSampleLabel);
    out.number(kLabelKey, texts["tid"]);
    out.signed_number(kLabelNumber, sample.tid);
    out.close(label);
}

// Numbers begin at 1, so one is one more than an index.
void write_functions(Protobuf& out, const FunctionNumbers& functions, TextTable& texts) {
    using namespace profile_fields;
    for (std::size_t i = 0; i < functions.names().size(); ++i) {
        const std::uint64_t name = texts[*functions.names()[i]];
        const std::size_t entry = out.open(kFunction);
        out.number(kId, i + 1);
        out.number(kFunctionName, name);
        out.number(kSystemName, name);
        out.close(entry);
    }
}

void write_locations(Protobuf& out, const StackProfile& profile, const FunctionNumbers& functions) {
    using namespace profile_fields;
    for (std::uint32_t i = 0; i < profile.frames().size(); ++i) {
        const std::size_t location = out.open(kLocation);
        out.number(kId, i + std::uint64_t{1});
        out.number(kAddress, profile.frames()[i].address);
        const std::size_t line = out.open(kLine);
        out.number(kLineFunction, functions[i] + 1);
        out.close(line);
        out.close(location);
    }
}

}  // namespace

std::string folded_stacks(const StackProfile& profile) {
    // One line for all samples that look the same.
    std::map<std::string, std::uint64_t> lines;
    for (const auto& [sample, count] : profile.counts()) {
        std::string line = folded_field(sample.comm);
        for (const std::uint32_t frame : sample.frames)
            line += cat(';', folded_field(FunctionNumbers::shown(profile.frames()[frame])));
        lines[line] += count;
    }
    std::string text;
    for (const auto& [line, count] : lines) text += cat(line, ' ', count, '\n');
    return text;
}

std::string speedscope_json(const StackProfile& profile, const std::string& exporter) {
    const FunctionNumbers functions(profile);
    JsonArray frames;
    for (const std::string* name : functions.names())
        frames.add(JsonObject().text("name", *name).done());
    struct Part {
        JsonArray samples, weights;
        std::uint64_t total = 0;
    };
    std::map<std::string, Part> parts;  // by event
    for (const auto& [sample, count] : profile.counts()) {
        Part& part = parts[sample.event];
        JsonArray stack;
        for (const std::uint32_t frame : sample.frames) stack.add_number(functions[frame]);
        part.samples.add(stack.done());
        part.weights.add_number(count);
        part.total += count;
    }
    JsonArray profiles;
    for (const auto& [event, part] : parts) {
        JsonObject one;
        one.text("type", "sampled").text("name", event).text("unit", "none");
        one.number("startValue", 0).number("endValue", part.total);
        one.raw("samples", part.samples.done()).raw("weights", part.weights.done());
        profiles.add(one.done());
    }
    JsonObject file;
    file.text("$schema", "https://www.speedscope.app/file-format-schema.json");
    file.raw("shared", JsonObject().raw("frames", frames.done()).done());
    file.raw("profiles", profiles.done()).text("exporter", exporter);
    return file.done() + '\n';
}

std::string pprof_bytes(const StackProfile& profile, bool clock_is_ns) {
    using namespace profile_fields;
    Protobuf out;
    TextTable texts;
    const std::size_t type = out.open(kSampleType);
    out.number(kType, texts["events"]);
    out.number(kUnit, texts["count"]);
    out.close(type);
    for (const auto& [sample, count] : profile.counts()) {
        const std::size_t entry = out.open(kSample);
        std::string locations, values;
        for (auto it = sample.frames.rbegin(); it != sample.frames.rend(); ++it)
            append_varint(locations, *it + std::uint64_t{1});
        append_varint(values, count);
        out.bytes(kSampleLocations, locations);
        out.bytes(kSampleValues, values);
        write_labels(out, sample, texts);
        out.close(entry);
    }
    const FunctionNumbers functions(profile);
    write_functions(out, functions, texts);
    write_locations(out, profile, functions);
    texts.write(out);
    if (clock_is_ns) out.number(kDuration, profile.last_time() - profile.first_time());
    return gzip(out.written());
}

}  // namespace gpufs
