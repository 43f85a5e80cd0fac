#include "lang/ir/file_path.h"

#include <cerrno>
#include <optional>
#include <utility>

#include "base/cat.h"
#include "lang/ir/aggregate.h"
#include "lang/ir/feature_guard.h"
#include "lang/ir/hash.h"
#include "lang/ir/ir.h"
#include "lang/ir/read_memory.h"
#include "lang/ir/scratch.h"
#include "lang/program/file_path.h"

namespace gpufs {
namespace {

using Known = FilePathLayout;

constexpr std::uint8_t kPointerBytes = 8;
// In scratch memory: whether it is in use, then what becomes the map's value.
constexpr std::int64_t kValueAt = kPointerBytes;
// Names and mounts on the way to the root.
constexpr int kMostSteps = 40;

std::string scratch_name(std::string_view map) {
    return cat(map, ".scratch");
}

class PathWriter {
public:
    explicit PathWriter(const MapDeclaration& map)
        : map_(map), fd_(code_.argument(1)), id_(code_.new_temp(ir::kU64)) {}

    std::vector<CodeItem> write(std::string_view labels, bool has_atomics) {
        const ir::Label done = code_.new_label(), refuse = code_.new_label(),
                        release = code_.new_label();
        code_.assign(id_, 0);
        const ir::Temp file = find_file(done);
        const ir::Temp entry = member(file, "file.f_path.dentry");
        const ir::Temp mount = member(file, "file.f_path.mnt");
        identify(entry, mount);
        const ir::Slot key = code_.new_slot(kPointerBytes);
        code_.store(key, id_, ir::kU64);
        const ir::Temp known =
            code_.call(BPF_FUNC_map_lookup_elem, {map_address(), code_.address(key)});
        code_.branch(ir::Cmp::ne, ir::kU64, known, 0, done);
        const ir::Temp scratch = append_claim(code_, scratch_name(map_.name), has_atomics, refuse);
        describe(scratch, entry, mount);
        const ir::Temp status =
            code_.convert(code_.call(BPF_FUNC_map_update_elem,
                                     {map_address(), code_.address(key), plus(scratch, kValueAt),
                                      static_cast<int>(BPF_NOEXIST)}),
                          ir::kS64);
        code_.branch(ir::Cmp::eq, ir::kS64, status, 0, release);
        code_.branch(ir::Cmp::eq, ir::kS64, status, -EEXIST, release);
        append_loss(code_, refused_of(map_));
        code_.bind(release);
        append_release(code_, scratch);
        code_.bind(done);
        code_.leave(id_);
        code_.bind(refuse);
        append_loss(code_, refused_of(map_));
        code_.leave(id_);
        return code_.assemble(labels);
    }

private:
    ir::Temp map_address() {
        return code_.symbol(Relocation::to(Relocation::Kind::map, map_.name));
    }
    ir::Temp offset_of(const char* path) {
        return code_.symbol(Relocation::to(Relocation::Kind::btf_offset, path));
    }
    ir::Temp plus(ir::Temp address, std::int64_t bytes) {
        return code_.compute(ir::Op::add, ir::kU64, address, bytes);
    }

    // 0 where it cannot be read.
    ir::Temp read(ir::Temp at, std::uint8_t bytes = kPointerBytes) {
        const ir::Slot slot = code_.new_slot(kPointerBytes);
        code_.store(slot, 0, ir::kU64);
        append_read(code_, Space::kernel, code_.address(slot), bytes, at);
        return code_.load(slot, ir::kU64);
    }
    ir::Temp member(ir::Temp structure, const char* path, std::uint8_t bytes = kPointerBytes) {
        return read(code_.compute(ir::Op::add, ir::kU64, structure, offset_of(path)), bytes);
    }

    ir::Temp find_file(ir::Label none) {
        const ir::Temp fd = code_.convert(fd_, ir::kU32);
        const ir::Temp task = code_.call(BPF_FUNC_get_current_task, {});
        const ir::Temp table = member(member(task, "task_struct.files"), "files_struct.fdt");
        code_.branch(ir::Cmp::ge, ir::kU64, fd, member(table, "fdtable.max_fds", 4), none);
        const ir::Temp file =
            read(code_.compute(ir::Op::add, ir::kU64, member(table, "fdtable.fd"),
                               code_.compute(ir::Op::mul, ir::kU64, fd, kPointerBytes)));
        code_.branch(ir::Cmp::eq, ir::kU64, file, 0, none);
        return file;
    }

    void mix(ir::Temp word) { append_mix(code_, id_, word); }

    // Two files of one name may come after one another, and are one path. A file outside of
    // directories has no name of its own.
    void identify(ir::Temp entry, ir::Temp mount) {
        const ir::Label is_attached = code_.new_label();
        const ir::Temp parent = member(entry, "dentry.d_parent");
        mix(parent);
        mix(member(entry, "dentry.d_name.hash_len"));
        mix(mount);
        mix(is_removed(entry));
        code_.branch(ir::Cmp::ne, ir::kU64, parent, entry, is_attached);
        mix(member(member(entry, "dentry.d_inode"), "inode.i_ino"));
        code_.bind(is_attached);
        code_.assign(id_, code_.compute(ir::Op::bit_or, ir::kU64, id_, 1));  // 0 is no file
    }

    // Known::removed or 0: the kernel finds it in no directory (d_unhashed()).
    ir::Temp is_removed(ir::Temp entry) {
        const ir::Temp flag = code_.new_temp(ir::kU64);
        const ir::Label is_there = code_.new_label();
        code_.assign(flag, 0);
        code_.branch(ir::Cmp::ne, ir::kU64, member(entry, "dentry.d_hash.pprev"), 0, is_there);
        code_.assign(flag, std::uint64_t{Known::removed});
        code_.bind(is_there);
        return flag;
    }

