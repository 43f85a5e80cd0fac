#include "lang/probe/variable_path.h"

#include <algorithm>

#include "base/cat.h"
#include "base/scan.h"
#include "lang/probe/argument.h"

namespace gpufs {
namespace {

// Where a NAME= ends; 0 if there is none.
std::size_t name_end(std::string_view text) {
    const auto equals = text.find('=');
    if (equals == text.npos || !std::ranges::all_of(text.substr(0, equals), is_word_char)) return 0;
    return equals + 1;
}

class PathReader {
public:
    PathReader(const SourceText& source, Span at)
        : source_(source), text_(std::string_view(source.text).substr(0, at.end)), at_(at.begin) {
        made_.at = at;
    }

    VariablePath read() {
        const std::size_t named = name_end(text_.substr(at_));
        if (named > 1) made_.field = text_.substr(at_, named - 1);
        at_ += named;
        made_.expression_at.begin = at_;
        std::vector<VariablePath::Step> targets;
        for (; peek() == '*'; ++at_)
            targets.push_back({VariablePath::Step::Kind::target, {}, 0, {at_, at_ + 1}});
        variable();
        while (step()) {
        }
        made_.expression_at.end = at_;
        made_.steps.insert(made_.steps.end(), targets.begin(), targets.end());
        if (peek() == ':') {
            made_.type_at = {at_ + 1, text_.size()};
            made_.type = text_.substr(at_ + 1);
            if (made_.type.empty())
                fail({at_, at_ + 1}, "there is no type behind the ':'", "such as len:u32");
        } else if (at_ < text_.size()) {
            fail({at_, text_.size()}, cat("'", text_.substr(at_), "' is not understood here"),
                 "write names with '->', '.' and [NUMBER]: req->parts[2].len");
        }
        if (made_.field.empty()) made_.field = default_name();
        return std::move(made_);
    }

private:
    using Kind = VariablePath::Step::Kind;

    char peek(std::size_t ahead = 0) const {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }

    std::string word() {
        const std::size_t begin = at_;
        if (is_word_start(peek()))
            while (is_word_char(peek())) ++at_;
        return std::string(text_.substr(begin, at_ - begin));
    }

    void variable() {
        const std::size_t begin = at_;
        std::string part = word();
        while (!part.empty() && peek() == ':' && peek(1) == ':') {
            made_.variable += part + "::";
            at_ += 2;
            part = word();
        }
        made_.variable += part;
        made_.variable_at = {begin, at_};
        if (part.empty())
            fail({begin, std::max(begin + 1, text_.size())}, "there is no name of a variable here",
                 "such as count, req->len or table[3].name");
    }

    bool step() {
        const std::size_t begin = at_;
        VariablePath::Step made;
        if (peek() == '[') {
            const auto close = text_.find(']', at_);
            Scan scan(text_.substr(at_ + 1, close == text_.npos ? 0 : close - at_ - 1));
            const auto number = scan.take_number<std::uint32_t>();
            if (!number || !scan.at_end())
                fail({begin, close == text_.npos ? text_.size() : close + 1},
                     "an element is named by a number", "such as table[3]");
            made.kind = Kind::element;
            made.number = *number;
            at_ = close + 1;
        } else if (peek() == '.' || (peek() == '-' && peek(1) == '>')) {
            made.kind = peek() == '.' ? Kind::member : Kind::through;
            at_ += peek() == '.' ? 1 : 2;
            made.name = word();
            if (made.name.empty())
                fail({begin, std::max(begin + 1, at_)}, "there is no name of a member behind it",
                     "such as req->len");
        } else {
            return false;
        }
        made.at = {begin, at_};
        made_.steps.push_back(std::move(made));
        return true;
    }

    // The last member's, with the numbers of elements behind it: "parts_2".
    std::string default_name() const {
        std::string name = made_.variable.substr(made_.variable.rfind(':') + 1);
        for (const VariablePath::Step& one : made_.steps)
            if (one.kind == Kind::element)
                name += cat('_', one.number);
            else if (one.kind != Kind::target)
                name = one.name;
        if (name.size() > kLongestArgumentName) name.resize(kLongestArgumentName);
        return name;
    }

    [[noreturn]] void fail(Span at, std::string_view message, std::string_view hint) const {
        throw SourceError(source_, at, message, hint);
    }

    const SourceText& source_;
    std::string_view text_;
    std::size_t at_;
    VariablePath made_;
};

}  // namespace

std::string VariablePath::to_text(const SourceText& source) const {
    return source.text.substr(expression_at.begin, expression_at.end - expression_at.begin);
}

bool is_variable_path(std::string_view argument) {
    const std::string_view fetch = argument.substr(name_end(argument));
    return !fetch.empty() && (is_word_start(fetch[0]) || fetch[0] == '*');
}

VariablePath parse_variable_path(const SourceText& source, Span at) {
    return PathReader(source, at).read();
}

}  // namespace gpufs
