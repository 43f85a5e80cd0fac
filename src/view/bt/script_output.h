#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/loss.h"
#include "base/printable.h"
#include "engine/results/lost_counters.h"
#include "view/bt/map_text.h"
#include "view/bt/value_text.h"

namespace gpufs::bt {

// Where a statement stands, for messages.
struct OutputPlace {
    std::string text;  // "open.bt:3:5-17"
    std::string file;  // "open.bt"
    std::size_t line = 0, column = 0;
    std::string context;  // the source line and what marks the place, each with its newline
};

// What a script prints, as text or as lines of JSON. It gathers in `out` and `err`, which are to be
// written to standard output and standard error, in this order, and cleared.
class ScriptOutput {
public:
    enum class Form { text, json };
    // Borrows the writer. A script beside other programs has a name, which is then in front of each
    // of its lines and maps, and in each JSON line. `controls`: what becomes of control characters
    // in the texts that others chose (base/printable.h); a text of several lines keeps them. JSON
    // has escapes of its own.
    ScriptOutput(Form form, const ValueWriter& writer, std::string program = {},
                 Controls controls = Controls::escaped)
        : form_(form),
          controls_(form == Form::json ? Controls::raw : controls),
          writer_(writer),
          program_(std::move(program)) {}
    bool is_json() const { return form_ == Form::json; }
    // For what is formatted before it comes here: printf(), warnf() and errorf().
    Controls controls() const { return controls_; }
    // How many probes are going to be attached.
    static std::string attaching(std::uint64_t probes);

    std::string out, err;

    void printf(std::string_view text) { tell("printf", text); }
    void time(std::string_view text) { tell("time", text); }
    void cat(std::string_view text) { tell("cat", printable_lines(text, controls_)); }
    // Without a newline behind: it is added.
    void join(std::string_view text);
    // What a command of system() wrote to its standard output. As text it goes through unchanged.
    void syscall(std::string_view text) { tell("syscall", text); }
    void value(const SentValue& value, Bytes bytes);
    void map(const ScriptMap& map, std::span<const MapElement> elements, MapPart part = {});
    // The two empty lines before the maps at the end; nothing in JSON.
    void end_of_run();

    // errorf() and warnf(); a newline at the text's end is dropped.
    enum class Severity { warning, error };
    void message(Severity severity, const OutputPlace& place, std::string_view text);
    // Behind a message of a macro: a use that led there.
    void expanded_from(Severity severity, const OutputPlace& use);
    // A helper that failed: `code` is its result, a negative errno. Shows the place's context.
    void helper_error(const OutputPlace& place, std::string_view helper, std::int64_t code);
    void attached_probes(std::uint64_t probes);
    // What is missing at the end, and what else is counted of the run, if there is any of it: the
    // account for people, and the least number of losses as JSON.
    void losses(const LossLedger& losses, std::span<const Tally> tallies);

private:
    void tell(std::string_view type, std::string_view text);
    void old_helper_error(const OutputPlace& place, std::string_view helper, std::int64_t code);

    void add(std::string_view text);
    std::string type_member(std::string_view type) const;

    Form form_;
    Controls controls_;
    const ValueWriter& writer_;
    std::string program_;
    bool is_in_line_ = false;  // what add() added last has no newline at its end
};

}  // namespace gpufs::bt
