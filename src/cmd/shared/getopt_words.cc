#include "cmd/shared/getopt_words.h"

#include <algorithm>

namespace gpufs {

GetoptWords::GetoptWords(Args args) : words_{"gpufs"} {
    words_.insert(words_.end(), args.begin(), args.end());
    for (std::string& word : words_) argv_.push_back(word.data());
    argv_.push_back(nullptr);
    ::optind = 0;  // glibc begins anew
    ::opterr = 0;
}

std::optional<GetoptWords::Found> GetoptWords::next(const std::string& letters,
                                                    const option* names) {
    const char* const word = argv_[static_cast<std::size_t>(std::max(::optind, 1))];
    ::optopt = 0;
    // '-': words come in their order, as texts of the code 1. ':': an option that lacks its text is
    // told apart from an unknown one.
    const int code = ::getopt_long(static_cast<int>(words_.size()), argv_.data(),
                                   ("-:" + letters).c_str(), names, nullptr);
    if (code == -1) return std::nullopt;
    const bool is_text_next =
        ::optarg && ::optarg != word && ::optarg == argv_[static_cast<std::size_t>(::optind - 1)];
    return Found{code, ::optopt, word ? word : "", ::optarg, is_text_next};
}

std::vector<std::string> GetoptWords::rest() const {
    return {argv_.begin() + ::optind, argv_.end() - 1};
}

}  // namespace gpufs
