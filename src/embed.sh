#!/bin/sh
# embed.sh FUNCTION FILE...: a C++ source whose FUNCTION returns the files and their texts, packed by
# gzip: as they are, they would be a twentieth of the binary. Declared in base/embedded.h.
set -eu

function=$1
shift
cat <<'END'
// Made by src/embed.sh.
#include "base/embedded.h"

namespace gpufs {
namespace {

using std::literals::operator""sv;

constexpr EmbeddedFile kFiles[] = {
END
for file; do
    printf '    {"%s",\n' "${file#*/}"
    gzip -9nc "$file" | od -An -v -tx1 | sed 's/ /\\x/g; s/.*/     "&"/; $ s/$/sv},/'
done
cat <<END
};

}  // namespace

std::span<const EmbeddedFile> $function() { return kFiles; }

}  // namespace gpufs
END
