#!/bin/bash
# frames.sh [RECORDING]: how fast its page opens and moves in Chromium (frames.js); without one, that of a minute
# with a million switches and nearly 90,000 jobs.
set -eu

out=$(mktemp -d /tmp/gpufs-frames-XXXXXX)
trap 'rm -rf "$out"' EXIT

recording=${1:-}
if [ -z "$recording" ]; then
    recording=$out/busy.txt
    awk -v switches=1000000 -v gap=42 -f tests/browser/busy.awk >"$recording"
fi
"$GPUFS_BIN" report -i "$recording" --html "$out/page.html"
for size in "1280 720" "1920 1080" "390 844"; do
    echo "$size"
    # shellcheck disable=SC2086
    NODE_PATH=build/browser/node_modules node tests/browser/frames.js "$out/page.html" $size
done
