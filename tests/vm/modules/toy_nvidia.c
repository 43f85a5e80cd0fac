// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * What NVIDIA's driver does when a GPU makes a mistake: calls nv_report_error(), which fires its
 * event. A number written to /sys/module/nvidia/parameters/report is such a mistake.
 */
#include <linux/module.h>

#include "assign_string.h"
#define CREATE_TRACE_POINTS
#include "nvidia_events.h"

/* Has the name and the first arguments of NVIDIA's. */
static noinline void nv_report_error(void *device, u32 code)
{
	trace_nvidia_dev_xid("0000:01:00", code, "pid=0, name=toy, Ch 00000010");
}

static int set_report(const char *text, const struct kernel_param *parameter)
{
	u32 code;
	int error = kstrtou32(text, 0, &code);

	if (!error)
		nv_report_error(NULL, code);
	return error;
}

static const struct kernel_param_ops report_ops = { .set = set_report };
module_param_cb(report, &report_ops, NULL, 0200);

MODULE_DESCRIPTION("NVIDIA's report of a mistake, without a GPU");
MODULE_LICENSE("Dual MIT/GPL");
