#include "base/path.h"

#include <fcntl.h>
#include <unistd.h>

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/error.h"
#include "base/file.h"
#include "support/temp_folder.h"

namespace gpufs {
namespace {

BOOST_AUTO_TEST_SUITE(path)

BOOST_AUTO_TEST_CASE(paths_are_taken_apart) {
    const auto parts = [](std::string_view path) {
        return cat(parent_directory(path), " | ", file_name(path), " | ", file_stem(path));
    };
    BOOST_TEST(parts("/a/b.c") == "/a | b.c | b");
    BOOST_TEST(parts("/b.tar.gz") == "/ | b.tar.gz | b.tar");
    BOOST_TEST(parts("b") == ". | b | b");
    BOOST_TEST(parts("a.d/.c") == "a.d | .c | .c");
    BOOST_TEST(parts("/a/") == "/a |  | ");
    BOOST_TEST(parts("") == ". |  | ");
}

BOOST_AUTO_TEST_CASE(a_path_is_seen_from_a_directory) {
    BOOST_TEST(path_from("/a", "b") == "/a/b");
    BOOST_TEST(path_from("/a/", "b") == "/a/b");
    BOOST_TEST(path_from("/", "b") == "/b");
    BOOST_TEST(path_from("/a", "/b") == "/b");
    BOOST_TEST(path_from(".", "b") == "b");
    BOOST_TEST(path_from("", "b") == "b");
}

BOOST_AUTO_TEST_CASE(a_normal_path_has_no_dots) {
    BOOST_TEST(normal_path("/a/./b//c/../d") == "/a/b/d");
    BOOST_TEST(normal_path("./a") == "a");
    BOOST_TEST(normal_path("a/..") == ".");
    BOOST_TEST(normal_path("../../a") == "../../a");
    BOOST_TEST(normal_path("a/../../b") == "../b");
    BOOST_TEST(normal_path("/../a/") == "/a");
    BOOST_TEST(normal_path("/") == "/");
}

BOOST_AUTO_TEST_CASE(links_are_followed) {
    const test::TempFolder here;
    const std::string file = (here / "file").string(), link = (here / "link").string();
    write_all(open_file(file, O_WRONLY | O_CREAT).get(), "text", file);
    BOOST_REQUIRE(::symlink("file", link.c_str()) == 0);
    BOOST_TEST(link_target(link) == "file");
    BOOST_TEST(link_target(file) == "");
    BOOST_TEST(link_target((here / "none").string()) == "");
    BOOST_TEST((real_path(link) == real_path(file)));
    BOOST_TEST(file_name(real_path(link).value()) == "file");
    BOOST_TEST(!real_path((here / "none").string()));
}

BOOST_AUTO_TEST_CASE(a_relative_path_is_of_the_working_directory) {
    BOOST_TEST(absolute_path("/a/../b") == "/a/../b");
    BOOST_TEST(absolute_path("a") == cat(real_path(".").value(), "/a"));
}

BOOST_AUTO_TEST_CASE(directories_are_made_with_those_they_lie_in) {
    const test::TempFolder here;
    make_directories((here / "a/b/c").string());
    make_directories((here / "a/b/c").string());
    BOOST_TEST(list_directory((here / "a/b").string()) == std::vector<std::string>{"c"},
               boost::test_tools::per_element());
    write_all(open_file((here / "file").string(), O_WRONLY | O_CREAT).get(), "", "file");
    BOOST_CHECK_EXCEPTION(make_directories((here / "file/a").string()), SysError,
                          [](const SysError& e) { return e.code() == ENOTDIR; });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
