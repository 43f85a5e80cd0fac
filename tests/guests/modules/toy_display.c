// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Cards with three displays each, without a picture, behind the kernel's own DRM: a timer's interrupt
 * ends each frame. The second card's interrupts go off when nobody asks for a frame, as those of most
 * real ones do; the frames go on. Parameters are those of the first card's displays, of the third
 * those of the second card's, but for run and late_us.
 * Used by DRM_IOCTL_WAIT_VBLANK and by the parameters. What its engines are said to have worked for
 * whoever has a card open, and the memory, are parameters, too: its files tell them in fdinfo.
 */
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/seq_file.h>
#include <drm/drm_crtc.h>
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_fourcc.h>
#include <drm/drm_gem.h>
#include <drm/drm_ioctl.h>
#include <drm/drm_managed.h>
#include <drm/drm_mode_config.h>
#include <drm/drm_plane.h>
#include <drm/drm_vblank.h>

#include "timers.h"

#define CARDS 2
#define DISPLAYS 3
#define BITS_32 0xffffffffu

static uint refresh_hz[DISPLAYS] = { 60, 144, 60 };
module_param_array(refresh_hz, uint, NULL, 0444);

static bool run;
module_param(run, bool, 0644);
MODULE_PARM_DESC(run, "frames go by");

static uint skip[DISPLAYS];
module_param_array(skip, uint, NULL, 0644);
MODULE_PARM_DESC(skip, "interrupts to lose, once");

static uint late_us;
module_param(late_us, uint, 0644);
MODULE_PARM_DESC(late_us, "how long after the end of its frame an interrupt comes");

/* What was, since the module was loaded. */
static uint irqs[DISPLAYS], missed[DISPLAYS];
module_param_array(irqs, uint, NULL, 0444);
module_param_array(missed, uint, NULL, 0444);

/* Of each open file. */
static ulong gfx_ns, video_ns, vram_kib;
module_param(gfx_ns, ulong, 0644);
module_param(video_ns, ulong, 0644);
MODULE_PARM_DESC(video_ns, "of two engines together");
module_param(vram_kib, ulong, 0644);

struct display {
	struct drm_crtc *crtc;
	struct hrtimer timer;
	bool is_on;		/* the interrupt */
	bool is_fresh;		/* no frame since it runs */
	ktime_t next;		/* when the frame after this one ends */
	u32 frame;
	ktime_t frame_end;
};

static struct card {
	struct platform_device *platform;
	struct drm_device *drm;
	struct display displays[DISPLAYS];
} cards[CARDS];

static ktime_t frame_time(const struct display *display)
{
	return ns_to_ktime(NSEC_PER_SEC / refresh_hz[drm_crtc_index(display->crtc)]);
}

static enum hrtimer_restart frame_interrupt(struct hrtimer *timer)
{
	struct display *display = container_of(timer, struct display, timer);
	const ktime_t now = ktime_get(), length = frame_time(display);
	const size_t i = drm_crtc_index(display->crtc);
	const bool is_first = display == &cards[i == DISPLAYS - 1].displays[i];
	u32 frames = 1;

	if (!READ_ONCE(display->is_on))
		return HRTIMER_NORESTART;
	if (!READ_ONCE(run)) {
		display->next = ktime_add(now, length);
		display->is_fresh = true;
	} else if (is_first && skip[i]) {
		/* Nobody hears of this frame; the next interrupt finds the count advanced. */
		skip[i]--;
		display->next = ktime_add(display->next, length);
		missed[i]++;
		display->frame++;
	} else {
		/* As hardware does: what passed while interrupts were off is one interrupt. */
		while (ktime_compare(ktime_add(display->next, length), now) <= 0) {
			display->next = ktime_add(display->next, length);
			frames++;
		}
		display->frame_end = display->next;
		display->frame += frames;
		display->next = ktime_add(display->next, length);
		if (is_first) {
			irqs[i]++;
			if (!display->is_fresh)
				missed[i] += frames - 1;
		}
		display->is_fresh = false;
		drm_crtc_handle_vblank(display->crtc);
	}
	hrtimer_set_expires(timer, ktime_add_us(display->next, late_us));
	return HRTIMER_RESTART;
}

