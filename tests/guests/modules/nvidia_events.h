/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The one event of NVIDIA's driver, with its fields. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM nvidia
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE nvidia_events

#if !defined(NVIDIA_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define NVIDIA_EVENTS_H

#include <linux/tracepoint.h>

TRACE_EVENT(nvidia_dev_xid,
	TP_PROTO(const char *device, u32 code, const char *text),
	TP_ARGS(device, code, text),
	TP_STRUCT__entry(
		__string(dev, device)
		__field(u32, error_code)
		__string(msg, text)
	),
	TP_fast_assign(
		ASSIGN_STRING(dev, device);
		__entry->error_code = code;
		ASSIGN_STRING(msg, text);
	),
	TP_printk("Xid (PCI:%s): %u, %s", __get_str(dev), __entry->error_code, __get_str(msg))
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#include <trace/define_trace.h>
