#!/bin/bash
# Gets the tools of Debian's package bpftrace, as scripts to run: build/vm/bt-tools/*.bt
# ($GPUFS_VM_KERNELS/bt-tools when that is set). bpftrace itself, with LLVM, stays where it is.
set -euo pipefail
export LC_ALL=C PATH=$PATH:/usr/sbin:/sbin

fail() {
    echo "fetch-bt-tools.sh: $*" >&2
    exit 1
}

# The tests know what these print.
suite=bookworm
version=0.17.0-1
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/guests/debian.sh
. "$top/tests/guests/debian.sh"
tools=$downloads/bt-tools
[ ! -e "$tools" ] || exit 0
update_suite $suite
work=$downloads/bt-tools.$$
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
download_and_unpack $suite "$work" bpftrace=$version
mkdir "$work/bt-tools"
mv "$work/root/usr/sbin/"*.bt "$work/bt-tools"
mv -T "$work/bt-tools" "$tools" 2>/dev/null || [ -e "$tools" ]
