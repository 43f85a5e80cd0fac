#define BOOST_TEST_DYN_LINK
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/exports/exports.h"
#include "support/parquet.h"
#include "support/run_gpufs.h"
#include "support/temp_folder.h"

namespace gpufs {
namespace {

namespace ut = boost::unit_test;
using test::ParquetTable;
using test::TempFolder;

// The one file of a table below the folder; empty if there is none.
std::string file_of(const TempFolder& folder, const std::string& table) {
    std::string found;
    if (!std::filesystem::exists(folder / table)) return found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / table))
        if (entry.is_regular_file()) {
            BOOST_TEST(found == "");
            found = entry.path().string();
        }
    return found;
}

void export_tables(const std::string& recording, const TempFolder& folder) {
    const test::Ended ended =
        test::gpufs({"export", recording, "--parquet", folder.path().string()});
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(ended.out == "");
}

std::uint64_t us_of(const std::optional<std::string>& ns) {
    return ns ? std::stoull(*ns) / 1000 : 0;
}

test::ShownJobs jobs_of_table(const ParquetTable& table) {
    test::ShownJobs all;
    for (std::size_t i = 0; i < table.rows; ++i) {
        test::ShownJob job;
        job.device = *table["device"][i];
        job.ring = *table["ring"][i];
        job.comm = *table["comm"][i];
        job.queued = us_of(table["queued_ns"][i]);
        job.ran = us_of(table["run_ns"][i]);
        job.done = us_of(table["done_ns"][i]);
        if (*table["dropped"][i] == "1") job.how = "given up";
        all.insert(job);
    }
    return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cli)
BOOST_AUTO_TEST_SUITE(export_command, *ut::label("pure"))

BOOST_DATA_TEST_CASE(parquet_has_every_record_with_its_fields,
                     ut::data::make({"drm-6.17", "sched-6.18", "amdgpu-6.12", "stack-6.18"}),
                     name) {
    const TempFolder folder;
    export_tables(test::recording_path(name), folder);
    const ParquetTable table = test::read_parquet(read_file(file_of(folder, "events")));
    const std::vector<test::Json> records = test::reported(test::recording_path(name));
    BOOST_REQUIRE(table.rows == records.size());
    for (std::size_t i = 0; i < table.rows; ++i) {
        const test::Json& record = records[i];
        BOOST_TEST(*table["time_ns"][i] == cat(test::ns_of(record["time"].text)));
        BOOST_TEST(*table["cpu"][i] == record["cpu"].text);
        BOOST_TEST(*table["event"][i] == record["event"].text);
        if (!record.members.contains("fields")) continue;
        for (const auto& [field, value] : record["fields"].members) {
            if (value.kind == test::Json::Kind::array) continue;
            bool is_there = false;
            for (const char* const suffix : {"", "_text", "_signed", "_unsigned"}) {
                const std::string column = cat("arg_", field, suffix);
                if (table.columns.contains(column) && table[column][i])
                    is_there = is_there || *table[column][i] == value.text;
            }
            BOOST_TEST(is_there, cat("row ", i, ": ", field, " is not ", value.text));
        }
    }
}

BOOST_DATA_TEST_CASE(json_perfetto_and_parquet_have_the_same_jobs_with_the_same_times,
                     ut::data::make({"drm-5.10", "drm-6.12", "drm-6.17", "why-6.12"}), name) {
    const std::string path = test::recording_path(name);
    const TempFolder folder;
    export_tables(path, folder);
    const test::ShownJobs of_table =
        jobs_of_table(test::read_parquet(read_file(file_of(folder, "jobs"))));
    BOOST_TEST(of_table.size() >= 3u);
    BOOST_TEST(of_table == test::jobs_of_monitor(path), boost::test_tools::per_element());
    const test::ShownJobs of_perfetto =
        test::jobs_of_timeline(test::read_perfetto(test::exported(path, "--perfetto")));
    BOOST_TEST(of_table == of_perfetto, boost::test_tools::per_element());
}

// Both show the jobs that are found once.
BOOST_AUTO_TEST_CASE(tables_are_the_same_beside_a_timeline) {
    const std::string path = test::recording_path("drm-6.17");
    const TempFolder folder, apart;
    export_tables(path, apart);
    const std::string timeline =
        test::gpufs({"export", path, "--parquet", folder.path().string(), "--perfetto", "-"}).out;
    BOOST_TEST(timeline == test::exported(path, "--perfetto"));
    for (const char* const table : {"events", "jobs"}) {
        const std::string bytes = read_file(file_of(folder, table));
        BOOST_TEST(!bytes.empty());
        BOOST_TEST((bytes == read_file(file_of(apart, table))));
    }
}

