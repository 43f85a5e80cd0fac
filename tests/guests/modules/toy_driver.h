/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What toy_driver.c and the events made by driver-events.awk share. */
#ifndef TOY_DRIVER_H
#define TOY_DRIVER_H

#include <linux/types.h>

#define TOY_FIELDS 24

/* The values of an event's fields, in their order: a number, and the same as it was written. */
struct toy_values {
	u64 number[TOY_FIELDS];
	const char *text[TOY_FIELDS];
};

struct toy_event {
	const char *name;
	const char *const *fields;
	void (*fire)(const struct toy_values *values);
};

const char *toy_keep(const char *text);

#endif
