#pragma once

namespace gpufs {

// What bpf(2) answers to the smallest thing of its kind, as an errno: 0 when it works.

// Loads "r0 = 0; exit" as a raw tracepoint program. ENOSYS: no bpf(2) in this kernel. EPERM: this
// user may not.
int try_bpf_program();
// Makes a one-page ring buffer map (kernel 5.8 and later; EINVAL before).
int try_bpf_ring_buffer();

}  // namespace gpufs
