#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/glob.h"
#include "bt/types/world.h"

namespace gpufs::bt::test {

// A World with "struct sample { long number; char text[8]; }", its typedef sample_t, "struct other
// { int a; }", "enum samples { SAMPLE_ONE = 1 }", the function "struct sample *sample_call(int
// count, struct sample *of)", which has an address as a symbol, too, a raw tracepoint of the same
// arguments, and the events that a test adds.
class SampleWorld : public World {
public:
    SampleWorld() {
        structures_["sample"] = structure(
            "sample", 16,
            {{"number", integer_type(8, true), 0, 0, 0}, {"text", string_type(8), 8, 0, 0}});
        structures_["other"] = structure("other", 4, {{"a", integer_type(4, true), 0, 0, 0}});
    }
    bool is_recording() override { return false; }
    void add(EventFormat event) {
        const std::string name = event.full_name();
        events_.emplace(name, std::move(event));
    }

    const EventFormat* event(const std::string& full_name) override {
        const auto found = events_.find(full_name);
        return found == events_.end() ? nullptr : &found->second;
    }
    std::vector<std::string> events(const std::string& pattern) override {
        std::vector<std::string> names;
        for (const auto& [name, event] : events_)
            if (glob_match(pattern, name)) names.push_back(name);
        return names;
    }
    std::vector<std::string> functions(const std::string&) override { return {"sample_call"}; }
    UserFiles user_files(const std::string& file) override { return {{file}, "", ""}; }
    bool has_processes() override { return false; }
    std::vector<std::string> user_functions(const std::string&, const std::string&) override {
        return {"main"};
    }
    UserLine user_line(const std::string& file, const std::string&, std::uint64_t) override {
        return {{}, file + " has no debug information", ""};
    }
    UserFunction user_function(const std::string& file, const std::string&) override {
        return {{}, file + " has no debug information", ""};
    }
    TypePtr find_user_type(const std::string&, const std::string&) override { return nullptr; }
    std::shared_ptr<const Structure> user_structure(std::size_t) override { return nullptr; }
    bool has_types() override { return true; }
    TypePtr find_type(const std::string& name) override {
        if (name == "samples") {
            Type type = *integer_type(4, false);
            type.name = "samples";
            type.words = {{1, "SAMPLE_ONE"}};
            return std::make_shared<const Type>(std::move(type));
        }
        const auto found = find_structure(name == "sample_t" ? "sample" : name);
        if (!found) return nullptr;
        Type type = *structure_type(found->name);
        type.bytes = found->bytes;
        type.structure = found;
        return std::make_shared<const Type>(std::move(type));
    }
    std::shared_ptr<const Structure> find_structure(const std::string& name) override {
        const auto found = structures_.find(name);
        return found == structures_.end() ? nullptr : found->second;
    }
    std::optional<Enumerator> enumerator(const std::string& name) override {
        // The second is also a word of the language.
        return name == "SAMPLE_ONE" || name == "pid" ? std::optional(Enumerator{1}) : std::nullopt;
    }
    std::optional<std::vector<Type::Field>> parameters(const std::string& function) override {
        if (function != "sample_call") return std::nullopt;
        auto fields = *raw_tracepoint("sample_event");
        fields.push_back({"retval", fields.back().type, 16, 0, 0});
        return fields;
    }
    std::optional<std::vector<Type::Field>> raw_tracepoint(const std::string& event) override {
        if (event != "sample_event") return std::nullopt;
        return std::vector<Type::Field>{
            {"count", integer_type(4, true), 0, 0, 0},
            {"of", pointer_type(structure_type("sample"), Space::kernel), 8, 0, 0}};
    }
    std::optional<std::uint64_t> kernel_symbol(const std::string& name) override {
        if (name != "sample_call") return std::nullopt;
        return 0xffffffff81000000;
    }
    std::optional<std::uint64_t> cgroup_id(const std::string& path) override {
        return path == "/sample" ? std::optional<std::uint64_t>(7) : std::nullopt;
    }
    std::optional<UserSymbol> user_symbol(const std::string&, const std::string& name) override {
        return name == "main" ? std::optional(UserSymbol{0x1000, 4}) : std::nullopt;
    }
    std::optional<UserPlace> user_function_at(const std::string&, std::uint64_t address) override {
        if (address < 0x1000 || address >= 0x1004) return std::nullopt;
        return UserPlace{"main", address - 0x1000};
    }
    // sample:probe is at two places.
    std::vector<StaticProbe> static_probes(const std::string&, const std::string&,
                                           const std::string& name) override {
        if (name != "probe") return {};
#if defined __aarch64__
        constexpr const char* kOperands[] = {
            "-4@w0 8@[x29, -16] 1@7 8@[x0, x1, lsl 2] 8@global(%rip)",
            "-4@w1 8@[sp] 1@8 8@[x2, 16] 4f@d0"};
#else
        constexpr const char* kOperands[] = {
            "-4@%edi 8@-16(%rbp) 1@$7 8@8(%rax,%rcx,4) 8@global(%rip)",
            "-4@%esi 8@(%rsp) 1@$8 8@16(%rdx) 4f@%xmm0"};
#endif
        return {{"sample", "probe", parse_static_arguments(kOperands[0])},
                {"sample", "probe", parse_static_arguments(kOperands[1])}};
    }

private:
    static std::shared_ptr<const Structure> structure(std::string name, std::size_t bytes,
                                                      std::vector<Type::Field> fields) {
        auto made = std::make_shared<Structure>();
        made->name = std::move(name);
        made->bytes = bytes;
        made->fields = std::move(fields);
        return made;
    }

    std::map<std::string, std::shared_ptr<const Structure>> structures_;
    std::map<std::string, EventFormat> events_;
};

}  // namespace gpufs::bt::test
