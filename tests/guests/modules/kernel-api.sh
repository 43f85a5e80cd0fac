#!/bin/sh
# kernel-api.sh INCLUDE: what this kernel's headers have, as compiler flags. Stable kernels take such
# changes over, so a version says nothing.
set -eu
scheduler=$1/drm/gpu_scheduler.h
has() { ! grep -qw -e "$2" "$1" || echo "-D$3"; }

job_init=$(sed -n '/^int drm_sched_job_init(/,/;/p' "$scheduler")
case $job_init in *drm_client_id*) echo -DJOB_HAS_CLIENT ;; esac
case $job_init in *credits*) echo -DJOB_HAS_CREDITS ;; esac
has "$scheduler" drm_sched_job_arm JOB_HAS_DEPENDENCIES
has "$scheduler" drm_sched_init_args SCHED_HAS_ARGS
has "$scheduler" num_rqs SCHED_HAS_RQS
has "$scheduler" DRM_GPU_SCHED_STAT_RESET TIMEOUT_IS_RESET
has "$scheduler" DRM_GPU_SCHED_STAT_NOMINAL TIMEOUT_IS_NOMINAL
has "$1/drm/drm_crtc.h" drmm_crtc_alloc_with_planes CRTC_IS_MANAGED
has "$1/drm/drm_device.h" @irq_enabled CARD_HAS_IRQ_ENABLED
has "$1/linux/hrtimer.h" hrtimer_setup HAS_HRTIMER_SETUP
