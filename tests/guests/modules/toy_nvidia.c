// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * NVIDIA's driver without a GPU: its functions by their names and arguments, behind the character
 * devices 195:0 to 195:255. What is written to /sys/module/nvidia/parameters does the rest:
 *
 *   report CODE		reports a mistake: nv_report_error(), which fires the driver's event
 *   interrupt NUMBER		GPU 0 (MSI-X) or 1 interrupts, and its thread has work to do
 *   suspend MICROSECONDS	suspends and resumes GPU 0; runtime: for saving power
 *   p2p NUMBER		another driver gets so many pages of a GPU's memory, and maps them
 *   lend NUMBER		another driver gets so many bytes, until they are given back and for as
 *			long as it wants; maps and unmaps them, gives them back, and asks for none
 *
 * build-modules.sh makes older drivers of it, with the names that functions have there.
 */
#include <linux/cdev.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/platform_device.h>
#include <linux/poll.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "assign_string.h"
#include "toy_nvidia.h"
#define CREATE_TRACE_POINTS
#include "nvidia_events.h"

#define TOY_GPUS 2
#define TOP_HALF_US 20
#define BOTTOM_HALF_US 2000

static struct pci_dev *pci;	/* a name to report mistakes of */
static struct platform_device *device;
static struct cdev chardev;
static struct proc_dir_entry *proc_top, *proc_gpu;

/* The number that the driver's version begins with: its generation. */
unsigned int nvidia_generation(void)
{
	unsigned int generation = 0;

	sscanf(THIS_MODULE->version, "%u", &generation);
	return generation;
}
EXPORT_SYMBOL(nvidia_generation);


static TOY_FUNCTION int nvidia_open(struct inode *inode, struct file *file)
{
	/* No GPU has so high a number. */
	return MINOR(inode->i_rdev) == 200 ? -ENODEV : 0;
}

static TOY_FUNCTION int nvidia_close(struct inode *inode, struct file *file)
{
	barrier();
	return 0;
}

static long answer(void __user *argument, unsigned int number, size_t bytes)
{
	struct nv_control control;
	struct nv_alloc alloc;
	struct nv_alloc_with_rights wide;

	if (number == NV_CONTROL && bytes == sizeof(control)) {
		if (copy_from_user(&control, argument, sizeof(control)))
			return -EFAULT;
		if (control.object == TOY_FAILS)
			return -EINVAL;
		if (control.flags)
			usleep_range(control.flags, control.flags + 50);
		control.status = control.object;
		return copy_to_user(argument, &control, sizeof(control)) ? -EFAULT : 0;
	}
	if (number == NV_ALLOC && bytes == sizeof(alloc)) {
		if (copy_from_user(&alloc, argument, sizeof(alloc)))
			return -EFAULT;
		alloc.status = alloc.object;
		return copy_to_user(argument, &alloc, sizeof(alloc)) ? -EFAULT : 0;
	}
	if (number == NV_ALLOC && bytes == sizeof(wide)) {
		if (copy_from_user(&wide, argument, sizeof(wide)))
			return -EFAULT;
		wide.status = wide.object;
		return copy_to_user(argument, &wide, sizeof(wide)) ? -EFAULT : 0;
	}
	return 0;
}

static TOY_FUNCTION long nvidia_unlocked_ioctl(struct file *file, unsigned int command,
					       unsigned long argument)
{
	struct nv_transfer transfer;

	if (_IOC_NR(command) != NV_TRANSFER)
		return answer((void __user *)argument, _IOC_NR(command), _IOC_SIZE(command));
	if (copy_from_user(&transfer, (void __user *)argument, sizeof(transfer)))
		return -EFAULT;
	return answer((void __user *)transfer.argument, transfer.command, transfer.size);
}

static TOY_FUNCTION void nvidia_vma_open(struct vm_area_struct *vma)
{
	barrier();
}

static TOY_FUNCTION void nvidia_vma_release(struct vm_area_struct *vma)
{
	barrier();
}

static TOY_FUNCTION vm_fault_t nvidia_fault(struct vm_fault *fault)
{
	fault->page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	return fault->page ? 0 : VM_FAULT_OOM;
}

static const struct vm_operations_struct nvidia_vm_ops = {
	.open = nvidia_vma_open,
	.close = nvidia_vma_release,
	.fault = nvidia_fault,
};

static TOY_FUNCTION int nvidia_mmap(struct file *file, struct vm_area_struct *vma)
{
	vma->vm_ops = &nvidia_vm_ops;
	return file ? 0 : -EINVAL;
}

static TOY_FUNCTION unsigned int nvidia_poll(struct file *file, poll_table *wait)
{
	return file ? POLLIN : 0;
}

static __poll_t poll_device(struct file *file, poll_table *wait)
{
	return (__force __poll_t)nvidia_poll(file, wait);
}

