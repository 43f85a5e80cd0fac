#define BOOST_TEST_DYN_LINK
#include "engine/symbols/symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <future>
#include <thread>

#include "base/cat.h"
#include "base/file.h"
#include "kernel/bpf/mapping.h"
#include "lang/symbols/proc_maps.h"
#include "support/skip.h"
#include "support/temp_file.h"
#include "support/temp_folder.h"
#include "view/trace/frame_text.h"

namespace gpufs {
namespace {

BOOST_AUTO_TEST_SUITE(symbols)

BOOST_AUTO_TEST_CASE(a_frame_reads_as_perf_writes_it) {
    BOOST_TEST(to_text(Frame{"puts", "libc.so.6", 0x1c, ""}) == "puts+0x1c (libc.so.6)");
    BOOST_TEST(to_text(Frame{"puts", "libc.so.6", 0, ""}) == "puts (libc.so.6)");
    BOOST_TEST(to_text(Frame{"schedule", "", 0x2b, ""}) == "schedule+0x2b");
    BOOST_TEST(to_text(Frame{"amdgpu_job_run", "[amdgpu]", 0x40, ""}) ==
               "amdgpu_job_run+0x40 [amdgpu]");
    BOOST_TEST(to_text(Frame{"main", "demo", 7, "main.cc:42"}) == "main+0x7 (demo) at main.cc:42");
    BOOST_TEST(to_text(Frame{"", "libc.so.6", 0x2a1f3, ""}) == "libc.so.6+0x2a1f3");
    BOOST_TEST(to_text(Frame{"", "", 0x7ffc00c01000, ""}) == "0x7ffc00c01000");
}

BOOST_AUTO_TEST_CASE(a_line_of_maps_is_taken_apart) {
    const auto map = parse_proc_map(
        "7fde004cf000-7fde00625000 r-xp 00026000 fe:01 332835                     /usr/a b.so "
        "(deleted)");
    BOOST_TEST_REQUIRE(map.has_value());
    BOOST_TEST(map->start == 0x7fde004cf000u);
    BOOST_TEST(map->end == 0x7fde00625000u);
    BOOST_TEST(map->offset == 0x26000u);
    BOOST_TEST(map->major == 0xfeu);
    BOOST_TEST(map->minor == 1u);
    BOOST_TEST(map->inode == 332835u);
    BOOST_TEST(map->is_executable);
    BOOST_TEST(map->path == "/usr/a b.so (deleted)");
    const auto bare = parse_proc_map("1000-2000 rw-p 00000000 00:00 0 ");
    BOOST_TEST_REQUIRE(bare.has_value());
    BOOST_TEST(!bare->is_executable);
    BOOST_TEST(bare->path == "");
    for (const std::string_view none :
         {"", "1000", "1000-2000", "1000-2000 r-xp", "x-y r-xp 0 0:0 0"})
        BOOST_TEST(!parse_proc_map(none).has_value());
}

BOOST_AUTO_TEST_CASE(code_made_at_run_time_is_found_in_its_list) {
    const JitMap map(
        "2000 10 second\n"
        "1000 20 Lfirst;::with blanks\n"
        "0x3000 0x8 with_prefix\n"
        "garbage\n"
        "4000\n"
        "2000 8 second again\n");
    const auto name = [&](std::uint64_t address) {
        const auto found = map.find(address);
        return found ? std::string(found->name) + '+' + std::to_string(found->past) : "none";
    };
    BOOST_TEST(name(0xfff) == "none");
    BOOST_TEST(name(0x1000) == "Lfirst;::with blanks+0");
    BOOST_TEST(name(0x101f) == "Lfirst;::with blanks+31");
    BOOST_TEST(name(0x1020) == "none");
    BOOST_TEST(name(0x2004) == "second again+4");
    BOOST_TEST(name(0x3001) == "with_prefix+1");
    BOOST_TEST(name(0x4000) == "none");
}

// The list of code made at run time that this process would have, gone at the end.
class OwnPerfMap {
public:
    ~OwnPerfMap() { ::unlink(path_.c_str()); }
    const std::string& path() const { return path_; }
    void append(std::string_view text) const {
        write_all(open_file(path_, O_WRONLY | O_CREAT | O_APPEND).get(), text, path_);
    }

private:
    std::string path_ = cat("/tmp/perf-", ::getpid(), ".map");
};

BOOST_AUTO_TEST_CASE(of_a_list_of_code_the_begin_of_a_regular_file_is_read) {
    const OwnPerfMap list;
    const auto pid = static_cast<std::uint32_t>(::getpid());
    constexpr std::size_t kMost = 128 << 20;
    BOOST_TEST(!read_perf_map(pid, ::geteuid(), 0).has_value());
    list.append("1000 20 made\n");
    BOOST_TEST(read_perf_map(pid, ::geteuid(), 0).value() == "1000 20 made\n");
    BOOST_TEST(!read_perf_map(pid, ::geteuid(), 13).has_value());
    BOOST_TEST_REQUIRE(::truncate(list.path().c_str(), kMost + 4096) == 0);
    BOOST_TEST(read_perf_map(pid, ::geteuid(), 13).value().size() == kMost);
    BOOST_TEST(!read_perf_map(pid, ::geteuid(), kMost).has_value());
    // Nobody writes to it: who opens it waits.
    BOOST_TEST_REQUIRE(::unlink(list.path().c_str()) == 0);
    BOOST_TEST_REQUIRE(::mkfifo(list.path().c_str(), 0600) == 0);
    BOOST_TEST(!read_perf_map(pid, ::geteuid(), 13).has_value());
}

BOOST_AUTO_TEST_CASE(a_list_of_code_is_only_taken_from_the_process_s_user_or_root) {
    if (::geteuid() != 0) return test::skip("only root gives files away");
    constexpr std::uint32_t kUser = 4711, kOther = 4712;
    const OwnPerfMap list;
    const auto pid = static_cast<std::uint32_t>(::getpid());
    const auto is_taken = [&](std::uint32_t owner, mode_t mode) {
        BOOST_TEST_REQUIRE(::chown(list.path().c_str(), owner, owner) == 0);
        BOOST_TEST_REQUIRE(::chmod(list.path().c_str(), mode) == 0);
        return read_perf_map(pid, kUser, 0).has_value();
    };
    list.append("1000 20 made\n");
    BOOST_TEST(is_taken(kUser, 0644));
    BOOST_TEST(is_taken(kUser, 0664));
    BOOST_TEST(is_taken(0, 0644));
    BOOST_TEST(!is_taken(kOther, 0644));
    BOOST_TEST(!is_taken(kUser, 0646));
    // A link, too, may be another's.
    const std::string real = cat(list.path(), ".real");
    BOOST_TEST_REQUIRE(::rename(list.path().c_str(), real.c_str()) == 0);
    BOOST_TEST_REQUIRE(::symlink(real.c_str(), list.path().c_str()) == 0);
    BOOST_TEST(!read_perf_map(pid, kUser, 0).has_value());
    BOOST_TEST_REQUIRE(::unlink(real.c_str()) == 0);
}

BOOST_AUTO_TEST_CASE(a_place_of_code_that_is_used_again_has_its_new_name) {
    const OwnPerfMap list;
    void* const page =
        ::mmap(nullptr, page_bytes(), PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    BOOST_TEST_REQUIRE(page != MAP_FAILED);
    const auto address = reinterpret_cast<std::uintptr_t>(page);
    Symbols symbols;
    const auto name = [&] {
        return symbols.user(static_cast<std::uint32_t>(::getpid()), address).name;
    };
    char line[64];
    std::snprintf(line, sizeof line, "%lx 40 first\n", address);
    list.append(line);
    BOOST_TEST(name() == "first");
    std::snprintf(line, sizeof line, "%lx 40 second\n", address);
    list.append(line);
    // The file is looked at again after a while.
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (name() != "second" && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    BOOST_TEST(name() == "second");
    ::munmap(page, page_bytes());
}

// A program of nothing but its header, or with a symbol table of so many bytes, all of them zero.
std::string elf_file(std::uint64_t table_bytes = 0) {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] =
        std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof header;
    if (table_bytes == 0) return {reinterpret_cast<const char*>(&header), sizeof header};
    header.e_shoff = sizeof header;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 3;
    header.e_shstrndx = 1;
    Elf64_Shdr sections[3] = {};
    sections[1].sh_type = SHT_STRTAB;
    sections[1].sh_offset = sizeof header + sizeof sections;
    sections[1].sh_size = 1;
    sections[2].sh_type = SHT_SYMTAB;
    sections[2].sh_offset = sections[1].sh_offset + 8;
    sections[2].sh_size = table_bytes;
    sections[2].sh_link = 1;
    sections[2].sh_entsize = sizeof(Elf64_Sym);
    return std::string(reinterpret_cast<const char*>(&header), sizeof header)
        .append(reinterpret_cast<const char*>(sections), sizeof sections)
        .append(8, '\0');
}

BOOST_AUTO_TEST_CASE(a_symbol_table_that_no_program_has_is_none) {
    constexpr std::uint64_t kTable = std::uint64_t{1} << 40;
    const test::TempFile file(elf_file(kTable));
    BOOST_TEST_REQUIRE(::truncate(file.path().c_str(), kTable + 4096) == 0);
    const CodeFile code(open_file(file.path(), O_RDONLY), file.path(), RootDirectory(),
                        CodeFile::Lines::no);
    BOOST_TEST(code.size() == 0u);
}

MappedRange range_of(const std::string& path, std::uint64_t generation = 0) {
    struct stat status {};
    ::stat(path.c_str(), &status);
    return {0x1000, 0x2000, 0, status.st_dev, status.st_ino, generation, path};
}

BOOST_AUTO_TEST_CASE(a_program_built_anew_is_another_file) {
    MappedFiles files(CodeFile::Lines::no);
    const auto add = [&](std::uint64_t inode, std::uint64_t generation) {
        return files.add(0, {0x1000, 0x2000, 0, 1, inode, generation, "/bin/none"});
    };
    const auto first = add(7, 100);
    BOOST_TEST(add(7, 100) == first);
    const auto second = add(7, 101);
    BOOST_TEST(second != first);
    BOOST_TEST(files.name(second) == "none");
    // /proc/PID/maps tells no generation: it is the latest.
    BOOST_TEST(add(7, 0) == second);
    BOOST_TEST(add(7, 101) == second);
    // What is first known later is filled in.
    const auto third = add(8, 0);
    BOOST_TEST(add(8, 100) == third);
    BOOST_TEST(add(8, 101) != third);
}

BOOST_AUTO_TEST_CASE(files_that_were_read_are_not_all_held_open) {
    const test::TempFolder directory;
    MappedFiles files(CodeFile::Lines::no);
    const std::size_t before = list_directory("/proc/self/fd").size();
    const std::string elf = elf_file();
    std::vector<MappedFiles::Id> ids;
    for (int i = 0; i < 700; ++i) {
        const std::string path = directory.file(std::to_string(i));
        write_all(open_file(path, O_WRONLY | O_CREAT).get(), elf, path);
        ids.push_back(files.add(::getpid(), range_of(path)));
        BOOST_TEST(files.code(ids.back()));
    }
    BOOST_TEST(list_directory("/proc/self/fd").size() - before == 256u + 256);
    // The first is opened anew.
    BOOST_TEST(files.code(ids.front()));
}

// Records of processes that this kernel does not have.
constexpr std::uint32_t kParent = 0x3ffffff0, kChild = 0x3ffffff1;

SideBandRecord record(SideBandRecord::Kind kind, std::uint64_t time_ns, std::uint32_t pid) {
    SideBandRecord made;
    made.kind = kind;
    made.time_ns = time_ns;
    made.pid = made.tid = pid;
    return made;
}
SideBandRecord mapped(std::uint64_t time_ns, std::uint32_t pid, std::uint64_t inode) {
    SideBandRecord made = record(SideBandRecord::Kind::map, time_ns, pid);
    made.start = 0x1000;
    made.end = 0x3000;
    made.offset = 0x500;
    made.inode = inode;
    made.text = inode == 7 ? "/lib/seven.so" : "/lib/eight.so (deleted)";
    return made;
}

BOOST_AUTO_TEST_CASE(what_was_mapped_depends_on_the_time) {
    using Kind = SideBandRecord::Kind;
    MappedFiles files(CodeFile::Lines::no);
    ProcessTable table(files);
    const auto at = [&](std::uint32_t pid, std::uint64_t time_ns) {
        const auto place = table.find(pid, 0x1010, time_ns);
        return place ? files.name(place->file) + '+' + std::to_string(place->offset) : "none";
    };
    table.take(record(Kind::exec, 10, kParent));
    table.take(mapped(11, kParent, 7));
    SideBandRecord fork = record(Kind::fork, 20, kChild);
    fork.parent = kParent;
    table.take(fork);
    table.take(mapped(25, kParent, 8));
    BOOST_TEST(at(kParent, 10) == "none");
    BOOST_TEST(at(kParent, 15) == "seven.so+1296");
    BOOST_TEST(at(kParent, 30) == "eight.so+1296");
    BOOST_TEST(at(kChild, 30) == "seven.so+1296");
    // After the exec it has nothing there, but had.
    table.take(record(Kind::exec, 40, kChild));
    BOOST_TEST(at(kChild, 45) == "seven.so+1296");
    table.take(mapped(50, kChild, 8));
    BOOST_TEST(at(kChild, ProcessTable::kLatest) == "eight.so+1296");
    BOOST_TEST(at(kChild, 45) == "seven.so+1296");
    // The end of a thread is not that of the process.
    SideBandRecord thread = record(Kind::exit, 60, kChild);
    thread.tid = kChild + 1;
    table.take(thread);
    BOOST_TEST(!table.is_gone(kChild));
    table.take(record(Kind::exit, 61, kChild));
    BOOST_TEST(table.is_gone(kChild));
    BOOST_TEST(at(kChild, ProcessTable::kLatest) == "eight.so+1296");
    // The number is used again.
    fork.time_ns = 70;
    table.take(fork);
    BOOST_TEST(!table.is_gone(kChild));
    BOOST_TEST(at(kChild, ProcessTable::kLatest) == "eight.so+1296");
    BOOST_TEST(at(kChild, 46) == "seven.so+1296");
}

BOOST_AUTO_TEST_CASE(an_exec_after_the_main_thread_s_end_is_the_process) {
    using Kind = SideBandRecord::Kind;
    MappedFiles files(CodeFile::Lines::no);
    ProcessTable table(files);
    const auto name = [&] { return files.name(table.find(kChild, 0x1010).value().file); };
    table.take(record(Kind::exec, 10, kChild));
    table.take(mapped(11, kChild, 7));
    table.take(record(Kind::exit, 20, kChild));
    table.take(record(Kind::exec, 21, kChild));
    BOOST_TEST(!table.is_gone(kChild));
    table.take(mapped(22, kChild, 8));
    BOOST_TEST(name() == "eight.so");
    table.take(record(Kind::exit, 30, kChild));
    BOOST_TEST(table.is_gone(kChild));
    // Ranges are counted when a process goes and given back when it comes again.
    for (std::uint32_t i = 0; i < 20'000; ++i) {
        table.take(record(Kind::exec, 40 + i, kChild));
        table.take(mapped(40 + i, kChild, 7));
        table.take(record(Kind::exit, 40 + i, kChild));
    }
    table.take(mapped(90'000, kParent, 7));
    table.take(record(Kind::exit, 90'001, kParent));
    BOOST_TEST(table.find(kChild, 0x1010).has_value());
}

BOOST_AUTO_TEST_CASE(a_process_lives_as_long_as_one_of_its_threads) {
    using Kind = SideBandRecord::Kind;
    MappedFiles files(CodeFile::Lines::no);
    ProcessTable table(files);
    const auto own = static_cast<std::uint32_t>(::getpid());
    std::promise<void> end;
    std::promise<std::uint32_t> tid;
    std::thread thread([&] {
        tid.set_value(static_cast<std::uint32_t>(::gettid()));
        end.get_future().wait();
    });
    SideBandRecord thread_exit = record(Kind::exit, 30, own);
    thread_exit.tid = tid.get_future().get();
    table.take(record(Kind::exec, 10, own));
    table.take(record(Kind::exit, 20, own));
    BOOST_TEST(!table.is_gone(own));
    table.take(mapped(25, own, 7));
    BOOST_TEST(table.find(own, 0x1010).has_value());
    end.set_value();
    thread.join();
    table.take(thread_exit);
    BOOST_TEST(table.is_gone(own));
}

BOOST_AUTO_TEST_CASE(the_first_that_went_are_forgotten_first) {
    MappedFiles files(CodeFile::Lines::no);
    ProcessTable table(files);
    constexpr std::uint32_t kCount = 40'000;
    for (std::uint32_t i = 0; i < kCount; ++i) {
        table.take(record(SideBandRecord::Kind::exec, i, kParent + i));
        table.take(mapped(i, kParent + i, 7));
        table.take(record(SideBandRecord::Kind::exit, i, kParent + i));
    }
    const std::uint32_t oldest = kParent + kCount - (32u << 10);
    BOOST_TEST(table.find(kParent + kCount - 1, 0x1010).has_value());
    BOOST_TEST(table.find(oldest, 0x1010).has_value());
    BOOST_TEST(!table.find(oldest - 1, 0x1010).has_value());
    BOOST_TEST(!table.find(kParent, 0x1010).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
