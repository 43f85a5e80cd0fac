// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * NVIDIA's managed memory without memory: /dev/nvidia-uvm, and the function that the driver calls for
 * each fault and migration, with what it is given in the layout of the driver's generation. What is
 * written to the device are such events (toy_nvidia.h).
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "toy_nvidia.h"



/* Whoever looks at it finds the data in memory. */
static TOY_FUNCTION void uvm_perf_event_notify(void *events, u32 event, void *data)
{
	asm volatile("" : : "r"(data) : "memory");
}

static TOY_FUNCTION void uvm_parent_gpu_service_replayable_faults(void *gpu)
{
	barrier();
}

static void put32(u8 *data, int at, u32 value)
{
	memcpy(data + at, &value, sizeof(value));
}

static void put64(u8 *data, int at, u64 value)
{
	memcpy(data + at, &value, sizeof(value));
}

static void notify(void *space, const struct toy_uvm_event *event)
{
	u8 data[96] = {};
	u64 report[2] = { event->address };

	if (event->event == 6) {
		put32(data, 8, event->processor);
		if (event->processor == 0) {
			put64(data, 16, event->address);
			data[28] = event->is_write;
		} else {
			put64(data, 16, (unsigned long)report);
			data[28] = event->is_duplicate;
		}
	} else {
		const unsigned int generation = nvidia_generation();
		const int at = generation < 545 ? 24 : 32;

		put32(data, 16, event->to);
		put32(data, 20, event->processor);
		put64(data, at, event->address);
		put64(data, at + 8, event->bytes);
		put32(data, at + 16, 1);
		put32(data, at + (generation < 580 ? 20 : 24), event->cause);
		if (generation >= 580)
			put32(data, at + 20, 77);
	}
	uvm_perf_event_notify(space, event->event, data);
}

struct toy_work {
	struct work_struct work;
	void *space;
	struct toy_uvm_event event;
};

static void notify_in_thread(struct work_struct *work)
{
	struct toy_work *of = container_of(work, struct toy_work, work);

	uvm_parent_gpu_service_replayable_faults(NULL);
	notify(of->space, &of->event);
}

static TOY_FUNCTION int uvm_open_entry(struct inode *inode, struct file *file)
{
	file->private_data = kzalloc(64, GFP_KERNEL);
	return file->private_data ? 0 : -ENOMEM;
}

static TOY_FUNCTION int uvm_release_entry(struct inode *inode, struct file *file)
{
	kfree(file->private_data);
	return 0;
}

static TOY_FUNCTION long uvm_unlocked_ioctl_entry(struct file *file, unsigned int command,
						  unsigned long argument)
{
	return command == UVM_MIGRATE ? 0 : -EINVAL;
}

static TOY_FUNCTION int uvm_mmap_entry(struct file *file, struct vm_area_struct *vma)
{
	return file ? 0 : -EINVAL;
}

static ssize_t toy_write(struct file *file, const char __user *from, size_t bytes, loff_t *at)
{
	struct toy_work *work;

	if (bytes != sizeof(work->event))
		return -EINVAL;
	work = kzalloc(sizeof(*work), GFP_KERNEL);
	if (!work)
		return -ENOMEM;
	work->space = file->private_data;
	if (copy_from_user(&work->event, from, bytes)) {
		kfree(work);
		return -EFAULT;
	}
	if (work->event.in_thread) {
		INIT_WORK(&work->work, notify_in_thread);
		schedule_work(&work->work);
		flush_work(&work->work);
	} else {
		notify(work->space, &work->event);
	}
	kfree(work);
	return bytes;
}

static const struct file_operations uvm_fops = {
	.owner = THIS_MODULE,
	.open = uvm_open_entry,
	.release = uvm_release_entry,
	.unlocked_ioctl = uvm_unlocked_ioctl_entry,
	.mmap = uvm_mmap_entry,
	.write = toy_write,
};

static struct miscdevice uvm_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "nvidia-uvm",
	.fops = &uvm_fops,
	.mode = 0666,
};
module_misc_device(uvm_device);

MODULE_DESCRIPTION("NVIDIA's managed memory, without memory");
MODULE_LICENSE("Dual MIT/GPL");
