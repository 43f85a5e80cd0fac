#pragma once

#include <linux/bpf.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/source.h"

namespace gpufs {

// The code of programs: instructions with symbolic operands, and the guards under which they are
// assembled.

// The source of a declaration or line: a span in Program::sources[source].
struct SourceRef {
    std::size_t source = 0;
    Span span;
    bool operator==(const SourceRef&) const = default;
};

// A symbolic operand of an instruction, resolved by the linker.
struct Relocation {
    enum class Kind {
        none,
        label,         // jump offset; gotol and long forms: immediate
        subprogram,    // call to a local function
        callback,      // 64-bit immediate: the address of a local function, for helpers
        map,           // 64-bit immediate: the map itself
        map_value,     // 64-bit immediate: the address of a value in an array map, plus `addend`
        field_offset,  // memory offset: of the field in the event's record
        field_size,    // immediate: bytes of the field
        parameter,     // immediate (32 or 64 bits): the parameter's value
        record_id,     // immediate: the id by which the reader recognizes a record layout
        btf_offset,    // memory offset: of a kernel structure's member, "task_struct.pid"
        constant,      // immediate: text in the string pool, `name` is its content
    };
    Kind kind = Kind::none;
    std::string name;
    std::int64_t addend = 0;
    std::optional<std::int64_t> fallback;  // for btf_offset on kernels without BTF
    SourceRef at;

    static Relocation to(Kind kind, std::string name) { return {kind, std::move(name), 0, {}, {}}; }
};

// A condition under which code is assembled (.if). Guards nest: `outer` must hold, too.
struct Guard {
    enum class Kind {
        has_field,    // the event attached to has the field `name`
        has_event,    // this kernel has the event `name`
        is_event,     // the event attached to is the alternative `name`
        has_feature,  // the kernel feature `name` ("ringbuf", "batch")
        is_raw,       // attached to a raw tracepoint: r1 points at arguments, not at fields
        is_recorded,  // it runs over a recording, which has no memory of the kernel
        has_module,   // a module is loaded: "nvidia"; of this version or a later one: "nvidia 580"
    };
    Kind kind = Kind::has_field;
    std::string name;
    bool negated = false;
    std::size_t outer = 0;  // index into Program::guards plus 1; 0: none
    SourceRef at;
};

// One line of code.
struct CodeItem {
    enum class Kind {
        insn,        // `insn`; with `imm64` if it takes two slots (64-bit immediates)
        label,       // the place `name`
        load_field,  // insn.dst_reg = the field `relocation.name` of the record at insn.src_reg,
                     // with the width and sign from its format; expands to one or more instructions
        field_address,  // insn.dst_reg = the address of the field's bytes, readable with
                        // probe_read_kernel: in the record, or where its __data_loc or __rel_loc
                        // points; for a `const char *`, the pointer itself (to user memory in
                        // syscalls events). dst_reg and src_reg must differ
        field_length,   // insn.dst_reg = the number of those bytes; not for a `const char *`
    };
    Kind kind = Kind::insn;
    bpf_insn insn{};
    std::int64_t imm64 = 0;
    std::string name;  // and of a jump whose relocation is its number: the label that it goes to
    // The instruction as text, where a line of the source says more than one ("zero v.new"); empty
    // where `at` has it.
    std::string text;
    Relocation relocation;
    std::size_t guard = 0;  // index into Program::guards plus 1; 0: always
    SourceRef at;
};

}  // namespace gpufs
