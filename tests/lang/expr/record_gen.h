#pragma once

// Random records of any event, with values that meet those of random conditions.

#include <algorithm>
#include <cstdint>
#include <string>

#include "lang/expr/expr.h"
#include "lang/expr/gen.h"

namespace gpufs::test {

// Who makes a record, and where.
struct RecordTask {
    std::uint32_t cpu = 0;
    std::uint32_t tid = 0;
    std::string comm;
};

inline std::string random_text(ExprGenerator& random, std::size_t most) {
    std::string text;
    for (std::size_t n = random.below(most + 1); n > 0; --n) text += "ab0*!]-\\"[random.below(8)];
    return text;
}

inline RecordTask random_task(ExprGenerator& random) {
    return {static_cast<std::uint32_t>(random.below(8)),
            static_cast<std::uint32_t>(random.below(4)), random_text(random, 15)};
}

// Some of the texts that are not arrays are longer than what patterns see.
inline RecordMaker random_record(const EventFormat& event, ExprGenerator& random,
                                 const RecordTask& task) {
    RecordMaker record(event);
    for (const Field& field : event.fields) {
        const Subject::Kind kind = find_subject(event, field.name)->kind;
        if (kind == Subject::Kind::text) {
            const bool is_long = field.is_dynamic() && random.below(8) == 0;
            const std::size_t room = field.is_dynamic() ? 6 : std::min<std::size_t>(field.size, 16);
            record.text(field.name, random_text(random, is_long ? 300 : room));
        } else if (kind == Subject::Kind::cpumask) {
            record.cpus(field.name, random.below(256));
        } else if (kind == Subject::Kind::integer) {
            const std::uint64_t all = ~std::uint64_t{0} >> (64 - field.size * 8);
            const std::uint64_t edges[] = {
                0, 1, 2, 3, all, all / 2, all / 2 + 1, random.bits() & all, 150};
            const std::uint64_t value = edges[random.below(9)] & all;
            record.number(field.name, field.type == "bool" ? value & 1 : value);
        }
    }
    if (event.find("common_pid")) record.number("common_pid", task.tid);
    if (event.find("common_type"))
        record.number("common_type", static_cast<std::uint64_t>(event.id));
    return record;
}

}  // namespace gpufs::test
