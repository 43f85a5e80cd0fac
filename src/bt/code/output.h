#pragma once

#include "bt/code/probe_code.h"

namespace gpufs::bt {

// What an expression makes the program send to the reader: most often a call, which has no value.
class ProbeCode::Output {
public:
    Output(ProbeCode& program, const Expr& call)
        : in_(program), code_(program.code_), call_(call) {}

    void emit(const FunctionRow& row);
    // print(); with a map that is cleared behind it.
    void print(bool clears = false);
    // A warning, which is told with the expression's place.
    void warn(std::string text);
    // A record of these values; what the kernel says of it.
    ir::Temp send(SentRecord record, const std::vector<const Expr*>& values);

private:
    void format(SentRecord::Kind kind);
    void print_map(const TypedMap& map, bool clears);
    void print_entry(const TypedMap& map);
    void join();
    void debug();
    void signal(int helper);
    void exit();
    // The arguments from one on.
    std::vector<const Expr*> values_from(std::size_t first) const;
    // The name of the record that the call sends.
    const std::string& name_of(SentRecord record);

    ProbeCode& in_;
    ir::Code& code_;
    const Expr& call_;
};

}  // namespace gpufs::bt
