#include "support/json_page.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <stdexcept>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"

namespace gpufs::test {
namespace {

bool take(std::string_view& text, std::string_view front) {
    if (!text.starts_with(front)) return false;
    text.remove_prefix(front.size());
    return true;
}

std::vector<std::string> split_at(std::string_view text, std::string_view between) {
    std::vector<std::string> parts;
    for (;;) {
        const std::size_t at = text.find(between);
        parts.emplace_back(text.substr(0, at));
        if (at == text.npos) return parts;
        text.remove_prefix(at + between.size());
    }
}

std::string_view word_for(Json::Kind kind) {
    constexpr std::string_view kWords[] = {"null", "boolean", "number", "text", "array", "object"};
    return kWords[static_cast<std::size_t>(kind)];
}

}  // namespace

JsonPage::JsonPage(std::string_view page) {
    std::string section, command;
    Object* object = nullptr;
    for (std::string_view line : lines_of(page)) {
        if (take(line, ".SH ")) {
            section = line;
            command.clear();
            object = nullptr;
        } else if (section == "COMMANDS" && take(line, ".B gpufs ")) {
            command = line;
        } else if (section == "COMMANDS" && !command.empty() && !line.starts_with('.')) {
            commands_[command] = split_at(line, ", ");
            command.clear();
        } else if (section == "OBJECTS" && take(line, ".SS ")) {
            object = &objects_[std::string(line)];
        } else if (object && (line.starts_with(".BR ") || line.starts_with(".IR "))) {
            const bool is_any = line.starts_with(".I");
            const std::size_t end = line.find(" \" (");
            if (end == line.npos || !line.ends_with(")\""))
                throw std::runtime_error(cat("no type: ", line));
            std::string type(line.substr(end + 4, line.size() - end - 6));
            constexpr std::string_view kOptional = ", optional";
            const bool is_optional = type.ends_with(kOptional);
            if (is_optional) type.resize(type.size() - kOptional.size());
            if (is_any)
                object->any = type;
            else
                object->members[std::string(line.substr(4, end - 4))] = {type, is_optional};
        }
    }
}

const JsonPage& JsonPage::manual() {
    static const JsonPage page(read_file("man/gpufs-json.5"));
    return page;
}

std::vector<std::string> JsonPage::commands() const {
    std::vector<std::string> names;
    for (const auto& [name, objects] : commands_) names.push_back(name);
    return names;
}

std::vector<std::string> JsonPage::objects_of(const std::string& command) const {
    const auto found = commands_.find(command);
    return found == commands_.end() ? std::vector<std::string>() : found->second;
}

std::string JsonPage::object_of(const std::string& command, const Json& line,
                                std::string& why) const {
    why.clear();
    for (const std::string& object : objects_of(command)) {
        const std::string wrong = mistake(line, object);
        if (wrong.empty()) return object;
        why += cat(object, ": ", wrong, "\n");
    }
    return {};
}

std::string JsonPage::mistake(const Json& value, std::string_view type) const {
    std::string all;
    for (const std::string& one : split_at(type, " or ")) {
        std::string wrong;
        std::string_view name = one;
        if (take(name, "array of ")) {
            if (value.kind != Json::Kind::array) wrong = "no array";
            constexpr std::string_view kAnd = " and ";
            std::string items(name);
            if (const auto at = items.find(kAnd); at != items.npos)
                items.replace(at, kAnd.size(), " or ");
            for (std::size_t i = 0; wrong.empty() && i < value.items.size(); ++i)
                if (wrong = mistake(value.items[i], items); !wrong.empty())
                    wrong = cat("[", i, "]: ", wrong);
        } else if (const auto object = objects_.find(one); object != objects_.end()) {
            wrong = value.kind == Json::Kind::object ? mistake_of(value, object->second)
                                                     : cat("no ", one);
        } else if (word_for(value.kind) != one) {
            wrong = cat(word_for(value.kind), " where the page has ", one);
        }
        if (wrong.empty()) return {};
        all += cat(all.empty() ? "" : ", ", wrong);
    }
    return all;
}

std::string JsonPage::mistake_of(const Json& value, const Object& object) const {
    for (const auto& [name, member] : object.members)
        if (!member.is_optional && !value.members.contains(name)) return cat("has no ", name);
    for (const auto& [name, one] : value.members) {
        const auto known = object.members.find(name);
        const std::string& type = known == object.members.end() ? object.any : known->second.type;
        if (type.empty()) return cat("the page has no member ", name);
        if (const std::string wrong = mistake(one, type); !wrong.empty())
            return cat(name, ": ", wrong);
    }
    return {};
}

void check_json(const std::vector<std::string>& args, const std::string& out) {
    const bool has_command = std::ranges::count(args, "--") > 0;
    for (const std::string_view line : lines_of(out)) {
        if (has_command && !line.starts_with('{')) continue;
        std::string why;
        const std::string object = JsonPage::manual().object_of(args.at(0), parse_json(line), why);
        BOOST_TEST(!object.empty(), args.at(0) << ": gpufs-json(5) has no " << line << '\n' << why);
    }
}

}  // namespace gpufs::test
