#!/bin/sh
# embed.sh FUNCTION FILE...: a C++ source whose FUNCTION returns the files, their texts packed
# together by zstd: as they are, they would be a twelfth of the binary. Declared in base/embedded.h.
set -eu

function=$1
shift
all=$(cat "$@" | wc -c)
cat <<'END'
// Made by src/embed.sh.
#include "base/embedded.h"

namespace gpufs {
namespace {

using std::literals::operator""sv;

constexpr EmbeddedTexts kTexts = {
END
cat "$@" | zstd -19 -qc --no-check | od -An -v -tx1 | sed 's/ /\\x/g; s/.*/    "&"/; $ s/$/sv,/'
printf '    %s};\n\nconstexpr EmbeddedFile kFiles[] = {\n' "$all"
begin=0
for file; do
    bytes=$(wc -c <"$file")
    echo "    {\"${file#*/}\", &kTexts, $begin, $bytes},"
    begin=$((begin + bytes))
done
cat <<END
};

}  // namespace

std::span<const EmbeddedFile> $function() { return kFiles; }

}  // namespace gpufs
END
