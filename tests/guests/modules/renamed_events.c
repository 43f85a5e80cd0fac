// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * What the GPU scheduler of this kernel does, told by the events that Linux 6.17 and later have:
 * hangs on to the scheduler's own tracepoints and fires the renamed ones.
 */
#include <linux/dma-fence.h>
#include <linux/module.h>
#include <linux/tracepoint.h>
#include <drm/gpu_scheduler.h>

#include "assign_string.h"
#define CREATE_TRACE_POINTS
#include "renamed_events.h"

/* How many jobs and credits the ring works on, as the scheduler's own events tell it. */
static int running(const struct drm_gpu_scheduler *sched)
{
#ifdef SCHED_HAS_RQS
	return atomic_read(&sched->credit_count);
#else
	return atomic_read(&sched->hw_rq_count);
#endif
}

static u64 client_of(const struct drm_sched_job *job)
{
#ifdef JOB_HAS_CLIENT
	return job->s_fence->drm_client_id;
#else
	return 0;
#endif
}

static void on_queue(void *unused, struct drm_sched_job *job, struct drm_sched_entity *entity)
{
	const struct dma_fence *fence = &job->s_fence->finished;
	struct drm_gpu_scheduler *sched = entity->rq->sched;
	struct dma_fence *dependency;
	unsigned long index;

	trace_drm_sched_job_queue(sched->name, dev_name(sched->dev),
				  spsc_queue_count(&entity->job_queue), running(sched), fence,
				  client_of(job));
	xa_for_each(&job->dependencies, index, dependency)
		trace_drm_sched_job_add_dep(fence, dependency);
}

static void on_run(void *unused, struct drm_sched_job *job, struct drm_sched_entity *entity)
{
	struct drm_gpu_scheduler *sched = job->sched;

	trace_drm_sched_job_run(sched->name, dev_name(sched->dev),
				spsc_queue_count(&entity->job_queue), running(sched),
				&job->s_fence->finished, client_of(job));
}

static void on_done(void *unused, struct drm_sched_fence *fence)
{
	trace_drm_sched_job_done(fence);
}

static void on_wait(void *unused, struct drm_sched_job *job, struct dma_fence *dependency)
{
	if (dma_fence_is_signaled(dependency))
		return;
	trace_drm_sched_job_unschedulable(&job->s_fence->finished, dependency);
	/* The scheduler of 6.17 may look again before that changes, and tell it again. */
	trace_drm_sched_job_unschedulable(&job->s_fence->finished, dependency);
}

static struct {
	const char *name;
	void *probe;
	struct tracepoint *at;
} sources[] = {
	{ "drm_sched_job", on_queue },
	{ "drm_run_job", on_run },
	{ "drm_sched_process_job", on_done },
	{ "drm_sched_job_wait_dep", on_wait },
};
static struct module *scheduler;

static void attach_to(struct tracepoint *at)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(sources); i++)
		if (!strcmp(at->name, sources[i].name) &&
		    !tracepoint_probe_register(at, sources[i].probe, NULL))
			sources[i].at = at;
}

/* The one way to a module's tracepoints: called for each module that has some. */
static int on_module(struct notifier_block *block, unsigned long change, void *data)
{
	struct tp_module *module = data;
	int i;

	if (change != MODULE_STATE_COMING || strcmp(module->mod->name, "gpu_sched") ||
	    !try_module_get(module->mod))
		return NOTIFY_OK;
	scheduler = module->mod;
	for (i = 0; i < scheduler->num_tracepoints; i++)
		attach_to(tracepoint_ptr_deref(&scheduler->tracepoints_ptrs[i]));
	return NOTIFY_OK;
}

static struct notifier_block modules = { .notifier_call = on_module };

static void detach(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(sources); i++)
		if (sources[i].at)
			tracepoint_probe_unregister(sources[i].at, sources[i].probe, NULL);
	tracepoint_synchronize_unregister();
	if (scheduler)
		module_put(scheduler);
}

static int __init renamed_init(void)
{
	int i, error = register_tracepoint_module_notifier(&modules);

	if (error)
		return error;
	/* Those that come later are none of ours. */
	unregister_tracepoint_module_notifier(&modules);
	for (i = 0; i < ARRAY_SIZE(sources); i++) {
		if (!sources[i].at) {
			detach();
			return -ENOENT;
		}
	}
	return 0;
}

static void __exit renamed_exit(void)
{
	detach();
}

module_init(renamed_init);
module_exit(renamed_exit);
MODULE_DESCRIPTION("The GPU scheduler's events under their names of Linux 6.17");
MODULE_LICENSE("Dual MIT/GPL");
