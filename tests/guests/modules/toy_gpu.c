// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A GPU that does nothing, on time: three rings behind the kernel's own GPU scheduler. A ring works
 * on one job at a time; a timer's interrupt ends it. toy_gpu.h is how it is used.
 */
#include <linux/delay.h>
#include <linux/dma-fence.h>
#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <drm/gpu_scheduler.h>

#include "timers.h"
#include "toy_gpu.h"

static uint slots = 4;
module_param(slots, uint, 0444);
MODULE_PARM_DESC(slots, "jobs that a ring holds at a time");

static uint timeout_ms = 1000;
module_param(timeout_ms, uint, 0444);
MODULE_PARM_DESC(timeout_ms, "how long a job may take");

struct ring {
	struct drm_gpu_scheduler sched;
	struct drm_gpu_scheduler *sched_list[1];
	const char *name;
	spinlock_t lock;		/* busy, seqno */
	struct list_head busy;		/* struct hw_fence, the one that runs first */
	struct hrtimer timer;
	u64 context, seqno;
};

struct client {
	struct kref kref;		/* the file, and each job */
	struct mutex lock;		/* all below, but for the times of jobs */
	struct drm_sched_entity queues[TOY_RINGS];
	bool is_dead[TOY_RINGS];
	struct dma_fence *last[TOY_RINGS];
	struct list_head records;	/* struct record, the first first */
};

struct record {
	struct list_head node;
	struct toy_job job;
};

struct job {
	struct drm_sched_job base;
	struct client *client;
	struct record *record;
	struct dma_fence *hw;
	struct dma_fence *after;	/* where the scheduler keeps no dependencies itself */
	u32 hangs;
};

struct hw_fence {
	struct dma_fence base;		/* first: it is freed by its address */
	spinlock_t lock;
	struct list_head node;
	struct ring *ring;
	struct client *client;
	struct record *record;
	u32 hangs;
};

static struct platform_device *device;
static struct ring rings[TOY_RINGS] = {
	{ .name = "gfx" }, { .name = "compute" }, { .name = "sdma" }
};

static void free_client(struct kref *kref)
{
	struct client *client = container_of(kref, struct client, kref);
	struct record *record, *next;

	list_for_each_entry_safe(record, next, &client->records, node)
		kfree(record);
	kfree(client);
}

static const char *driver_name(struct dma_fence *fence)
{
	return "toy_gpu";
}

static const char *timeline_name(struct dma_fence *fence)
{
	return container_of(fence, struct hw_fence, base)->ring->name;
}

static const struct dma_fence_ops hw_fence_ops = {
	.get_driver_name = driver_name,
	.get_timeline_name = timeline_name,
};

/* Has the ring begin with its first job, unless that hangs. With its lock. */
static void work(struct ring *ring)
{
	struct hw_fence *hw = list_first_entry_or_null(&ring->busy, struct hw_fence, node);

	if (hw && !hw->hangs)
		hrtimer_start(&ring->timer, 
			      ns_to_ktime((u64)hw->record->job.exec_us * NSEC_PER_USEC),
			      HRTIMER_MODE_REL);
}

/* Ends the job that the ring works on. */
static void end_first(struct ring *ring, int error)
{
	struct hw_fence *hw;
	struct client *client;
	unsigned long flags;

	spin_lock_irqsave(&ring->lock, flags);
	hw = list_first_entry_or_null(&ring->busy, struct hw_fence, node);
	if (hw)
		list_del(&hw->node);
	work(ring);
	spin_unlock_irqrestore(&ring->lock, flags);
	if (!hw)
		return;

	client = hw->client;
	if (error)
		dma_fence_set_error(&hw->base, error);
	WRITE_ONCE(hw->record->job.ended_ns, ktime_get_ns());
	dma_fence_signal(&hw->base);
	dma_fence_put(&hw->base);
	kref_put(&client->kref, free_client);
}

static enum hrtimer_restart timer_interrupt(struct hrtimer *timer)
{
	end_first(container_of(timer, struct ring, timer), 0);
	return HRTIMER_NORESTART;
}

static struct dma_fence *run_job(struct drm_sched_job *base)
{
	struct job *job = container_of(base, struct job, base);
	struct ring *ring = container_of(base->sched, struct ring, sched);
	struct hw_fence *hw;
	unsigned long flags;

