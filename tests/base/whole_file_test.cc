#include "base/whole_file.h"

#define BOOST_TEST_DYN_LINK
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "support/temp_file.h"
#include "support/temp_folder.h"

namespace gpufs {
namespace {

namespace fs = std::filesystem;

std::size_t count_files(const test::TempFolder& folder) {
    return list_directory(folder.path().string()).size();
}

BOOST_AUTO_TEST_SUITE(whole_file)

BOOST_AUTO_TEST_CASE(there_is_nothing_until_it_is_written) {
    const test::TempFolder folder;
    const std::string path = (folder / "a.svg").string();
    {
        WholeFile file(path);
        BOOST_TEST(count_files(folder) == 0u);
        file.write("text");
        BOOST_TEST(read_file(path) == "text");
    }
    BOOST_TEST(read_file(path) == "text");
    BOOST_TEST(count_files(folder) == 1u);
}

BOOST_AUTO_TEST_CASE(what_is_there_stays_where_nothing_is_written) {
    const test::TempFolder folder;
    const std::string path = (folder / "a.svg").string();
    WholeFile(path).write("old");
    { const WholeFile file(path); }
    BOOST_TEST(read_file(path) == "old");
    WholeFile(path).write("new");
    BOOST_TEST(read_file(path) == "new");
    BOOST_TEST(count_files(folder) == 1u);
}

BOOST_AUTO_TEST_CASE(a_file_keeps_its_mode_and_a_link_stays_one) {
    const test::TempFolder folder;
    const std::string path = (folder / "a.svg").string(), link = (folder / "link.svg").string();
    WholeFile(path).write("old");
    BOOST_TEST(::chmod(path.c_str(), 0640) == 0);
    fs::create_symlink(path, link);
    WholeFile(link).write("new");
    BOOST_TEST(fs::is_symlink(link));
    BOOST_TEST(read_file(path) == "new");
    struct stat facts {};
    BOOST_TEST(::stat(path.c_str(), &facts) == 0);
    BOOST_TEST((facts.st_mode & 07777) == 0640u);
}

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_is_told_at_once) {
    const auto says = [](const std::string& message) {
        return [message](const SysError& e) {
            BOOST_TEST(e.what() == message);
            return true;
        };
    };
    BOOST_CHECK_EXCEPTION(WholeFile("/nonexistent/a.svg"), SysError,
                          says("cannot write '/nonexistent/a.svg': No such file or directory"));
    BOOST_CHECK_EXCEPTION(WholeFile("/tmp"), SysError, says("cannot write '/tmp': Is a directory"));
}

BOOST_AUTO_TEST_CASE(a_full_device_is_an_error_when_it_is_written) {
    WholeFile file("/dev/full");
    BOOST_CHECK_EXCEPTION(file.write("text"), SysError, [](const SysError& e) {
        BOOST_TEST(e.what() == "cannot write to '/dev/full': No space left on device");
        return true;
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
