/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What /dev/toy_gpu understands. A file is a client: it has a queue on each ring, and its jobs. */
#ifndef TOY_GPU_H
#define TOY_GPU_H

#include <linux/ioctl.h>
#include <linux/types.h>

enum toy_ring { TOY_GFX, TOY_COMPUTE, TOY_SDMA, TOY_RINGS };

#define TOY_NO_RING (~0u)

struct toy_submit {
    __u32 ring;
    __u32 exec_us;
    __u32 after; /* a ring: depend on this client's last job there; or TOY_NO_RING */
	__u32 hangs; /* never ends by itself: the scheduler's timeout ends it, or TOY_END */
};

/* For `hangs`: only TOY_END ends it. */
#define TOY_HELD 2

/* Submits one job. */
#define TOY_SUBMIT _IOW('T', 1, struct toy_submit)
/* Waits until this client's last job on a ring has ended. */
#define TOY_WAIT _IOW('T', 2, __u32)
/* Destroys this client's queue on a ring: jobs that have not begun are dropped. */
#define TOY_KILL _IOW('T', 3, __u32)

/* Moves a buffer: takes the caller exec_us of sleep, then submits the job. */
#define TOY_MOVE _IOW('T', 4, struct toy_submit)

/* Ends the job that is held on a ring, as soon as all other jobs of this client wait for it, or for
 * each other. */
#define TOY_END _IOW('T', 5, __u32)

/* One job as the device saw it; read() returns those of the client, from the first on. */
struct toy_job {
    __u64 context, seqno;         /* of the fence that says it has ended */
    __u64 queued_ns;              /* CLOCK_MONOTONIC, just before the scheduler got it */
    __u64 began_ns;               /* when the scheduler gave it to the ring; 0: never */
    __u64 ended_ns;               /* when the ring was through with it; 0: never */
    __u64 dep_context, dep_seqno; /* what it depends on; 0 0: nothing */
    __u32 ring, exec_us;
};

#endif