    void put(ir::Temp scratch, std::size_t at, ir::Operand value, ir::Type type) {
        code_.store({scratch, kValueAt + static_cast<std::int64_t>(at)}, value, type);
    }

    void describe(ir::Temp scratch, ir::Temp file_entry, ir::Temp file_mount) {
        put(scratch, Known::kInodeAt, member(member(file_entry, "dentry.d_inode"), "inode.i_ino"),
            ir::kU64);
        put(scratch, Known::kMagicAt,
            member(member(file_entry, "dentry.d_sb"), "super_block.s_magic"), ir::kU64);
        const ir::Temp flags = code_.new_temp(ir::kU64), at = code_.new_temp(ir::kU64);
        code_.assign(flags, is_removed(file_entry));
        code_.assign(at, 0);
        walk(scratch, file_entry, file_mount, flags, at);
        put(scratch, Known::kLengthAt, at, ir::kU32);
        put(scratch, Known::kFlagsAt, flags, ir::kU32);
    }

    // From the file to the root of its mount, on from where that is mounted, and so on.
    void walk(ir::Temp scratch, ir::Temp file_entry, ir::Temp file_mount, ir::Temp flags,
              ir::Temp at) {
        const ir::Temp entry = code_.new_temp(ir::kU64), mount = code_.new_temp(ir::kU64),
                       steps = code_.new_temp(ir::kU64);
        const ir::Label again = code_.new_label(), inside = code_.new_label(),
                        is_named = code_.new_label(), next = code_.new_label(),
                        is_cut = code_.new_label(), end = code_.new_label();
        code_.assign(entry, file_entry);
        code_.assign(mount, file_mount);
        code_.assign(steps, 0);
        code_.bind(again);
        const ir::Temp root = member(mount, "vfsmount.mnt_root");
        code_.branch(ir::Cmp::ne, ir::kU64, entry, root, inside);
        const ir::Temp whole = code_.compute(ir::Op::sub, ir::kU64, mount, offset_of("mount.mnt"));
        const ir::Temp on = member(whole, "mount.mnt_parent");
        code_.branch(ir::Cmp::eq, ir::kU64, on, whole, end);
        code_.assign(entry, member(whole, "mount.mnt_mountpoint"));
        code_.assign(mount, code_.compute(ir::Op::add, ir::kU64, on, offset_of("mount.mnt")));
        code_.jump(next);
        code_.bind(inside);
        const ir::Temp parent = member(entry, "dentry.d_parent");
        code_.branch(ir::Cmp::ne, ir::kU64, parent, entry, is_named);
        // The top of a tree that is mounted nowhere. It has a name where it is the file itself.
        code_.branch(ir::Cmp::ne, ir::kU64, steps, 0, end);
        code_.assign(flags, std::uint64_t{Known::unattached});
        append_name(scratch, entry, at, end);
        code_.jump(end);
        code_.bind(is_named);
        append_name(scratch, entry, at, is_cut);
        code_.assign(entry, parent);
        code_.branch(ir::Cmp::ge, ir::kU64, at, Known::kPathBytes, is_cut);
        code_.bind(next);
        code_.assign(steps, code_.compute(ir::Op::add, ir::kU64, steps, 1));
        code_.branch(ir::Cmp::lt, ir::kU64, steps, kMostSteps, again);
        code_.bind(is_cut);
        code_.assign(flags,
                     code_.compute(ir::Op::bit_or, ir::kU64, flags, std::uint64_t{Known::cut}));
        code_.bind(end);
    }

    void append_name(ir::Temp scratch, ir::Temp entry, ir::Temp at, ir::Label unreadable) {
        const ir::Temp name = member(entry, "dentry.d_name.name");
        // For the verifier, which may have lost that `at` is less.
        const ir::Temp place = code_.compute(
            ir::Op::add, ir::kU64, plus(scratch, kValueAt + std::int64_t{Known::kNamesAt}),
            code_.compute(ir::Op::bit_and, ir::kU64, at, Known::kPathBytes - 1));
        const ir::Temp length =
            append_read_text(code_, Space::kernel, place, Known::kNameBytes, name);
        code_.branch(ir::Cmp::le, ir::kS32, length, 0, unreadable);
        code_.assign(at, code_.compute(ir::Op::bit_and, ir::kU64,
                                       code_.compute(ir::Op::add, ir::kU64, at, length),
                                       Known::kPathBytes + Known::kNameBytes - 1));
    }

    ir::Code code_;
    const MapDeclaration& map_;
    ir::Temp fd_, id_;
};

}  // namespace

std::string file_path_function(std::string_view map) {
    return cat("file_path.", map);
}

void declare_file_paths(Program& program, const std::string& name, std::uint64_t files) {
    MapDeclaration map;
    map.name = name;
    map.type = BPF_MAP_TYPE_HASH;
    map.key = Layout::of("key", integer_value(kPointerBytes));
    map.value = Layout::of("value", raw_bytes_value(Known::kBytes));
    map.max_entries = files;
    program.maps.push_back(map);
    program.maps.push_back(
        scratch_map(scratch_name(name), static_cast<std::size_t>(kValueAt) + Known::kBytes));
    declare_loss(program, refused_of(map), cat("files that found no room in '", name, "'"));

    Subprogram function;
    function.name = file_path_function(name);
    function.leaves_record_alone = true;
    for (const bool has_atomics : {true, false})
        append_guarded(function.code, PathWriter(map).write(has_atomics ? ".a" : ".b", has_atomics),
                       feature_guard(program, "atomics", has_atomics, {}));
    program.subprograms.push_back(std::move(function));
}

}  // namespace gpufs
