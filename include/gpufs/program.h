#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs::api {

// A parameter of a program, as its text declares it.
struct ParameterInfo {
    std::string name;           // "min_us"
    std::string unit;           // "us"; empty: a number, or a text
    std::string default_value;  // "100000"
    std::string help;
};

// A map whose contents a program reports.
struct MapInfo {
    std::string name;              // "took"
    std::string title;             // of its first report: "By ring"
    std::vector<std::string> key;  // its members: "comm", "pid"
    std::string unit;              // of what was measured: "us"; empty: a plain number
};

// A program of BPF instructions, linked for one probe of the running kernel.
struct LinkedProgram {
    std::string name;   // of the .prog in the text
    std::string probe;  // "tracepoint sched:sched_switch"
    // The kernel's struct bpf_insn, 8 bytes each, as they are loaded; where a map's file descriptor
    // belongs is the map's place in Program::all_maps().
    std::vector<std::uint64_t> instructions;
};

// A monitor: BPF programs with their maps, records and reports, made from a .bpf text; gpufs-asm(5)
// is the language. A value: copies are independent, nothing is loaded.
class Program {
public:
    // Assembles a text; `name` stands in its messages. An .include finds the shipped texts only.
    // Throws UsageError with every mistake, each with its line and a caret.
    static Program assemble(std::string text, std::string name = "program");
    // One that comes along with gpufs, or from the user's folder of monitors: "drm", "sched-wait".
    // Throws UsageError with a "did you mean".
    static Program shipped(const std::string& name);
    static std::vector<std::string> shipped_names();

    Program(const Program& other);
    Program& operator=(const Program& other);
    Program(Program&&) noexcept;
    Program& operator=(Program&&) noexcept;
    ~Program();

    const std::string& name() const;
    const std::string& summary() const;
    std::vector<ParameterInfo> parameters() const;
    // The maps that it reports, in the order of its text.
    std::vector<MapInfo> maps() const;
    // The names of all its maps, in the order of its text.
    std::vector<std::string> all_maps() const;

    // Gives a parameter a value; times and sizes may have units: set("min_us", "10ms"). Throws
    // UsageError.
    void set(const std::string& parameter, const std::string& value);
    // Its programs run only where the expression holds: "prev_state == 2". It is checked when the
    // program is linked.
    void only_if(const std::string& expression);

    // Links it for the running kernel: an entry for each program and place. Makes no map and loads
    // nothing. Throws UsageError and UnsupportedError.
    std::vector<LinkedProgram> link() const;

private:
    friend class Monitor;
    friend class Replay;
    struct State;
    explicit Program(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace gpufs::api
