#include "engine/probe/list.h"

#include <fcntl.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <utility>

#include "base/cat.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hex.h"
#include "base/scan.h"
#include "base/text.h"
#include "engine/session/session_probes.h"
#include "kernel/elf/code_file.h"
#include "lang/probe/definition.h"

namespace gpufs {
namespace {

// Finds functions by their places in files; each file is read once.
class PlaceNames {
public:
    // Of "/bin/bash:0x1139" or "/bin/bash:0x1139(0x4010)". Empty if there is none.
    std::string function_at(const std::string& place) {
        const auto colon = place.rfind(':');
        const CodeFile* file = open(place.substr(0, colon));
        std::uint64_t offset = 0;
        const char* const digits = place.data() + colon + 3;  // behind ":0x"
        if (colon + 3 >= place.size() ||
            std::from_chars(digits, place.data() + place.size(), offset, 16).ec != std::errc())
            return {};
        const auto found = file ? file->find(offset) : std::nullopt;
        if (!found) return {};
        return found->past == 0 ? found->name : cat(found->name, '+', hex(found->past));
    }

private:
    const CodeFile* open(const std::string& path) {
        auto [known, is_new] = files_.try_emplace(path);
        if (!is_new) return known->second.get();
        try {
            known->second = std::make_unique<CodeFile>(open_file(path, O_RDONLY), path,
                                                       RootDirectory(), CodeFile::Lines::no);
        } catch (const Error&) {
            // It is gone, or another file: the place stays a number.
        }
        return known->second.get();
    }

    std::map<std::string, std::unique_ptr<CodeFile>> files_;
};

struct Hits {
    std::uint64_t hits = 0, missed = 0;
};

std::uint64_t number_of(const std::string& word) {
    return whole_number<std::uint64_t>(word).value_or(0);
}

// uprobe_profile has "FILE NAME HITS" for each place, kprobe_profile "NAME HITS MISSED"; neither
// has the group. By "FILE NAME" and by "NAME".
std::map<std::string, Hits> read_hits(const Tracefs& top) {
    std::map<std::string, Hits> all;
    const std::string of_programs = top.read_if_readable("uprobe_profile").value_or("");
    for (const std::string_view line : lines_of(of_programs)) {
        const auto words = split(line, ' ');
        if (words.size() >= 3) all[cat(words[0], ' ', words[1])].hits += number_of(words[2]);
    }
    const std::string of_kernel = top.read_if_readable("kprobe_profile").value_or("");
    for (const std::string_view line : lines_of(of_kernel)) {
        const auto words = split(line, ' ');
        if (words.size() != 3) continue;
        Hits& hits = all[words[0]];
        hits.hits += number_of(words[1]);
        hits.missed += number_of(words[2]);
    }
    return all;
}

// What read_hits() knows a probe by.
std::string profile_name(const ProbeLine& probe) {
    const bool is_user = probe.place.starts_with('/');
    return is_user ? cat(probe.place.substr(0, probe.place.rfind(':')), ' ', probe.name)
                   : probe.name;
}

}  // namespace

std::string SessionProbe::place_text() const {
    const Place& first = places.front();
    const std::string place =
        first.function.empty()
            ? first.text
            : cat(first.text.substr(0, first.text.rfind(':')), ':', first.function);
    return places.size() == 1 ? place : cat(place, " and ", places.size() - 1, " more");
}

std::vector<SessionProbe> read_session_probes(const Session& session) {
    const std::vector<ProbeLine> lines = read_probe_lines(session.top());
    std::map<std::string, std::string> owner;  // by profile_name(); empty where there are several
    for (const ProbeLine& line : lines) {
        const auto [known, is_new] = owner.emplace(profile_name(line), line.event());
        if (!is_new && known->second != line.event()) known->second.clear();
    }
    const std::map<std::string, Hits> hits = read_hits(session.top());
    PlaceNames names;
    std::vector<SessionProbe> probes;
    for (const ProbeLine& line : lines) {
        if (line.group != session.probe_group()) continue;
        auto probe = std::ranges::find(probes, line.event(), &SessionProbe::event);
        if (probe == probes.end()) {
            SessionProbe made;
            made.event = line.event();
            made.is_user = line.place.starts_with('/');
            made.is_return = line.letter == 'r';
            made.arguments = line.arguments;
            const auto known = hits.find(profile_name(line));
            if (known != hits.end() && !owner[profile_name(line)].empty()) {
                made.hits = known->second.hits;
                if (!made.is_user) made.missed = known->second.missed;
            }
            probes.push_back(std::move(made));
            probe = std::prev(probes.end());
        }
        probe->places.push_back(
            {line.place, probe->is_user ? names.function_at(line.place) : std::string()});
    }
    return probes;
}

}  // namespace gpufs
