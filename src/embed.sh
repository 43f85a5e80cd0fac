#!/bin/sh
# embed.sh FUNCTION FILE...: a C++ source whose FUNCTION returns the files and their texts. Declared in
# base/embedded.h.
set -eu

function=$1
shift
cat <<'EOF'
// Made by src/embed.sh.
#include "base/embedded.h"

namespace gpufs {
namespace {

constexpr EmbeddedFile kFiles[] = {
EOF
for file; do
    # The text of a raw string must not hold what ends it.
    if grep -q ')embedded"' "$file"; then
        echo "embed.sh: $file cannot be embedded" >&2
        exit 1
    fi
    printf '    {"%s", R"embedded(' "${file#*/}"
    cat "$file"
    printf ')embedded"},\n'
done
cat <<EOF
};

}  // namespace

std::span<const EmbeddedFile> $function() { return kFiles; }

}  // namespace gpufs
EOF