	WRITE_ONCE(job->record->job.began_ns, ktime_get_ns());
	hw = kzalloc(sizeof(*hw), GFP_KERNEL);
	if (!hw)
		return ERR_PTR(-ENOMEM);
	spin_lock_init(&hw->lock);
	hw->ring = ring;
	hw->record = job->record;
	hw->hangs = job->hangs;
	hw->client = job->client;
	kref_get(&hw->client->kref);

	spin_lock_irqsave(&ring->lock, flags);
	dma_fence_init(&hw->base, &hw_fence_ops, &hw->lock, ring->context, ++ring->seqno);
	dma_fence_get(&hw->base);		/* the ring's */
	job->hw = dma_fence_get(&hw->base);	/* the job's; the scheduler gets the first */
	list_add_tail(&hw->node, &ring->busy);
	if (list_is_first(&hw->node, &ring->busy))
		work(ring);
	spin_unlock_irqrestore(&ring->lock, flags);
	return &hw->base;
}

static void free_job(struct drm_sched_job *base)
{
	struct job *job = container_of(base, struct job, base);

	drm_sched_job_cleanup(base);
	dma_fence_put(job->hw);
	dma_fence_put(job->after);
	kref_put(&job->client->kref, free_client);
	kfree(job);
}

/* The scheduler took it from its list of those at work, for a reset that we do not need. */
static void give_back(struct drm_sched_job *base, struct list_head *job, struct list_head *jobs)
{
	spin_lock(&base->sched->job_list_lock);
	list_add(job, jobs);
	spin_unlock(&base->sched->job_list_lock);
	if (container_of(base, struct job, base)->hangs != TOY_HELD)
		end_first(container_of(base->sched, struct ring, sched), -ETIME);
}

#if defined(TIMEOUT_IS_RESET) || defined(TIMEOUT_IS_NOMINAL)
static enum drm_gpu_sched_stat timedout_job(struct drm_sched_job *base)
{
	give_back(base, &base->list, &base->sched->pending_list);
#ifdef TIMEOUT_IS_RESET
	return DRM_GPU_SCHED_STAT_RESET;
#else
	return DRM_GPU_SCHED_STAT_NOMINAL;
#endif
}
#else
static void timedout_job(struct drm_sched_job *base)
{
	give_back(base, &base->node, &base->sched->ring_mirror_list);
}
#endif

static int init_job(struct drm_sched_job *job, struct drm_sched_entity *queue, void *owner)
{
#if defined(JOB_HAS_CLIENT)
	return drm_sched_job_init(job, queue, 1, owner, task_tgid_nr(current));
#elif defined(JOB_HAS_CREDITS)
	return drm_sched_job_init(job, queue, 1, owner);
#else
	return drm_sched_job_init(job, queue, owner);
#endif
}

#ifdef JOB_HAS_DEPENDENCIES
static int add_dependency(struct job *job, struct dma_fence *after)
{
	return drm_sched_job_add_dependency(&job->base, dma_fence_get(after));
}

static void push_job(struct job *job)
{
	drm_sched_entity_push_job(&job->base);
}
#else
/* Before Linux 5.16 the scheduler asks the driver, until there is none left. */
static struct dma_fence *next_dependency(struct drm_sched_job *base, struct drm_sched_entity *queue)
{
	struct job *job = container_of(base, struct job, base);
	struct dma_fence *after = job->after;

	job->after = NULL;
	return after;
}

static int add_dependency(struct job *job, struct dma_fence *after)
{
	job->after = dma_fence_get(after);
	return 0;
}

static void drm_sched_job_arm(struct drm_sched_job *base)
{
}

static void push_job(struct job *job)
{
	drm_sched_entity_push_job(&job->base, job->base.entity);
}
#endif

static const struct drm_sched_backend_ops sched_ops = {
#ifndef JOB_HAS_DEPENDENCIES
	.dependency = next_dependency,
#endif
	.run_job = run_job,
	.timedout_job = timedout_job,
	.free_job = free_job,
};

