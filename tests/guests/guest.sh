#!/bin/bash
# PID 1 of the guest, on the host's root directory: runs the job that run.sh left in the control
# share, leaves the exit status there and powers off. Not for use outside a guest.
cd / || exit
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LANG=C.UTF-8
control=/run/gpufs-vm/control
chmod 1777 /tmp
mkdir /dev/pts /dev/shm
ln -s /proc/self/fd /dev/fd
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t tracefs nodev /sys/kernel/tracing
mount -t bpf nodev /sys/fs/bpf

# What the job sets, besides the environment to pass on.
top='' kernel='' modules=() command=()
# shellcheck source=/dev/null
. $control/job
export GPUFS_VM_OUT=/run/gpufs-vm/out
# For whoever loads a module, the kernel itself included: the modules are not under /lib/modules.
export MODPROBE_OPTIONS="-d $kernel/root"
printf '#!/bin/sh\nexec modprobe -d %q "$@"\n' "$kernel/root" >/run/gpufs-vm/modprobe
chmod 755 /run/gpufs-vm/modprobe
echo /run/gpufs-vm/modprobe >/proc/sys/kernel/modprobe

load() {
    local module
    for module in "${modules[@]}"; do
        if [ -e "$GPUFS_VM_MODULES/$module.ko" ]; then
            insmod "$GPUFS_VM_MODULES/$module.ko" || return
        else
            modprobe "$module" || return
        fi
    done
}

status=125
if ! load; then
    echo "guest.sh: cannot load all of ${modules[*]}"
elif cd "$top"; then
    # A session of its own: a test that signals its process group must not hit PID 1.
    setsid --wait "${command[@]}" </dev/null
    status=$?
fi
dmesg >$control/dmesg
echo $status >$control/status
sync
# From here on only builtins: the root directory may be gone before the power is.
echo o >/proc/sysrq-trigger
while :; do :; done
