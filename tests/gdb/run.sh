#!/bin/bash
# Compares the variables at random lines of Debian's zlib, built with -O2 -g, as gpufs and as gdb see
# them. usage: run.sh GPUFS DIRECTORY [PAIRS]
#
# The source and the program are put into DIRECTORY. Needs root, tracefs, gdb, binutils and python3.
set -euo pipefail
export LC_ALL=C

gpufs=$(realpath "$1") directory=$(realpath -m "$2") pairs=${3:-1000}
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
fail() {
    echo "run.sh: $*" >&2
    exit 1
}
# shellcheck source=tests/guests/debian.sh
. "$top/tests/guests/debian.sh"

source=zlib_1.2.13.dfsg.orig.tar.bz2
sum=SHA256:71feb7947e3c00ef125f83b79a4e529bde31171e5babe48b391f06758d1ab0a1
mkdir -p "$directory"
cd "$directory"
[ -e "$source" ] ||
    /usr/lib/apt/apt-helper -o APT::Sandbox::User=root download-file "$(archive debian)pool/main/z/zlib/$source" "$source" "$sum" >/dev/null ||
    fail "cannot download $source"
[ -e zlib ] || { mkdir zlib && tar -C zlib --strip-components=1 -xjf "$source"; }
(cd zlib && gcc -O2 -g -no-pie -w -DHAVE_UNISTD_H -include unistd.h -I. -o ../minigzip test/minigzip.c \
    adler32.c compress.c crc32.c deflate.c gzclose.c gzlib.c gzread.c gzwrite.c infback.c inffast.c \
    inflate.c inftrees.c trees.c uncompr.c zutil.c)
# Texts that are short: one of more than a page has no record.
for ((i = 0; i < 600; ++i)); do printf 'line %d\0%x\n' $((i * i % 97)) $((i * 7919)); done >input
python3 "$here/compare.py" "$gpufs" "$pairs" ./minigzip -1 -c input
gzip -c input >input.gz
python3 "$here/compare.py" "$gpufs" "$pairs" ./minigzip -d -c input.gz
