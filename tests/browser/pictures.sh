#!/bin/bash
# pictures.sh: makes the pictures of man/ that README.md shows, by the commands that stand there.
set -eu

out=$(mktemp -d /tmp/gpufs-pictures-XXXXXX)
trap 'rm -rf "$out"' EXIT

mapfile -t commands < <(sed -n 's/^    \$ gpufs \(.*man\/.*\)/\1/p' README.md)
for command in "${commands[@]}"; do eval "\"\$GPUFS_BIN\" $command" >/dev/null; done
page=$(sed -n 's/^    \$ gpufs \(report .*--html\) why.html$/\1/p' README.md)
eval "\"\$GPUFS_BIN\" $page \"\$out/why.html\""
NODE_PATH=build/browser/node_modules node tests/browser/timeline.js "$out/why.html" man/timeline.png
