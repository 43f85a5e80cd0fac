#include "support/told.h"

#include <boost/test/unit_test.hpp>

namespace gpufs::test {
namespace {

bool fits(const Json& values, const Told::Wanted& wanted) {
    for (const auto& [name, value] : wanted) {
        const auto member = values.members.find(name);
        if (member == values.members.end() || member->second.text != value) return false;
    }
    return true;
}

Ended run_live(const std::vector<std::string>& monitor, const std::vector<std::string>& command) {
    std::vector<std::string> args{"run"};
    args.insert(args.end(), monitor.begin(), monitor.end());
    args.insert(args.end(), {"--json", "--"});
    args.insert(args.end(), command.begin(), command.end());
    return gpufs(args);
}

}  // namespace

Told::Told(Ended ended) : ended_(std::move(ended)), lines_(parse_json_lines(ended_.out)) {
    BOOST_TEST(ended_.status == 0, ended_.err);
}

Told::Told(const std::vector<std::string>& monitor, const std::vector<std::string>& command)
    : Told(run_live(monitor, command)) {
    BOOST_TEST(has(ended_.err, "ended with exit status"), ended_.err);
}

std::vector<Json> Told::rows(const std::string& map, const Wanted& wanted) const {
    std::vector<Json> found;
    for (const Json& line : lines_) {
        if (!line.members.contains("map") || line["map"].text != map) continue;
        for (const Json& row : line["entries"].items)
            if (fits(row["key"], wanted)) found.push_back(row);
        if (!found.empty()) break;
    }
    return found;
}

long long Told::sum(const std::string& map, const Wanted& wanted, const std::string& column) const {
    long long all = 0;
    for (const Json& row : rows(map, wanted)) all += row[column].number();
    return all;
}

std::vector<Json> Told::records(const std::string& name, const Wanted& wanted) const {
    std::vector<Json> found;
    for (const Json& line : lines_)
        if (line.members.contains("record") && line["record"].text == name &&
            fits(line["values"], wanted))
            found.push_back(line["values"]);
    return found;
}

long long Told::lost() const {
    BOOST_TEST_REQUIRE(!lines_.empty());
    return lines_.back()["summary"]["lost"].number();
}

Json only(const std::vector<Json>& found) {
    BOOST_TEST_REQUIRE(found.size() == 1u);
    return found.front();
}

}  // namespace gpufs::test
