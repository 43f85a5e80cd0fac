#pragma once

#include "bt/code/probe_code.h"

namespace gpufs::bt {

// The value of a call in a program's code. The functions whose calls are sent to the reader, and
// have none, are Output's.
class ProbeCode::Calls {
public:
    Calls(ProbeCode& program, const Expr& call)
        : in_(program), code_(program.code_), call_(call), type_(program.type_of(call)) {}

    // Nothing where the function has none.
    std::optional<Value> value(Fn function);
    // pid(init): as the initial namespace knows the task, wherever gpufs runs.
    Value initial_id();

private:
    // One each, of its name.
    Value delete_();
    Value has_key();
    Value len();
    Value stack_depth();
    Value str();
    Value buf();
    Value strncmp();
    Value strcontains();
    Value strlen();
    Value strstr();
    Value str_concat();
    Value memcmp();
    Value strftime();
    Value usym();
    Value kaddr();
    Value uaddr();
    Value percpu_kaddr();
    Value reg();
    Value bswap();
    Value nsecs();
    Value ntop();
    Value pton();
    Value macaddr();
    Value stack();
    Value cgroupid();
    Value write_user();
    Value path();
    Value socket_cookie();
    // The number as it is: of another type, or with a name that the reader finds.
    Value same_number();

    struct Rule;
    const Expr& argument(std::size_t i) const { return *call_.operands[i]; }
    // 1, or 0 where the test jumps to the label that it is given.
    template <class Test>
    Value truth(Test&& test) {
        const ir::Temp result = code_.new_temp(ir::kU8);
        const ir::Label is_false = code_.new_label();
        code_.assign(result, 0);
        test(is_false);
        code_.assign(result, 1);
        code_.bind(is_false);
        return number_value(result, type_);
    }
    ir::Temp text_length(const Value& text);
    // Where in a text another one begins; -1: nowhere.
    ir::Temp place_in(const Value& text, const Value& part);
    ir::Temp place_in(const Value& text, const Local& at, std::string_view part);

    ProbeCode& in_;
    ir::Code& code_;
    const Expr& call_;
    const TypePtr type_;
};

}  // namespace gpufs::bt
