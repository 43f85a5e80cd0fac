#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "support/json.h"

namespace gpufs::test {

// gpufs-json(5) as a schema: the objects that each command prints, and the members of each object
// with their types.
class JsonPage {
public:
    // `page` has below COMMANDS a tag "gpufs NAME" and the names of its objects, below OBJECTS a
    // subsection for each, with a tag `NAME " (TYPE)"` for each member. A TYPE is text, number,
    // boolean, null or an object; "array of" one of these, or of two kinds with "and" between them;
    // several with "or" between them;
    // ", optional" where the member may be absent. A member in italics stands for any name.
    explicit JsonPage(std::string_view page);
    // The one in man/.
    static const JsonPage& manual();

    std::vector<std::string> commands() const;
    // The objects that a command prints; none if the page does not have it.
    std::vector<std::string> objects_of(const std::string& command) const;
    // The object of the command that the line is; empty if it is none. `why` says what is wrong.
    std::string object_of(const std::string& command, const Json& line, std::string& why) const;
    // What keeps a value from having the type; empty if it has.
    std::string mistake(const Json& value, std::string_view type) const;

private:
    struct Member {
        std::string type;
        bool is_optional = false;
    };
    struct Object {
        std::map<std::string, Member> members;
        std::string any;  // the type of members of any other name; empty if there are none
    };
    std::string mistake_of(const Json& value, const Object& object) const;

    std::map<std::string, std::vector<std::string>> commands_;
    std::map<std::string, Object> objects_;
};

// Checks that each line of `out` is an object of the command that `args` run. With a COMMAND behind
// "--", lines that are no objects are taken for its output.
void check_json(const std::vector<std::string>& args, const std::string& out);

}  // namespace gpufs::test
