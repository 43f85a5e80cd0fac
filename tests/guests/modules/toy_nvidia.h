/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the toys of NVIDIA's modules and their tests share. Layouts of arguments are those of RM. */
#ifndef TOY_NVIDIA_H
#define TOY_NVIDIA_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define NV_MAJOR 195
#define NV_IOCTL(number, type) _IOWR('F', number, type)

/* RM_CONTROL: `command` with a status that the caller chooses, after so many microseconds. */
struct nv_control {
    __u32 client, object, command, flags;
    __u64 params;
    __u32 params_size, status;
};
/* RM_ALLOC, before it had rights, and since. */
struct nv_alloc {
    __u32 root, parent, object, class_id;
    __u64 params;
    __u32 params_size, status;
};
struct nv_alloc_with_rights {
    __u32 root, parent, object, class_id;
    __u64 params, rights;
    __u32 params_size, flags, status, pad;
};
struct nv_free {
    __u32 root, parent, object, status;
};
struct nv_transfer {
    __u32 command, size;
    __u64 argument;
};

#define NV_ALLOC_FREE 0x29
#define NV_CONTROL 0x2a
#define NV_ALLOC 0x2b
#define NV_CARD_INFO 200
#define NV_TRANSFER 211

/* In nv_control.object: answers with this status, or fails with EINVAL. */
#define TOY_FAILS 0xffffffff

#define UVM_MIGRATE 51

/* What is written to /dev/nvidia-uvm: one event, in the writer or in a thread of the module. */
struct toy_uvm_event {
    __u32 event; /* 6 a fault, 7 a migration */
    __u32 processor, to, cause;
    __u64 address, bytes;
    __u32 is_write, is_duplicate, in_thread, pad;
};

#ifdef __KERNEL__
/* A function that probes are set on: as a whole, with all its arguments. */
#define TOY_FUNCTION noinline __noclone __used

unsigned int nvidia_generation(void);
#endif

#endif
