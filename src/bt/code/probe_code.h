#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bt/code/predicate_reads.h"
#include "bt/code/script_code.h"
#include "bt/code/value.h"
#include "bt/types/constants.h"
#include "bt/types/functions.h"
#include "bt/types/typed.h"
#include "lang/ir/ir.h"

namespace gpufs::bt {

// The code of one instance.
class ProbeCode {
public:
    ProbeCode(const Instance& instance, ScriptCode& shared);
    ProbeCode(const ProbeCode&) = delete;
    ProbeCode& operator=(const ProbeCode&) = delete;

    // The code for this kernel; where it depends on what the kernel has, with guards.
    std::vector<CodeItem> compile();
    // What compile() had before registers were assigned, as text.
    std::string ir_text() const { return code_.to_text(); }

private:
    // Where values lie: all on the stack, small ones that fit there, or large ones in a frame.
    enum class Memory { whole_stack, stack, frame };
    // Nothing where that does not do.
    std::vector<CodeItem> compile_once(Memory memory, std::string_view label_prefix);
    // The variables that must have an address, as functions of loops reach them, or the script
    // takes it. The others stay in registers, where the verifier knows their values.
    std::set<std::size_t> variables_in_memory() const;
    bool has_deep_calls() const;
    void place_variables();
    // Jumps to the label for hits of processes that are not wanted.
    void filter_pids(ir::Label otherwise);

    // Statements.
    void emit(const Block& block);
    void emit(const Stmt& stmt);
    void emit_assign(const Stmt& stmt);
    void emit_expression(const Expr& expr);
    void emit_aggregation(const Expr& target, const Expr& call, const FunctionRow& row);
    void emit_if(const Stmt& stmt);
    void emit_while(const Stmt& stmt);
    void emit_unroll(const Stmt& stmt);
    void emit_for_range(const Stmt& stmt);
    void emit_called_range(const Stmt& stmt);
    void emit_for_map(const Stmt& stmt);
    // Whether the body of the loop is a function that the kernel calls.
    bool is_called(const Stmt& stmt) const;
    class LoopFunction;
    void set_variable(std::size_t which, const Value& value);
    // `before op operand`, as the type of `before`. `at` is what a division by 0 is told of.
    ir::Operand arithmetic(BinaryOp op, ir::Type type, ir::Operand a, ir::Operand b,
                           const Expr& at);
    Value computed(BinaryOp op, const Value& before, ir::Operand operand, const Expr& at);

    // Expressions.
    Value eval(const Expr& expr);
    Value find_value(const Expr& expr);
    // Of a scalar: its number, extended from its type.
    ir::Operand number(const Expr& expr);
    ir::Operand number(const Value& value);
    // The value as it is now, in a place of its own where what is evaluated after it assigns where
    // it lies.
    Value kept(Value value, std::span<const ExprPtr> later);
    // Jumps to the label where the condition is false; falls through where it is true.
    void unless(const Expr& condition, ir::Label otherwise);
    Value eval_identifier(const Expr& expr);
    Value eval_builtin(const Expr& expr);
    Value eval_stack(const TypePtr& type);
    Value eval_func(const Expr& expr, const TypePtr& type);
    void emit_function(const Expr& call);
    Value eval_variable(std::size_t which);
    Value eval_member(const Expr& expr);
    Value eval_args_member(const Expr& expr);
    Value eval_index(const Expr& expr);
    Value eval_own_index(const Value& of, const Expr& index, std::size_t stride,
                         const TypePtr& element);
    Value eval_unary(const Expr& expr);
    Value eval_binary(const Expr& expr);
    Value eval_truth(const Expr& expr);
    Value eval_increment(const Expr& expr);
    Value eval_ternary(const Expr& expr);
    Value eval_cast(const Expr& expr);
    Value eval_tuple(const Expr& expr);
    Value eval_call(const Expr& expr);
    class Calls;
    Value field_at(const Value& of, const Type::Field& field);
    Value bit_field_at(const Value& of, const Type::Field& field);
    // Up to 8 bytes of a structure as a number, and no byte behind them.
    ir::Temp bytes_at(const Value& of, std::size_t offset, std::size_t count);
    // The same of the program's own memory.
    ir::Temp bytes_of(const Local& from, std::size_t count);
    Value remote_value(ir::Temp address, Space space, const TypePtr& type);
    ir::Temp argument_number(std::size_t number);
    ir::Temp register_value(const std::string& name, const SourceRef& at);
    ir::Temp context_word(std::size_t offset);
    ir::Operand user_mode();
    Value parameter_value(const Type::Field& field, const SourceRef& at);
    Value eval_context_member(const Expr& expr);

