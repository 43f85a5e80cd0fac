#!/bin/sh
# drm-api.sh HEADER: what this kernel's gpu_scheduler.h has, as compiler flags. Stable kernels take
# such changes over, so a version says nothing.
set -eu
header=$1
job_init=$(sed -n '/^int drm_sched_job_init(/,/;/p' "$header")
case $job_init in *drm_client_id*) echo -DJOB_HAS_CLIENT ;; esac
case $job_init in *credits*) echo -DJOB_HAS_CREDITS ;; esac
! grep -q 'num_rqs;' "$header" || echo -DSCHED_HAS_RQS
