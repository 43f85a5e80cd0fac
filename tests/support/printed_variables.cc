#include "support/printed_variables.h"

#include <algorithm>
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "support/nest.h"

namespace gpufs::test {

std::string variant(const std::string& name) {
    return std::filesystem::canonical(Nest::build_file("variables/" + name));
}

std::uint64_t line_with(const std::string& comment, const std::string& source) {
    const std::string text = read_file("tests/programs/" + source);
    std::uint64_t number = 0;
    for (const std::string_view line : lines_of(text)) {
        ++number;
        if (line.ends_with("// " + comment)) return number;
    }
    BOOST_FAIL("no line " + comment);
    return 0;
}

std::map<std::string, std::string> named_values(std::string_view line) {
    std::map<std::string, std::string> fields;
    for (std::size_t at = line.find('='); at != line.npos; at = line.find('=', at)) {
        const auto begin = line.rfind(' ', at) + 1;
        const bool is_quoted = line.substr(at + 1).starts_with('"');
        const auto end =
            is_quoted ? line.find('"', at + 2) + 1 : std::min(line.find(' ', at), line.size());
        fields[std::string(line.substr(begin, at - begin))] = line.substr(at + 1, end - at - 1);
        at = end;
    }
    return fields;
}

Records printed_at(const std::string& output, const std::string& line_name) {
    Records records;
    for (const std::string_view line : lines_of(output))
        if (line.starts_with(line_name + " ")) records.push_back(named_values(line));
    return records;
}

bool is_ahead(const std::string& program, std::string_view variable) {
#if defined __aarch64__
    return program.find("clang-O2") != program.npos && variable == "sum";
#else
    (void)program;
    (void)variable;
    return false;
#endif
}

}  // namespace gpufs::test
