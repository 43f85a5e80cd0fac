#!/bin/bash
# man.sh GPUFS: the manual agrees with the binary. Every page is clean for groff; every command has a
# page; the options in a page's OPTIONS are those of the command's --help. Prints page: what is wrong.
set -u
gpufs=$1

for page in man/*.[158]; do
    # A page that only points at another (.so) has nothing to check.
    grep -q '^\.so ' "$page" && continue
    groff -man -t -Tutf8 -ww -z "$page" 2>&1
done

# The long options that a text names, one a line.
options_in() { grep -oE -- '--[a-z][a-z-]*' | sort -u; }

"$gpufs" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p' | while read -r command; do
    page=man/gpufs-$command.1
    [ -e "$page" ] || { echo "$page: missing: every command has a page"; continue; }
    target=$(sed -n 's/^\.so man1\//man\//p' "$page")
    help=$("$gpufs" "$command" --help | sed -n '/^  *-/p' | sed 's/^ *//; s/  .*//' | options_in)
    # .TP entries of the OPTIONS section, with the escapes of hyphens taken away.
    manual=$(sed -n '/^\.SH OPTIONS/,/^\.SH [^O]/p' "${target:-$page}" | sed 's/\\-/-/g' |
        awk '/^\.TP/ { tag = 1; next } tag { print; tag = 0 }' | options_in)
    diff <(echo "$help") <(echo "$manual") | sed -n \
        "s|^< \(.*\)|$page: \1 is in --help and not in OPTIONS|p; s|^> \(.*\)|$page: \1 is in OPTIONS and not in --help|p"
done
exit 0
