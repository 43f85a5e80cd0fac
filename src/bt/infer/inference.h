#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bt/types/constants.h"
#include "bt/types/functions.h"
#include "bt/types/typed.h"

// The stages of infer_types(). Private to this folder.
namespace gpufs::bt {

// What the stages share.
struct InferenceInput {
    const Script& script;
    World& world;
    const TypeTable& table;
    const TypeOptions& options;
    Diagnostics& mistakes;
    std::vector<PlacedMessage>& warnings;

    // Once, of however many instances.
    void warn(const SourceRef& at, std::string_view message) const {
        PlacedMessage made = place_message(script.sources.at(at.source), at.span, message);
        if (std::ranges::find(warnings, made) == warnings.end())
            warnings.push_back(std::move(made));
    }
    // Once, of however many instances.
    void complain(const SourceRef& at, std::string_view message, std::string_view hint = {}) const {
        Diagnostics one;
        one.error(script.sources.at(at.source), at.span, message, hint);
        mistakes.add(one);
    }
};

// Splits the probes for their targets: patterns of tracepoints are expanded, and targets are apart
// where the block asks which one it is, or for what only one has.
std::deque<Instance> split_probes(const InferenceInput& input);

// Says of each variable which one it is. A variable belongs to the block that first assigns it; one
// that is also used outside of that block belongs to the whole probe.
void resolve_variables(Instance& instance, const InferenceInput& input);

// Goes through all instances again and again until no type changes.
class Inference {
public:
    Inference(const InferenceInput& input, Typed& typed) : in_(input), typed_(typed) {}
    void run();

private:
    // Visits all until nothing more is found out.
    void find_types();
    void visit(Instance& instance);
    void visit(const Block& block);
    void visit(const Stmt& stmt);
    void assign(const Stmt& stmt);
    void assign_aggregation(const Stmt& stmt, const Expr& call, const FunctionRow& row);
    void visit_for(const Stmt& stmt);
    std::optional<bool> decided_branch(const Stmt& stmt);
    void declare(const Stmt& stmt);
    void put(TypedMap& map, const SourceRef& at, const TypePtr& type);
    void put(Variable& variable, const SourceRef& at, const TypePtr& type,
             const Expr* value = nullptr);
    void check_fits(const Type& type, const Expr& value);

    // Null where it is not known yet. The function below finds it out.
    TypePtr type_of(const Expr& expr);
    TypePtr find_type(const Expr& expr);
    TypePtr type_of_identifier(const Expr& expr);
    TypePtr type_of_builtin(const Expr& expr, bool& is_known);
    TypePtr type_of_argument(const Expr& expr, std::size_t number);
    TypePtr type_of_static_argument(const Expr& expr, std::size_t number);
    TypePtr type_of_map(const Expr& expr);
    TypePtr type_of_member(const Expr& expr);
    std::vector<std::string> names_of_args() const;
    TypePtr type_of_args(const Expr& expr);
    TypePtr type_of_args_member(const Expr& expr);
    TypePtr type_of_index(const Expr& expr);
    TypePtr type_of_unary(const Expr& expr);
    TypePtr type_of_binary(const Expr& expr);
    TypePtr truth_of(const Type& a, const Type& b) const;
    bool grows_beyond_int64(const Expr& expr, const Type& a, const Type& b) const;
    void check_index(const Expr& at, std::uint64_t size);
    bool is_of_mixed_signs(const Expr& expr, const Type& a, const Type& b) const;
    TypePtr type_of_comparison(const Expr& expr, const TypePtr& a, const TypePtr& b);
    TypePtr type_of_increment(const Expr& expr);
    TypePtr type_of_ternary(const Expr& expr);
    TypePtr type_of_cast(const Expr& expr);
    TypePtr type_of_tuple(const Expr& expr);
    TypePtr type_of_call(const Expr& expr);
    TypePtr type_of_function(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_task_id(const Expr& expr);
    TypePtr type_of_stack(const Expr& expr, bool is_user);

    // Of calls of functions, by the rules in functions.cc. The arguments were checked as far as
    // their row tells.
    struct Rule;
    TypePtr type_of_output(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_element_call(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_len(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_str(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_buf(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_strncmp(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_strcap(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_strstr(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_concat(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_memcmp(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_default_length(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_kernel_symbol(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_user_symbol(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_cpu_symbol(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_register(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_bswap(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_pointer(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_clock(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_address_text(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_pton(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_stack(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_signal(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_write_user(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_path(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_socket_cookie(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_override(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_kernel_function(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_assertion(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_decision(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_aggregation(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_hist(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_lhist(const Expr& expr, const FunctionRow& row);
    TypePtr type_of_series(const Expr& expr, const FunctionRow& row);

    void check_arguments(const Expr& expr, const FunctionRow& row);
    // Complains where an argument is no number; pointers are numbers here.
    TypePtr number_argument(const Expr& call, std::size_t which);
    void check_output(const Expr& expr, const FunctionRow& row);
    void check_format(const Expr& expr);
    void check_print(const Expr& expr);
    void check_map_argument(const Expr& expr);
    // Complains of a function that is for maps with keys only.
    bool requires_keys(const Expr& call, const TypedMap& map);
    bool has_elements(const Expr& call, const Expr& map);
    TypePtr resolve(const TypeName& name);
    // A structure that is known by its name, with what is in it, and in what is in it.
    TypePtr whole(const TypePtr& type);
    // The value of a type read from memory: texts get the room that they need in ours.
    TypePtr as_value(TypePtr type) const;
    // The key's type of `@x[KEYS]`; merges it into the map's.
    void add_key(TypedMap& map, const Expr& expr);
    void add_key(TypedMap& map, const SourceRef& at, const std::vector<ExprPtr>& keys,
                 std::size_t first = 0);

    TypedMap& map_of(const Expr& expr);
    void complain(const SourceRef& at, std::string_view message, std::string_view hint = {}) {
        if (is_final_) in_.complain(at, message, hint);
    }
    // Complains of a constant operator whose result does not fit.
    void check_folds(const Expr& expr);
    std::optional<std::int64_t> constant(const Expr& expr) const {
        return constant_of(expr, *instance_, in_.table);
    }

    const InferenceInput& in_;
    Typed& typed_;
    Instance* instance_ = nullptr;
    bool is_changed_ = false, is_final_ = false;
    // An operand without a type is like the other one: @n = @n + 1 where nothing else is put in.
    bool takes_other_operand_ = false;
    unsigned loops_ = 0;
    const Expr* aggregation_ = nullptr;  // the call that a map is assigned
    // Names of probes and functions that a function takes as texts.
    std::set<const Expr*> names_as_texts_;
    // Those that whole() made, by what the table has.
    std::map<std::shared_ptr<const Structure>, std::shared_ptr<const Structure>> wholes_;
};

// The language gives a number the smallest type with a sign that holds it.
TypePtr literal_type(std::int64_t number);
// A number or an address.
bool is_computable(const Type& type);
// For a condition of a type that is no number; empty: none.
std::string hint_for_condition(const Type& type);

}  // namespace gpufs::bt