/* With the client's lock. */
static int submit(struct client *client, const struct toy_submit *wish)
{
	struct dma_fence *after = NULL;
	struct record *record;
	struct job *job;
	int error;

	if (client->is_dead[wish->ring])
		return -ENOENT;
	job = kzalloc(sizeof(*job), GFP_KERNEL);
	record = kzalloc(sizeof(*record), GFP_KERNEL);
	error = job && record ? 0 : -ENOMEM;
	if (!error)
		error = init_job(&job->base, &client->queues[wish->ring], client);
	if (error)
		goto free;
	job->client = client;
	job->record = record;
	job->hangs = wish->hangs;
	if (wish->after != TOY_NO_RING)
		after = client->last[wish->after];
	if (after) {
		error = add_dependency(job, after);
		if (error)
			goto cleanup;
		record->job.dep_context = after->context;
		record->job.dep_seqno = after->seqno;
	}
	drm_sched_job_arm(&job->base);
	kref_get(&client->kref);
	dma_fence_put(client->last[wish->ring]);
	client->last[wish->ring] = dma_fence_get(&job->base.s_fence->finished);
	record->job.context = client->last[wish->ring]->context;
	record->job.seqno = client->last[wish->ring]->seqno;
	record->job.ring = wish->ring;
	record->job.exec_us = wish->exec_us;
	list_add_tail(&record->node, &client->records);
	record->job.queued_ns = ktime_get_ns();
	push_job(job);
	return 0;

cleanup:
	drm_sched_job_cleanup(&job->base);
free:
	kfree(record);
	kfree(job);
	return error;
}

static int wait_for_last(struct client *client, u32 ring)
{
	struct dma_fence *fence;
	long left = 0;

	mutex_lock(&client->lock);
	fence = dma_fence_get(client->last[ring]);
	mutex_unlock(&client->lock);
	if (fence)
		left = dma_fence_wait(fence, true);
	dma_fence_put(fence);
	return left < 0 ? left : 0;
}

/* Whether the scheduler has taken all jobs of a queue but those that wait for others. */
static bool has_settled(struct drm_sched_entity *queue)
{
	const struct list_head *waits = &queue->cb.node;

	return !spsc_queue_count(&queue->job_queue) ||
	       (READ_ONCE(queue->dependency) && waits->next && !list_empty(waits));
}

static bool is_held(struct ring *ring, struct client *client)
{
	struct hw_fence *hw;
	unsigned long flags;
	bool is;

	spin_lock_irqsave(&ring->lock, flags);
	hw = list_first_entry_or_null(&ring->busy, struct hw_fence, node);
	is = hw && hw->hangs == TOY_HELD && hw->client == client;
	spin_unlock_irqrestore(&ring->lock, flags);
	return is;
}

static int end_held(struct client *client, u32 ring)
{
	int i;

	while (!is_held(&rings[ring], client) && !signal_pending(current))
		fsleep(100);
	for (i = 0; i < TOY_RINGS; i++)
		while (!client->is_dead[i] && !has_settled(&client->queues[i]) &&
		       !signal_pending(current))
			fsleep(100);
	if (signal_pending(current))
		return -EINTR;
	end_first(&rings[ring], 0);
	return 0;
}

static void kill_queue(struct client *client, u32 ring)
{
	if (!client->is_dead[ring])
		drm_sched_entity_fini(&client->queues[ring]);
	client->is_dead[ring] = true;
}

static long locked_submit(struct client *client, const struct toy_submit *wish)
{
	long error;

	mutex_lock(&client->lock);
	error = submit(client, wish);
	mutex_unlock(&client->lock);
	return error;
}

/* Has the name of what moves buffers for all drivers with TTM. */
static noinline long ttm_bo_handle_move_mem(struct client *client, const struct toy_submit *wish)
{
	fsleep(wish->exec_us);
	return locked_submit(client, wish);
}

static long toy_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct client *client = file->private_data;
	struct toy_submit wish;
	u32 ring;

	if (cmd == TOY_SUBMIT || cmd == TOY_MOVE) {
		if (copy_from_user(&wish, (void __user *)arg, sizeof(wish)))
			return -EFAULT;
		if (wish.ring >= TOY_RINGS || (wish.after != TOY_NO_RING && wish.after >= TOY_RINGS))
			return -EINVAL;
		return cmd == TOY_MOVE ? ttm_bo_handle_move_mem(client, &wish) :
					 locked_submit(client, &wish);
	}
	if (copy_from_user(&ring, (void __user *)arg, sizeof(ring)))
		return -EFAULT;
	if (ring >= TOY_RINGS)
		return -EINVAL;
	switch (cmd) {
	case TOY_WAIT:
		return wait_for_last(client, ring);
	case TOY_END:
		return end_held(client, ring);
	case TOY_KILL:
		mutex_lock(&client->lock);
		kill_queue(client, ring);
		mutex_unlock(&client->lock);
		return 0;
	}
	return -ENOTTY;
}