static struct display *display_of(struct drm_crtc *crtc)
{
	size_t i = 0;

	while (cards[i].drm != crtc->dev)
		i++;
	return &cards[i].displays[drm_crtc_index(crtc)];
}

static int enable_vblank(struct drm_crtc *crtc)
{
	struct display *display = display_of(crtc);

	const ktime_t now = ktime_get(), length = frame_time(display);

	/* Frames that nobody heard of. */
	while (READ_ONCE(run) && display->frame_end && ktime_compare(display->next, now) <= 0) {
		display->frame_end = display->next;
		display->next = ktime_add(display->next, length);
		display->frame++;
	}
	if (ktime_compare(display->next, now) <= 0)
		display->next = ktime_add(now, length);
	display->is_fresh = true;
	WRITE_ONCE(display->is_on, true);
	hrtimer_start(&display->timer, ktime_add_us(display->next, late_us), HRTIMER_MODE_ABS);
	return 0;
}

static void disable_vblank(struct drm_crtc *crtc)
{
	/* It may be running, and want a lock that our caller holds: it ends by itself. */
	WRITE_ONCE(display_of(crtc)->is_on, false);
	hrtimer_try_to_cancel(&display_of(crtc)->timer);
}

static u32 vblank_counter(struct drm_crtc *crtc)
{
	return display_of(crtc)->frame;
}

static bool vblank_timestamp(struct drm_crtc *crtc, int *max_error, ktime_t *time, bool in_irq)
{
	*max_error = 0;
	*time = display_of(crtc)->frame_end;
	return true;
}

#ifndef CRTC_IS_MANAGED
static void destroy_crtc(struct drm_crtc *crtc)
{
	drm_crtc_cleanup(crtc);
	kfree(crtc);
}
#endif

static const struct drm_crtc_funcs crtc_funcs = {
#ifndef CRTC_IS_MANAGED
	.destroy = destroy_crtc,
#endif
	.enable_vblank = enable_vblank,
	.disable_vblank = disable_vblank,
	.get_vblank_counter = vblank_counter,
	.get_vblank_timestamp = vblank_timestamp,
};

static const u32 formats[] = { DRM_FORMAT_XRGB8888 };

#ifdef CRTC_IS_MANAGED
struct toy_crtc {
	struct drm_crtc base;
};
struct toy_plane {
	struct drm_plane base;
};
static const struct drm_plane_funcs plane_funcs = {};

static struct drm_crtc *add_crtc(struct drm_device *card)
{
	struct toy_plane *plane;
	struct toy_crtc *crtc;

	plane = drmm_universal_plane_alloc(card, struct toy_plane, base, 0, &plane_funcs, formats,
					   ARRAY_SIZE(formats), NULL, DRM_PLANE_TYPE_PRIMARY, NULL);
	if (IS_ERR(plane))
		return ERR_CAST(plane);
	crtc = drmm_crtc_alloc_with_planes(card, struct toy_crtc, base, &plane->base, NULL,
					   &crtc_funcs, NULL);
	return IS_ERR(crtc) ? ERR_CAST(crtc) : &crtc->base;
}
#else
/* Before Linux 5.12 they are the driver's to free. */
static void destroy_plane(struct drm_plane *plane)
{
	drm_plane_cleanup(plane);
	kfree(plane);
}

static const struct drm_plane_funcs plane_funcs = { .destroy = destroy_plane };

static struct drm_crtc *add_crtc(struct drm_device *card)
{
	struct drm_plane *plane = kzalloc(sizeof(*plane), GFP_KERNEL);
	struct drm_crtc *crtc = kzalloc(sizeof(*crtc), GFP_KERNEL);
	int error = plane && crtc ? 0 : -ENOMEM;

	if (!error)
		error = drm_universal_plane_init(card, plane, 0, &plane_funcs, formats,
						 ARRAY_SIZE(formats), NULL, DRM_PLANE_TYPE_PRIMARY,
						 NULL);
	if (error)
		goto free_plane;
	error = drm_crtc_init_with_planes(card, crtc, plane, NULL, &crtc_funcs, NULL);
	if (!error)
		return crtc;
	/* The card frees planes that it has. */
	plane = NULL;
free_plane:
	kfree(plane);
	kfree(crtc);
	return ERR_PTR(error);
}
#endif