    // Whether two texts are equal up to `limit` bytes: jumps to the label where they are not.
    void unless_equal(const Value& a, const Value& b, ir::Label otherwise,
                      std::size_t limit = SIZE_MAX);
    void unless_equals_literal(const Value& text, std::string_view literal, ir::Label otherwise,
                               std::size_t limit);
    void unless_same_bytes(const Local& a, const Local& b, std::size_t bytes, ir::Label otherwise);

    // Memory.
    Local allocate(std::size_t bytes);
    Local allocate_in_frame(std::size_t bytes);
    ir::Temp address_of(const Local& local);
    // Of what a value points to, where it is a pointer or number; else of the value itself.
    ir::Temp address_of(const Value& value);
    Space space_of(const Value& value) const;
    void zero(const Local& at, std::size_t bytes);
    void copy(const Local& from, const Local& to, std::size_t bytes);
    // As append_read(): of the kernel or of the task; zeros where it cannot be read, which is told
    // if that is asked for.
    ir::Temp read(const Local& to, ir::Operand bytes, ir::Temp from, Space space);
    void read_text(const Local& to, std::size_t bytes, const Value& text, TextEnd end);
    // The value as bytes of a type that holds it, in memory of its own or where it is.
    Local in_memory(const Value& value, const TypePtr& as);
    // Puts the value there, as that type.
    void put(const Value& value, const TypePtr& as, const Local& to, TextEnd end = TextEnd::exact);
    void put_text(const Value& value, std::size_t bytes, const Local& to, TextEnd end);
    void put_literal(std::string_view text, std::size_t bytes, const Local& to);
    void put_task_name(std::size_t bytes, const Local& to, TextEnd end);
    Value load(const Local& from, const TypePtr& type);

    // Maps.
    const TypedMap& map_of(const Expr& expr);
    // Where the key of an element lies. Of a value that has an address: nowhere.
    using Key = std::optional<Local>;
    Key key_of(const TypedMap& map, const std::vector<ExprPtr>& keys, std::size_t first,
               std::size_t extra = 0);
    ir::Temp map_symbol(const TypedMap& map);
    Value eval_map(const Expr& expr);
    // The address of the value that has one.
    ir::Temp value_address(const TypedMap& map);
    void update(const TypedMap& map, const Key& key, const Value& value);
    void add_to(const TypedMap& map, const Key& key, ir::Operand value);
    void add_to_slot(const TypedMap& map, const Key& key, ir::Temp slot);
    ir::Temp histogram_slot(const TypedMap& map, ir::Operand value);
    ir::Operand series_time();
    // `asked` is told of where there is none, if that is asked for; null: by nobody.
    Value eval_element(const TypedMap& map, const Key& key, const Expr* asked = nullptr);
    // The number that an aggregation's element at an address stands for.
    Value aggregated(const Type& type, ir::Temp entry);

    // What the reader does.
    class Output;
    // A helper of the kernel returned this.
    void tell_failure(const Expr& expr, const char* helper, ir::Operand result);
    ir::Temp told_read(Space space, bool is_text, ir::Temp result);
    // At the begin of a record's bytes.
    void put_record_id(const std::string& record, const Local& to);
    // Sends the record that lies there; what the kernel says of it.
    ir::Temp send(const Local& at, std::size_t bytes);
    // Where the program calls exit(): jumps to the label once it was called.
    void stop_after_exit(ir::Label otherwise);

    TypePtr type_of(const Expr& expr) const { return instance_.types.at(&expr); }
    std::optional<std::int64_t> constant(const Expr& expr) const {
        return constant_of(expr, instance_, shared_.table());
    }
    [[noreturn]] void fail(const SourceRef& at, const std::string& message,
                           std::string_view hint = {}) const;

    const Instance& instance_;
    ScriptCode& shared_;
    ir::Code code_;
    std::optional<ir::Temp> context_, frame_;
    // Where return goes, and where exit() does: they differ within functions.
    std::optional<ir::Label> out_, end_;
    std::size_t functions_ = 0;  // that are open
    bool has_frame_ = false, wants_frame_ = false;
    bool has_whole_stack_ = false;
    bool has_callbacks_ = true, has_called_range_ = false;
    std::size_t stack_bytes_ = 0, frame_bytes_ = 0;
    std::vector<VariablePlace> variables_;
    std::vector<Loop> loops_;
    PredicateReads predicate_reads_;
    std::unordered_map<const Expr*, Value> read_;  // what reads of elements gave
    std::unordered_map<const Expr*, std::string> records_;
    std::map<std::pair<const Expr*, std::string_view>, std::string> failures_;  // with the helper
    // What a read that fails is told of: the expression at hand; null in between.
    const Expr* asked_ = nullptr;
};

}  // namespace gpufs::bt