static TOY_FUNCTION int nvidia_p2p_get_pages(u64 token, u32 space, u64 address, u64 bytes)
{
	return bytes ? 0 : -EINVAL;
}

static TOY_FUNCTION int nvidia_p2p_get_pages_persistent(u64 address, u64 bytes)
{
	return bytes ? 0 : -EINVAL;
}

static TOY_FUNCTION int nvidia_p2p_put_pages(u64 token, u32 space, u64 address, void *pages)
{
	barrier();
	return 0;
}

static TOY_FUNCTION int nvidia_p2p_put_pages_persistent(u64 address, void *pages, u32 flags)
{
	barrier();
	return 0;
}

static TOY_FUNCTION int nvidia_p2p_dma_map_pages(struct pci_dev *peer, void *pages)
{
	barrier();
	return 0;
}

static TOY_FUNCTION int nvidia_p2p_dma_unmap_pages(struct pci_dev *peer, void *pages)
{
	barrier();
	return 0;
}

static const struct file_operations nvidia_fops = {
	.owner = THIS_MODULE,
	.open = nvidia_open,
	.release = nvidia_close,
	.unlocked_ioctl = nvidia_unlocked_ioctl,
	.mmap = nvidia_mmap,
	.poll = poll_device,
};

/* Has the name and the arguments of NVIDIA's. */
static TOY_FUNCTION void nv_report_error(struct pci_dev *dev, u32 code, const char *format,
					 va_list arguments)
{
	trace_nvidia_dev_xid("0000:01:00", code, "pid=4321, name=toy, Ch 00000010");
}

static noinline void report_error(u32 code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	nv_report_error(pci, code, format, arguments);
	va_end(arguments);
}

static int set_report(const char *text, const struct kernel_param *parameter)
{
	u32 code;
	int error = kstrtou32(text, 0, &code);

	if (!error)
		report_error(code, "Ch %08x", 16);
	return error;
}

/* Interrupts that a line of code raises, in the place of hardware's. */
static unsigned int irqs[TOY_GPUS];

static TOY_FUNCTION irqreturn_t nvidia_isr(int irq, void *gpu)
{
	udelay(TOP_HALF_US);
	return IRQ_WAKE_THREAD;
}

/* Calls the other one, as NVIDIA's does. */
static TOY_FUNCTION irqreturn_t nvidia_isr_msix(int irq, void *gpu)
{
	return nvidia_isr(irq, gpu);
}

static TOY_FUNCTION irqreturn_t nvidia_isr_kthread_bh(int irq, void *gpu)
{
	usleep_range(BOTTOM_HALF_US, BOTTOM_HALF_US + 50);
	return IRQ_HANDLED;
}

static TOY_FUNCTION irqreturn_t nvidia_isr_msix_kthread_bh(int irq, void *gpu)
{
	usleep_range(BOTTOM_HALF_US, BOTTOM_HALF_US + 50);
	return IRQ_HANDLED;
}

static int set_interrupt(const char *text, const struct kernel_param *parameter)
{
	unsigned long flags;
	u32 number;
	int error = kstrtou32(text, 0, &number);

	if (error || number >= TOY_GPUS)
		return error ? error : -EINVAL;
	local_irq_save(flags);
	error = generic_handle_irq(irqs[number]);
	local_irq_restore(flags);
	synchronize_irq(irqs[number]);	/* its thread, too */
	return error;
}

static int get_irq(char *text, const struct kernel_param *parameter)
{
	return sysfs_emit(text, "%u %u\n", irqs[0], irqs[1]);
}

static TOY_FUNCTION int nvidia_suspend(struct device *dev, int action, bool is_procfs)
{
	usleep_range(action, action + 50);
	return dev ? 0 : -EINVAL;
}

static TOY_FUNCTION int nvidia_resume(struct device *dev, int action)
{
	usleep_range(action, action + 50);
	return dev ? 0 : -EINVAL;
}

static TOY_FUNCTION int nv_pmops_suspend(struct device *dev)
{
	return nvidia_suspend(dev, 1000, false);
}

static TOY_FUNCTION int nv_pmops_resume(struct device *dev)
{
	return nvidia_resume(dev, 1000);
}

static TOY_FUNCTION int nv_pmops_runtime_suspend(struct device *dev)
{
	usleep_range(1000, 1050);
	return dev ? 0 : -EINVAL;
}

static TOY_FUNCTION int nv_pmops_runtime_resume(struct device *dev)
{
	usleep_range(1000, 1050);
	return dev ? 0 : -EINVAL;
}

static int set_suspend(const char *text, const struct kernel_param *parameter)
{
	u32 us;
	int error = kstrtou32(text, 0, &us);

	if (error)
		return error;
	if (us == 0)
		return nv_pmops_suspend(&device->dev) ? : nv_pmops_resume(&device->dev);
	return nvidia_suspend(&device->dev, us, true) ? : nvidia_resume(&device->dev, us);
}

