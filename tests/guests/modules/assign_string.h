/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The source of an event's string is named once only since Linux 6.10. */
#ifndef ASSIGN_STRING_H
#define ASSIGN_STRING_H

#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define ASSIGN_STRING(to, from) __assign_str(to)
#else
#define ASSIGN_STRING(to, from) __assign_str(to, from)
#endif

#endif