BOOST_AUTO_TEST_CASE(tables_lie_in_folders_that_name_host_and_day) {
    const TempFolder folder;
    export_tables(test::recording_path("sched-6.18"), folder);
    const std::string file = file_of(folder, "events");
    const std::vector<std::string> parts =
        split(file.substr(folder.path().string().size() + 1), '/');
    BOOST_REQUIRE(parts.size() == 4u);
    BOOST_TEST(parts[1] == "host=vm");
    BOOST_TEST(parts[2].starts_with("date=20"));
    BOOST_TEST(parts[3].ends_with("-sched-6.18.parquet"));
    BOOST_TEST(file_of(folder, "jobs") == "");
    const ParquetTable table = test::read_parquet(read_file(file));
    BOOST_TEST(table.facts.at("machine") == "Linux vm 6.18.44-fc-v595 x86_64");
    BOOST_TEST(table.facts.at("clock") == "local");
}

// Columns are called nanoseconds.
BOOST_AUTO_TEST_CASE(tables_of_a_clock_that_counts_no_time_say_so_once) {
    const std::string note =
        "the clock 'x86-tsc' counts no nanoseconds: each count is shown as one\n";
    const std::string path = test::recording_path("tsc-6.18");
    const TempFolder folder;
    const std::string tables = folder.path().string();
    BOOST_TEST(test::gpufs({"export", path, "--parquet", tables}).err == note);
    BOOST_TEST(test::gpufs({"export", path, "--parquet", tables, "--chrome", "-"}).err == note);
    BOOST_TEST(test::gpufs({"export", path, "--csv", "-"}).err == "");
}

BOOST_AUTO_TEST_CASE(a_folder_that_cannot_be_made_is_told) {
    const test::Ended ended =
        test::gpufs({"export", test::recording_path("drm-6.17"), "--parquet", "/dev/null/tables"});
    BOOST_TEST(ended.status == 1);
    BOOST_TEST(
        ended.err.starts_with("gpufs: cannot make the folder '/dev/null/tables/events/host="),
        ended.err);
    BOOST_TEST(ended.err.ends_with("': Not a directory\n"), ended.err);
}

// Each GT's GuC numbers its queues, and each queue its jobs.
BOOST_AUTO_TEST_CASE(jobs_of_two_gts_with_one_number_are_two, *ut::label("pure")) {
    const auto event = [](int ms, const char* name, int gt, const std::string& more = {}) {
        return cat("  game-150   [000]  20.", ms, "000: ", name, ": dev=1 fence=", 4096 + gt,
                   " guc_id=5 seqno=1 gt_id=", gt, " class=0", more, '\n');
    };
    std::string text;
    for (const int gt : {0, 1}) text += event(100 + 10 * gt, "xe_sched_job_exec", gt);
    for (const int gt : {0, 1}) {
        text += event(200 + 10 * gt, "xe_sched_job_run", gt);
        text += event(201 + 10 * gt, "xe_exec_queue_submit", gt, " width=1 guc_state=0 flags=0");
    }
    for (const int gt : {0, 1}) text += event(300 + 10 * gt, "xe_hw_fence_signal", gt);
    const TempFolder folder;
    std::ofstream(folder / "trace.txt") << text;
    export_tables((folder / "trace.txt").string(), folder);
    const ParquetTable table = test::read_parquet(read_file(file_of(folder, "jobs")));
    BOOST_TEST_REQUIRE(table.rows == 2u);
    BOOST_TEST(table["done_ns"][0].value_or("none") == "20300000000");
    BOOST_TEST(table["done_ns"][1].value_or("none") == "20310000000");
}

// The engine of a queue whose making is not recorded is told as its first job runs.
BOOST_AUTO_TEST_CASE(a_ring_is_known_that_is_told_when_the_job_runs, *ut::label("pure")) {
    const TempFolder folder;
    std::ofstream(folder / "trace.txt")
        << "  game-150   [000]  20.100000: xe_sched_job_exec: dev=1 fence=4096 guc_id=5 seqno=1\n"
           "  game-150   [000]  20.200000: xe_sched_job_run: dev=1 fence=4096 guc_id=5 seqno=1\n"
           "  game-150   [000]  20.200001: xe_exec_queue_submit: dev=1 class=0 gt_id=0 guc_id=5 "
           "width=1 guc_state=0 flags=0\n"
           "  game-150   [000]  20.300000: xe_hw_fence_signal: dev=1 fence=4096 guc_id=5 seqno=1\n";
    export_tables((folder / "trace.txt").string(), folder);
    const ParquetTable table = test::read_parquet(read_file(file_of(folder, "jobs")));
    BOOST_TEST_REQUIRE(table.rows == 1u);
    BOOST_TEST(table["ring"][0].value_or("none") == "render gt0");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