static int set_runtime(const char *text, const struct kernel_param *parameter)
{
	return nv_pmops_runtime_suspend(&device->dev) ? : nv_pmops_runtime_resume(&device->dev);
}

static int set_p2p(const char *text, const struct kernel_param *parameter)
{
	u32 pages, i;
	int error = kstrtou32(text, 0, &pages);

	for (i = 0; i < pages && !error; i++)
		error = nvidia_p2p_get_pages(0, 0, i * PAGE_SIZE, PAGE_SIZE);
	return error ? : nvidia_p2p_dma_map_pages(pci, NULL);
}

static int set_lend(const char *text, const struct kernel_param *parameter)
{
	u32 bytes;
	int error = kstrtou32(text, 0, &bytes);

	if (error)
		return error;
	error = nvidia_p2p_get_pages(0, 0, 0, bytes) ? :
		nvidia_p2p_get_pages_persistent(0, bytes) ? :
		nvidia_p2p_dma_map_pages(pci, NULL) ? :
		nvidia_p2p_dma_unmap_pages(pci, NULL) ? :
		nvidia_p2p_put_pages(0, 0, 0, NULL) ? :
		nvidia_p2p_put_pages_persistent(0, NULL, 0);
	return error ? : nvidia_p2p_get_pages(0, 0, 0, 0) == -EINVAL ? 0 : -EIO;
}

#define TOY_PARAMETER(name, get_it, set_it, mode)                                        \
	static const struct kernel_param_ops name##_ops = { .get = get_it, .set = set_it }; \
	module_param_cb(name, &name##_ops, NULL, mode)
TOY_PARAMETER(report, NULL, set_report, 0200);
TOY_PARAMETER(interrupt, get_irq, set_interrupt, 0600);
TOY_PARAMETER(suspend, NULL, set_suspend, 0200);
TOY_PARAMETER(p2p, NULL, set_p2p, 0200);
TOY_PARAMETER(lend, NULL, set_lend, 0200);
TOY_PARAMETER(runtime, NULL, set_runtime, 0200);

static int show_gpu(struct seq_file *file, void *unused)
{
	seq_puts(file, "Model: \t\t toy\nDevice Minor: \t 0\n");
	return 0;
}

static void free_irqs(void)
{
	int i;

	for (i = 0; i < TOY_GPUS; i++) {
		if (!irqs[i])
			continue;
		free_irq(irqs[i], &irqs[i]);
		irq_free_desc(irqs[i]);
	}
}

static int request_irqs(void)
{
	int i, error = 0;

	for (i = 0; i < TOY_GPUS && !error; i++) {
		/* Without an owner, which would have to stay as long as its interrupt. */
		int irq = __irq_alloc_descs(-1, 0, 1, NUMA_NO_NODE, NULL, NULL);

		if (irq < 0)
			return irq;
		irq_set_chip_and_handler(irq, &dummy_irq_chip, handle_simple_irq);
		irq_clear_status_flags(irq, IRQ_NOREQUEST);
		error = request_threaded_irq(irq, i ? nvidia_isr : nvidia_isr_msix,
					     i ? nvidia_isr_kthread_bh : nvidia_isr_msix_kthread_bh,
					     0, "nvidia", &irqs[i]);
		if (error)
			irq_free_desc(irq);
		else
			irqs[i] = irq;
	}
	return error;
}

static void leave(void)
{
	free_irqs();
	proc_remove(proc_top);
	if (!IS_ERR_OR_NULL(device))
		platform_device_unregister(device);
	if (pci)
		pci_dev_put(pci);
	cdev_del(&chardev);
	unregister_chrdev_region(MKDEV(NV_MAJOR, 0), 256);
}

static int __init enter(void)
{
	int error = register_chrdev_region(MKDEV(NV_MAJOR, 0), 256, "nvidia-frontend");

	if (error)
		return error;
	cdev_init(&chardev, &nvidia_fops);
	error = cdev_add(&chardev, MKDEV(NV_MAJOR, 0), 256);
	if (error) {
		unregister_chrdev_region(MKDEV(NV_MAJOR, 0), 256);
		return error;
	}
	pci = pci_get_device(PCI_ANY_ID, PCI_ANY_ID, NULL);
	device = platform_device_register_simple("nvidia", 7, NULL, 0);
	proc_top = proc_mkdir("driver/nvidia", NULL);
	proc_gpu = proc_mkdir("gpus", proc_top);
	proc_gpu = proc_mkdir("0000:01:00.0", proc_gpu);
	proc_create_single("information", 0444, proc_gpu, show_gpu);
	error = IS_ERR(device) ? PTR_ERR(device) : request_irqs();
	if (error)
		leave();
	return error;
}
module_init(enter);
module_exit(leave);

MODULE_DESCRIPTION("NVIDIA's driver, without a GPU");
MODULE_LICENSE("Dual MIT/GPL");
MODULE_VERSION("580.126.09");
