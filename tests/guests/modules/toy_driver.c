// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The events of GPU drivers without a GPU: those that this kernel's own amdgpu, i915 and xe have, with
 * the same fields, made of their formats by driver-events.awk. What is written to /dev/toy_driver is
 * done line by line, in the context of the writer:
 *
 *   EVENT FIELD=VALUE...	fires the event; a field that is not named is 0 or empty
 *   fence DRIVER TIMELINE CONTEXT SEQNO	a fence begins and is signalled
 *   sleep MICROSECONDS
 */
#include <linux/delay.h>
#include <linux/dma-fence.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "assign_string.h"
#include "toy_driver.h"

/* For fields that hold the address of a name: those that a kernel would have, for good. */
const char *toy_keep(const char *text)
{
	static const char *const names[] = { "control", "cursor", "" };
	int i = 0;

	while (names[i][0] && strcmp(names[i], text))
		i++;
	return names[i];
}

#define CREATE_TRACE_POINTS
#include "driver_events.h"
#include "driver_tables.h"

static const struct toy_event *find_event(const char *name)
{
	int i, j;

	for (i = 0; i < ARRAY_SIZE(tables); i++)
		for (j = 0; tables[i][j].name; j++)
			if (!strcmp(tables[i][j].name, name))
				return &tables[i][j];
	return NULL;
}

static int fire(char *name, char *words)
{
	const struct toy_event *event = find_event(name);
	struct toy_values *values;
	char *word, *equals;
	int i, error = 0;

	if (!event)
		return -ENOENT;
	values = kzalloc(sizeof(*values), GFP_KERNEL);
	if (!values)
		return -ENOMEM;
	for (i = 0; i < TOY_FIELDS; i++)
		values->text[i] = "";
	while (!error && (word = strsep(&words, " "))) {
		equals = strchr(word, '=');
		if (!equals)
			continue;
		*equals++ = 0;
		error = -EINVAL;
		/* Two fields of one name have one value. */
		for (i = 0; event->fields[i]; i++) {
			if (strcmp(event->fields[i], word))
				continue;
			values->text[i] = equals;
			if (kstrtoull(equals, 0, &values->number[i]) &&
			    kstrtoll(equals, 0, (s64 *)&values->number[i]))
				values->number[i] = 0;
			error = 0;
		}
	}
	if (!error)
		event->fire(values);
	kfree(values);
	return error;
}

struct toy_fence {
	struct dma_fence base;
	spinlock_t lock;
	char driver[24], timeline[24];
};

static const char *driver_of(struct dma_fence *fence)
{
	return container_of(fence, struct toy_fence, base)->driver;
}

static const char *timeline_of(struct dma_fence *fence)
{
	return container_of(fence, struct toy_fence, base)->timeline;
}

static const struct dma_fence_ops fence_ops = {
	.get_driver_name = driver_of,
	.get_timeline_name = timeline_of,
};

static int signal_fence(const char *words)
{
	struct toy_fence *fence = kzalloc(sizeof(*fence), GFP_KERNEL);
	u64 context, seqno;

	if (!fence)
		return -ENOMEM;
	if (sscanf(words, "%23s %23s %llu %llu", fence->driver, fence->timeline, &context, &seqno) != 4) {
		kfree(fence);
		return -EINVAL;
	}
	spin_lock_init(&fence->lock);
	dma_fence_init(&fence->base, &fence_ops, &fence->lock, context, seqno);
	dma_fence_signal(&fence->base);
	dma_fence_put(&fence->base);
	return 0;
}

static int do_line(char *line)
{
	char *words = line, *word = strsep(&words, " ");
	unsigned long us;

	if (!*word)
		return 0;
	if (!words)
		words = line + strlen(line);
	if (!strcmp(word, "fence"))
		return signal_fence(words);
	if (strcmp(word, "sleep"))
		return fire(word, words);
	if (kstrtoul(words, 0, &us))
		return -EINVAL;
	usleep_range(us, us + 50);
	return 0;
}

static ssize_t toy_write(struct file *file, const char __user *from, size_t bytes, loff_t *at)
{
	char *text = memdup_user_nul(from, bytes), *lines = text, *line;
	int error = 0;

	if (IS_ERR(text))
		return PTR_ERR(text);
	while (!error && (line = strsep(&lines, "\n")))
		error = do_line(line);
	kfree(text);
	return error ? error : bytes;
}

static const struct file_operations toy_fops = {
	.owner = THIS_MODULE,
	.write = toy_write,
};

static struct miscdevice toy_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "toy_driver",
	.fops = &toy_fops,
	.mode = 0666,
};
module_misc_device(toy_device);

MODULE_DESCRIPTION("The events of GPU drivers, without a GPU");
MODULE_LICENSE("Dual MIT/GPL");
