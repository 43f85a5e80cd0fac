#include "lang/event/made_format.h"

#include <algorithm>

#include "base/cat.h"

namespace gpufs {
namespace {

constexpr std::string_view kCommonFields =
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

}  // namespace

std::size_t MadeFields::add(std::string_view declaration, std::size_t size, bool is_signed) {
    const bool is_one = size == 1 || size == 2 || size == 4 || size == 8;
    const bool is_text = declaration.starts_with("char ");
    const std::size_t step = is_text ? 1 : is_one ? size : 8;
    const std::size_t at = (end_ + step - 1) / step * step;
    text_ += cat("\tfield:", declaration, ";\toffset:", at, ";\tsize:", size,
                 ";\tsigned:", is_signed ? 1 : 0, ";\n");
    end_ = at + size;
    return at;
}

std::string made_format(std::string_view name, int id, const MadeFields& fields,
                        std::string_view print) {
    return made_format(name, id, fields.text(), print);
}

std::string made_format(std::string_view name, int id, std::string_view fields,
                        std::string_view print) {
    return cat("name: ", name, "\nID: ", id, "\nformat:\n", kCommonFields, fields,
               "\nprint fmt: ", print, "\n");
}

std::string kernel_stack_format(int id) {
    MadeFields fields;
    fields.add("int size", 4, true);
    fields.add("unsigned long caller[8]", 64, false);
    return made_format("kernel_stack", id, fields, "\"\"");
}

std::string user_stack_format(int id) {
    MadeFields fields;
    fields.add("unsigned int tgid", 4, false);
    fields.add("unsigned long caller[8000]", 64000, false);
    return made_format("user_stack", id, fields, "\"\"");
}

}  // namespace gpufs
