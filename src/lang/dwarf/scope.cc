#include "lang/dwarf/scope.h"

#include <algorithm>

#include "base/cat.h"
#include "base/text.h"
#include "lang/dwarf/numbers.h"
#include "lang/dwarf/ranges.h"

namespace gpufs {
namespace {

constexpr int kDeepestScope = 100;  // blocks in blocks; a damaged file has no end

bool is_function(const DwarfEntry& entry) {
    return entry.tag() == dw::TAG_subprogram || entry.tag() == dw::TAG_inlined_subroutine;
}
// What has functions in it, without code of its own.
bool is_surrounding(const DwarfEntry& entry) {
    switch (entry.tag()) {
        case dw::TAG_namespace:
        case dw::TAG_structure_type:
        case dw::TAG_class_type:
        case dw::TAG_union_type:
            return true;
    }
    return false;
}

// The child of an entry that an address is in; looks through namespaces and classes.
DwarfEntry child_at(const DwarfEntry& entry, std::uint64_t address, int depth) {
    DwarfEntry found;
    if (depth > kDeepestScope) return found;
    for_each_child(entry, [&](const DwarfEntry& child) {
        if (is_surrounding(child))
            found = child_at(child, address, depth + 1);
        else if (is_function(child) || child.tag() == dw::TAG_lexical_block)
            found = has_code_at(child, address) ? child : DwarfEntry{};
        return !found;
    });
    return found;
}

bool is_variable(const DwarfEntry& entry) {
    return entry.tag() == dw::TAG_variable || entry.tag() == dw::TAG_formal_parameter;
}

void add_variables(std::vector<VisibleVariable>& all, const DwarfEntry& of,
                   const DwarfEntry& scope) {
    for_each_child(of, [&](const DwarfEntry& child) {
        if (!is_variable(child)) return true;
        const std::string_view name = name_of(child);
        const bool is_hidden = std::ranges::any_of(
            all, [&](const VisibleVariable& one) { return name_of(one.entry) == name; });
        if (!name.empty() && !is_hidden) all.push_back({child, scope});
        return true;
    });
}

DwarfEntry find_variable(const DwarfEntry& in, std::string_view name, int depth) {
    DwarfEntry found, declared;
    if (depth > kDeepestScope) return found;
    const auto colons = name.find("::");
    for_each_child(in, [&](const DwarfEntry& child) {
        if (colons == name.npos && child.tag() == dw::TAG_variable && name_of(child) == name) {
            const bool is_there =
                find_inherited(child, dw::AT_location) || find_inherited(child, dw::AT_const_value);
            (is_there ? found : declared) = child;
        } else if (is_surrounding(child)) {
            const std::string_view its = name_of(child);
            // Those of a namespace without a name are seen from outside.
            if (colons != name.npos && its == name.substr(0, colons))
                found = find_variable(child, name.substr(colons + 2), depth + 1);
            else if (its.empty() && child.tag() == dw::TAG_namespace)
                found = find_variable(child, name, depth + 1);
        }
        return !found;
    });
    return found ? found : declared;
}

void visit_functions(const DwarfEntry& in, const std::function<void(const DwarfEntry&)>& visit,
                     int depth) {
    if (depth > kDeepestScope) return;
    for_each_child(in, [&](const DwarfEntry& child) {
        if (is_function(child)) {
            if (entry_address(child)) visit(child);
            visit_functions(child, visit, depth + 1);
        } else if (is_surrounding(child) || child.tag() == dw::TAG_lexical_block) {
            visit_functions(child, visit, depth + 1);
        }
        return true;
    });
}

// The path of names from below `in` to the entry; empty if it is not there.
bool find_path(const DwarfEntry& in, const DwarfEntry& entry, std::vector<std::string_view>& path,
               int depth) {
    bool found = false;
    if (depth > kDeepestScope) return false;
    for_each_child(in, [&](const DwarfEntry& child) {
        if (child == entry) return !(found = true);
        if (!is_surrounding(child)) return true;
        path.push_back(name_of(child));
        found = find_path(child, entry, path, depth + 1);
        if (!found) path.pop_back();
        return !found;
    });
    return found;
}

// What an entry, and the abstract one that it is an instance of, say where it was declared.
DwarfEntry declaration_of(DwarfEntry at) {
    constexpr int kMostLinks = 4;
    for (int level = 0; level < kMostLinks; ++level) {
        const DwarfEntry next = origin_of(at);
        if (!next) break;
        at = next;
    }
    return at;
}

}  // namespace

bool VisibleVariable::is_parameter() const {
    return entry.tag() == dw::TAG_formal_parameter;
}

std::vector<DwarfEntry> scopes_at(const DwarfEntry& root, std::uint64_t address) {
    std::vector<DwarfEntry> scopes;
    for (DwarfEntry at = root; at && scopes.size() < kDeepestScope; at = child_at(at, address, 0))
        scopes.push_back(at);
    return scopes;
}

DwarfEntry innermost_function(const std::vector<DwarfEntry>& scopes) {
    const auto found = std::find_if(scopes.rbegin(), scopes.rend(), is_function);
    return found == scopes.rend() ? DwarfEntry{} : *found;
}

DwarfEntry frame_function(const std::vector<DwarfEntry>& scopes) {
    const auto found = std::find_if(scopes.rbegin(), scopes.rend(), [](const DwarfEntry& entry) {
        return entry.tag() == dw::TAG_subprogram;
    });
    return found == scopes.rend() ? DwarfEntry{} : *found;
}

std::vector<VisibleVariable> local_variables(const std::vector<DwarfEntry>& scopes) {
    std::vector<VisibleVariable> all;
    for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
        if (scope->tag() == dw::TAG_compile_unit) break;
        add_variables(all, *scope, *scope);
        // What was optimized out has an entry only in what this is an instance of.
        if (const auto origin = find_attribute(*scope, dw::AT_abstract_origin))
            add_variables(all, entry_of(*origin), *scope);
        if (is_function(*scope)) break;
    }
    return all;
}

DwarfEntry unit_variable(const DwarfEntry& root, std::string_view name) {
    return find_variable(root, name, 0);
}

DwarfEntry source_unit(const std::vector<DwarfEntry>& scopes) {
    if (const DwarfEntry function = innermost_function(scopes))
        return root_of(*declaration_of(function).unit);
    return scopes.empty() ? DwarfEntry{} : scopes.front();
}

std::string qualified_name(const DwarfEntry& entry) {
    // The declaration is where the class is.
    const DwarfEntry at = declaration_of(entry);
    std::vector<std::string_view> path;
    if (at) find_path(root_of(*at.unit), at, path, 0);
    std::string text;
    for (const std::string_view part : path) text += cat(part.empty() ? "(anonymous)" : part, "::");
    return text + std::string(name_of(entry));
}

void for_each_function(const DwarfEntry& root,
                       const std::function<void(const DwarfEntry&)>& visit) {
    visit_functions(root, visit, 0);
}

std::optional<std::uint64_t> entry_address(const DwarfEntry& function) {
    const auto code = code_of(function);
    if (code.empty()) return std::nullopt;
    const auto entry = find_attribute(function, dw::AT_entry_pc);
    if (!entry) return code.front().begin;
    if (const auto address = address_of(*entry)) return address;
    const auto low = find_attribute(function, dw::AT_low_pc);
    const auto base = low ? address_of(*low) : code.front().begin;
    // A number counts from the function's base address.
    const auto behind = constant_of(*entry);
    return base && behind ? std::optional(*base + *behind) : code.front().begin;
}

}  // namespace gpufs