static int add_display(struct drm_device *card, struct display *display)
{
	display->crtc = add_crtc(card);
	if (IS_ERR(display->crtc))
		return PTR_ERR(display->crtc);
	hrtimer_setup(&display->timer, frame_interrupt, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	return 0;
}

/* As the kernel's Documentation/gpu/drm-usage-stats.rst has it. */
static void show_fdinfo(struct seq_file *text, struct file *file)
{
	struct drm_file *client = file->private_data;

	seq_printf(text, "drm-driver:\ttoy_display\n");
	seq_printf(text, "drm-client-id:\t%lu\n", (ulong)client->driver_priv);
	seq_printf(text, "drm-engine-gfx:\t%lu ns\n", gfx_ns);
	seq_printf(text, "drm-engine-video:\t%lu ns\n", video_ns);
	seq_printf(text, "drm-engine-capacity-video:\t2\n");
	seq_printf(text, "drm-total-vram:\t%lu KiB\n", vram_kib);
	seq_printf(text, "drm-resident-vram:\t%lu KiB\n", vram_kib / 2);
}

static int open_client(struct drm_device *card, struct drm_file *client)
{
	static atomic_long_t clients;

	client->driver_priv = (void *)atomic_long_inc_return(&clients);
	return 0;
}

DEFINE_DRM_GEM_FOPS(gem_fops);
static struct file_operations toy_fops;		/* the same with show_fdinfo */

static struct drm_driver toy_driver = {
	.driver_features = DRIVER_MODESET | DRIVER_GEM,
	.fops = &toy_fops,
	.open = open_client,
	.name = "toy_display",
	.desc = "Displays without a picture",
	.major = 1,
};

static int init_card(struct card *card)
{
	int i, error = drmm_mode_config_init(card->drm);

	card->drm->max_vblank_count = BITS_32;
	card->drm->vblank_disable_immediate = card != &cards[0];
#ifdef CARD_HAS_IRQ_ENABLED
	card->drm->irq_enabled = true;
#endif
	for (i = 0; !error && i < DISPLAYS; i++)
		error = add_display(card->drm, &card->displays[i]);
	if (!error)
		error = drm_vblank_init(card->drm, DISPLAYS);
	for (i = 0; !error && i < DISPLAYS; i++)
		drm_crtc_vblank_on(card->displays[i].crtc);
	return error ? error : drm_dev_register(card->drm, 0);
}

static int add_card(struct card *card, int number)
{
	int error;

	card->platform = platform_device_register_simple("toy_display", number, NULL, 0);
	if (IS_ERR(card->platform))
		return PTR_ERR(card->platform);
	card->drm = drm_dev_alloc(&toy_driver, &card->platform->dev);
	if (IS_ERR(card->drm)) {
		error = PTR_ERR(card->drm);
		goto unregister;
	}
	error = init_card(card);
	if (!error)
		return 0;
	drm_dev_put(card->drm);
unregister:
	platform_device_unregister(card->platform);
	return error;
}

static void remove_card(struct card *card)
{
	int i;

	drm_dev_unregister(card->drm);
	for (i = 0; i < DISPLAYS; i++) {
		drm_crtc_vblank_off(card->displays[i].crtc);
		hrtimer_cancel(&card->displays[i].timer);
	}
	drm_dev_put(card->drm);
	platform_device_unregister(card->platform);
}

static int __init display_init(void)
{
	int i, error = 0;

	toy_fops = gem_fops;
	toy_fops.show_fdinfo = show_fdinfo;
	for (i = 0; !error && i < CARDS; i++)
		error = add_card(&cards[i], i);
	if (error)
		for (i -= 2; i >= 0; i--)
			remove_card(&cards[i]);
	return error;
}

static void __exit display_exit(void)
{
	int i;

	for (i = 0; i < CARDS; i++)
		remove_card(&cards[i]);
}

module_init(display_init);
module_exit(display_exit);
MODULE_DESCRIPTION("Displays without a picture");
MODULE_LICENSE("Dual MIT/GPL");
