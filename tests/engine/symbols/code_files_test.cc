#include "engine/symbols/code_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "support/temp_folder.h"

namespace gpufs {
namespace {

// A variable of the environment has another value until the end of the scope.
class Variable {
public:
    Variable(const char* name, const std::string& value) : name_(name) {
        if (const char* const old = std::getenv(name)) old_ = old;
        ::setenv(name, value.c_str(), 1);
    }
    ~Variable() {
        if (old_)
            ::setenv(name_, old_->c_str(), 1);
        else
            ::unsetenv(name_);
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    const char* name_;
    std::optional<std::string> old_;
};

void write_file(const std::string& path, std::string_view content) {
    write_all(open_file(path, O_WRONLY | O_CREAT).get(), content, path);
}

// Its path, or why there is none.
std::string found(const std::string& name) {
    const auto file = find_code_file(name);
    const Absent* absent = std::get_if<Absent>(&file);
    return absent ? absent->why : std::get<std::string>(file);
}

BOOST_AUTO_TEST_SUITE(code_files)

BOOST_AUTO_TEST_CASE(a_text_for_the_linker_is_no_library) {
    const test::TempFolder folder;
    const std::string text = (folder / "libgpufsx.so").string(), library = text + ".1";
    write_file(text, "INPUT ( libgpufsx.so.1 )\n");
    const Variable searched("LD_LIBRARY_PATH", cat("/dev/null:", folder.path().string()));
    BOOST_TEST(found("libgpufsx").starts_with("no program 'libgpufsx' is in $PATH"));
    write_file(library, "\177ELF");
    BOOST_TEST(found("libgpufsx") == library);
    BOOST_TEST(found("libgpufsx.so.1") == library);
    BOOST_TEST(LibraryFiles().find("libgpufsx.so*") == std::vector<std::string>{library},
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_directory_is_no_program) {
    const test::TempFolder folder;
    const Variable searched("PATH", cat(folder.path().string(), ":/usr/bin"));
    make_directories((folder / "gpufs-x").string());
    BOOST_TEST(found("gpufs-x").starts_with("no program 'gpufs-x' is in $PATH"));
    make_directories((folder / "env").string());
    BOOST_TEST(found("env") == "/usr/bin/env");
}

BOOST_AUTO_TEST_CASE(a_process_that_is_gone_has_no_files) {
    BOOST_CHECK_EXCEPTION(find_code_files("", {0x3fffffff}), Error, [](const Error& e) {
        BOOST_TEST(e.what() == "there is no process 1073741823");
        return true;
    });
}

BOOST_AUTO_TEST_CASE(a_file_that_went_with_its_process_may_arrive_again) {
    const test::TempFolder folder;
    const std::string library = folder.file("libgpufs-test.so.1"), pattern = "libgpufs-test.so*";
    write_file(library, "no matter what");
    LibraryFiles files;
    const auto found_by = [&] {
        files.arrive({::getpid(), library});
        return files.find(pattern);
    };
    BOOST_TEST(found_by() == std::vector{library}, boost::test_tools::per_element());
    BOOST_TEST(found_by().empty());
    files.forget(library);
    BOOST_TEST(found_by() == std::vector{library}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
