/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The events of the GPU scheduler as Linux 6.17 and later have them: names and fields are documented
 * in Documentation/gpu/drm-uapi.rst, "Trace events".
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM gpu_scheduler
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE renamed_events

#if !defined(RENAMED_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define RENAMED_EVENTS_H

#include <linux/tracepoint.h>

DECLARE_EVENT_CLASS(renamed_job,
	TP_PROTO(const char *ring, const char *device, u32 queued, int running,
		 const struct dma_fence *fence, u64 client),
	TP_ARGS(ring, device, queued, running, fence, client),
	TP_STRUCT__entry(
		__string(name, ring)
		__field(u32, job_count)
		__field(int, hw_job_count)
		__string(dev, device)
		__field(u64, fence_context)
		__field(u64, fence_seqno)
		__field(u64, client_id)
	),
	TP_fast_assign(
		ASSIGN_STRING(name, ring);
		__entry->job_count = queued;
		__entry->hw_job_count = running;
		ASSIGN_STRING(dev, device);
		__entry->fence_context = fence->context;
		__entry->fence_seqno = fence->seqno;
		__entry->client_id = client;
	),
	TP_printk("dev=%s, fence=%llu:%llu, ring=%s, job count:%u, hw job count:%d, client_id:%llu",
		  __get_str(dev), __entry->fence_context, __entry->fence_seqno, __get_str(name),
		  __entry->job_count, __entry->hw_job_count, __entry->client_id)
);

#define RENAMED_JOB(event) \
DEFINE_EVENT(renamed_job, event, \
	TP_PROTO(const char *ring, const char *device, u32 queued, int running, \
		 const struct dma_fence *fence, u64 client), \
	TP_ARGS(ring, device, queued, running, fence, client))
RENAMED_JOB(drm_sched_job_queue);
RENAMED_JOB(drm_sched_job_run);

TRACE_EVENT(drm_sched_job_done,
	TP_PROTO(struct drm_sched_fence *fence),
	TP_ARGS(fence),
	TP_STRUCT__entry(
		__field(u64, fence_context)
		__field(u64, fence_seqno)
	),
	TP_fast_assign(
		__entry->fence_context = fence->finished.context;
		__entry->fence_seqno = fence->finished.seqno;
	),
	TP_printk("fence=%llu:%llu signaled", __entry->fence_context, __entry->fence_seqno)
);

DECLARE_EVENT_CLASS(renamed_dependency,
	TP_PROTO(const struct dma_fence *fence, const struct dma_fence *dependency),
	TP_ARGS(fence, dependency),
	TP_STRUCT__entry(
		__field(u64, fence_context)
		__field(u64, fence_seqno)
		__field(u64, ctx)
		__field(u64, seqno)
	),
	TP_fast_assign(
		__entry->fence_context = fence->context;
		__entry->fence_seqno = fence->seqno;
		__entry->ctx = dependency->context;
		__entry->seqno = dependency->seqno;
	),
	TP_printk("fence=%llu:%llu depends on fence=%llu:%llu", __entry->fence_context,
		  __entry->fence_seqno, __entry->ctx, __entry->seqno)
);

#define RENAMED_DEPENDENCY(event) \
DEFINE_EVENT(renamed_dependency, event, \
	TP_PROTO(const struct dma_fence *fence, const struct dma_fence *dependency), \
	TP_ARGS(fence, dependency))
RENAMED_DEPENDENCY(drm_sched_job_add_dep);
RENAMED_DEPENDENCY(drm_sched_job_unschedulable);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#include <trace/define_trace.h>