static ssize_t toy_read(struct file *file, char __user *to, size_t size, loff_t *position)
{
	struct client *client = file->private_data;
	struct record *record;
	ssize_t copied = 0;
	loff_t at = 0;

	mutex_lock(&client->lock);
	list_for_each_entry(record, &client->records, node) {
		if (at++ < *position)
			continue;
		if (size - copied < sizeof(record->job))
			break;
		if (copy_to_user(to + copied, &record->job, sizeof(record->job))) {
			copied = -EFAULT;
			break;
		}
		copied += sizeof(record->job);
		++*position;
	}
	mutex_unlock(&client->lock);
	return copied;
}

static int toy_open(struct inode *inode, struct file *file)
{
	struct client *client = kzalloc(sizeof(*client), GFP_KERNEL);
	int i;

	if (!client)
		return -ENOMEM;
	kref_init(&client->kref);
	mutex_init(&client->lock);
	INIT_LIST_HEAD(&client->records);
	for (i = 0; i < TOY_RINGS; i++)		/* refuses wrong arguments only */
		WARN_ON(drm_sched_entity_init(&client->queues[i], DRM_SCHED_PRIORITY_NORMAL,
					      rings[i].sched_list, 1, NULL));
	file->private_data = client;
	return 0;
}

static int toy_release(struct inode *inode, struct file *file)
{
	struct client *client = file->private_data;
	int i;

	for (i = 0; i < TOY_RINGS; i++) {
		if (!client->is_dead[i])
			drm_sched_entity_destroy(&client->queues[i]);
		dma_fence_put(client->last[i]);
	}
	kref_put(&client->kref, free_client);
	return 0;
}

static const struct file_operations toy_fops = {
	.owner = THIS_MODULE,
	.open = toy_open,
	.release = toy_release,
	.read = toy_read,
	.unlocked_ioctl = toy_ioctl,
};

static struct miscdevice toy_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "toy_gpu",
	.fops = &toy_fops,
};

static int scheduler_init(struct ring *ring)
{
	const long timeout = msecs_to_jiffies(timeout_ms);
#ifdef SCHED_HAS_ARGS
	const struct drm_sched_init_args args = {
		.ops = &sched_ops,
#ifdef SCHED_HAS_RQS
		.num_rqs = DRM_SCHED_PRIORITY_COUNT,
#endif
		.credit_limit = slots,
		.hang_limit = 1,
		.timeout = timeout,
		.name = ring->name,
		.dev = &device->dev,
	};

	return drm_sched_init(&ring->sched, &args);
#else
	return drm_sched_init(&ring->sched, &sched_ops, slots, 1, timeout, ring->name);
#endif
}

static int ring_init(struct ring *ring)
{
	spin_lock_init(&ring->lock);
	INIT_LIST_HEAD(&ring->busy);
	hrtimer_setup(&ring->timer, timer_interrupt, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	ring->context = dma_fence_context_alloc(1);
	ring->sched_list[0] = &ring->sched;
	return scheduler_init(ring);
}

static int __init toy_init(void)
{
	int i, error;

	device = platform_device_register_simple("toy_gpu", 0, NULL, 0);
	if (IS_ERR(device))
		return PTR_ERR(device);
	for (i = 0; i < TOY_RINGS; i++) {
		error = ring_init(&rings[i]);
		if (error)
			goto fail;
	}
	error = misc_register(&toy_misc);
	if (!error)
		return 0;
fail:
	while (i-- > 0)
		drm_sched_fini(&rings[i].sched);
	platform_device_unregister(device);
	return error;
}

static void __exit toy_exit(void)
{
	int i;

	misc_deregister(&toy_misc);
	for (i = 0; i < TOY_RINGS; i++) {
		drm_sched_fini(&rings[i].sched);
		hrtimer_cancel(&rings[i].timer);
	}
	platform_device_unregister(device);
	rcu_barrier();		/* fences are freed by RCU, and their operations lie here */
}

module_init(toy_init);
module_exit(toy_exit);
MODULE_DESCRIPTION("A GPU that does nothing, on time");
MODULE_LICENSE("Dual MIT/GPL");
