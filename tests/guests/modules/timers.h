/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What Linux 6.13 and later have, for kernels before. */
#ifndef TIMERS_H
#define TIMERS_H

#include <linux/hrtimer.h>

#ifndef HAS_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#endif
