#include "cli/exports/exports.h"

#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>

#include "base/text.h"
#include "support/run_gpufs.h"

namespace gpufs::test {

std::vector<std::string> all_recordings() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator("tests/data/trace_dat"))
        if (entry.path().extension() == ".dat") names.push_back(entry.path().stem());
    std::ranges::sort(names);
    return names;
}

std::string recording_path(const std::string& name) {
    return "tests/data/trace_dat/" + name + ".dat";
}

std::string exported(const std::string& path, const std::string& format,
                     std::vector<std::string> more) {
    more.insert(more.begin(), {"export", "-i", path, format, "-"});
    const Ended ended = gpufs(more);
    BOOST_TEST(ended.status == 0, ended.err);
    return ended.out;
}

std::uint64_t ns_of(std::string text) {
    std::erase(text, '.');
    return std::stoull(text);
}

std::vector<Json> reported(const std::string& path) {
    const Ended ended = gpufs({"report", "-i", path, "--json"});
    std::vector<Json> records;
    for (Json& line : parse_json_lines(ended.out))
        if (line.members.contains("event")) records.push_back(std::move(line));
    return records;
}

std::ostream& operator<<(std::ostream& out, const ShownJob& job) {
    return out << job.device << ' ' << job.ring << ' ' << job.comm << ' ' << job.queued << ' '
               << job.ran << ' ' << job.done << ' ' << job.how;
}
ShownJobs jobs_of_monitor(const std::string& path) {
    const Ended ended = gpufs({"watch", "drm", "lines=1", "min_us=60s", "--json", "-i", path});
    std::map<std::pair<std::string, std::string>, ShownJob> open;
    ShownJobs all;
    for (const Json& line : parse_json_lines(ended.out)) {
        if (!line.members.contains("record") || line["record"].text != "event") continue;
        const Json& told = line["values"];
        const std::pair key{told["context"].text, told["job"].text};
        ShownJob& job = open[key];
        const std::string& what = told["what"].text;
        const std::uint64_t time = ns_of(told["when"].text);
        job.device = told["dev"].text;
        job.ring = told["ring"].text;
        job.comm = told["comm"].text;
        if (what == "QUEUE") job.queued = time;
        if (what == "RUN") job.ran = time;
        if (what != "DONE" && what != "DROPPED") continue;
        job.done = time;
        job.how = what == "DROPPED" ? "given up" : "";
        all.insert(job);
        open.erase(key);
    }
    for (const auto& [key, job] : open) all.insert(job);
    return all;
}

ShownJobs jobs_of_timeline(const ShownTimeline& shown) {
    std::map<std::uint64_t, ShownJob> by_flow;
    for (const ShownTimeline::Event& slice : shown.slices) {
        if (slice.flows.empty()) continue;
        const std::vector<std::string> path = split(shown.path_of(slice.track), '/');
        BOOST_REQUIRE(path.size() == 3u);
        ShownJob& job = by_flow[slice.flows[0]];
        job.device = path[0] == "GPU" ? "-" : path[0].substr(4);
        job.ring = path[1].substr(5);
        job.comm = slice.name;
        if (path[2] == "queue")
            job.queued = slice.begin / 1000;
        else
            job.ran = slice.begin / 1000;
        const auto how = slice.arguments.find("end");
        if (how != slice.arguments.end()) job.how = how->second;
        if (!slice.is_open && (path[2] == "run" || !job.how.empty())) job.done = slice.end / 1000;
    }
    ShownJobs all;
    for (const auto& [flow, job] : by_flow) all.insert(job);
    return all;
}

}  // namespace gpufs::test
