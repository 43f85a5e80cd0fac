#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/printable.h"
#include "bt/types/compiled.h"
#include "bt/types/format.h"
#include "view/bt/value_text.h"

namespace gpufs::bt {

// A format of printf() and its kin with what its conversions print: parsed once, used for every
// record.
class FormatText {
public:
    // `values` are the arguments, in order. A conversion without one stands for itself.
    FormatText(std::string_view format, const std::vector<SentValue>& values);

    // Appends what a record says. As C's printf() does it, but: %s takes any value, as print()
    // shows it; %r takes a buffer (BufferForm::printable; %rx escaped, %rh digits), %gr the
    // kernel's flags of an allocation; flags and precision of what is no number are ignored but
    // '-' and a text's precision. Control characters in values that are texts, but
    // newlines and tabs, are escaped as `controls` says; those of the format stay.
    void append(std::string& out, Bytes record, const ValueWriter& writer, Controls controls) const;

private:
    struct Piece {
        std::string before;
        Conversion conversion;
        SentValue value;
        bool is_number = false;  // it is printed as one
    };
    std::vector<Piece> pieces_;
    std::string rest_;
};

}  // namespace gpufs::bt
