#!/bin/sh
# known_events.sh: prints what src/lang/trace_text/known_events.txt holds, from the trees beside it:
# the formats of the events of GPU drivers, each form once, the newest kernel's first. Without what all
# formats have: the number of the event and the common fields.
set -eu
cd "$(dirname "$0")"
cat <<'END'
# The events of GPU drivers as kernels have them: what a text recording does not tell. The newest form
# of an event comes first. Made by tests/data/formats/known_events.sh.
END
for system in amdgpu amdgpu_dm i915 nvidia vpu xe; do
    for event in $(find ./*/events/"$system" -mindepth 1 -maxdepth 1 -type d 2>/dev/null | sed 's,.*/,,' | sort -u); do
        for tree in 7.3 low-level 6.12 6.1 5.10; do
            format=$tree/events/$system/$event/format
            [ ! -e "$format" ] || sed "/^ID:/d; /field:.* common_/d; /^$/d; s/^name: /&$system:/" "$format"
        done
    done
done | awk '
    # Forms of one event follow each other.
    function flush() { if (form != "" && !(form in told)) { told[form]; printf "%s", form } form = "" }
    /^name: / { flush() }
    /^format:$/ { next }
    { form = form $0 "\n" }
    END { flush() }'
