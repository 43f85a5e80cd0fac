#!/bin/bash
# lint.sh: what `make lint` holds the tree to. One line a check, below it what was found, as
# file:line: what is wrong. Exit status 1 when something is; what ends in "(warning)" is not yet.
# Reads B, the build directory, for the binary whose --help the man pages must agree with.
set -u
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}

failed=0
# check NAME COMMAND…: the command prints what it finds, and fails only when it could not look.
check() {
    local name=$1 found status=0
    shift
    echo "  LINT  $name"
    found=$("$@" 2>&1) || status=$?
    [ -z "$found" ] || printf '%s\n' "$found"
    if [ "$status" != 0 ] && [ -z "$found" ]; then
        echo "$*: ended with status $status and no word"
    fi
    if [ "$status" != 0 ] || grep -qv '(warning)$' <<<"${found:-(warning)}"; then
        failed=$((failed + 1))
    fi
}

# What git knows, and what it will know once added.
files() {
    git ls-files -co --exclude-standard -- "$@" | while read -r f; do
        if [ -e "$f" ]; then echo "$f"; fi
    done
}
# The kernel modules of the guests are C, in the kernel's style.
code() { files '*.h' '*.cc' ':!tests/guests/modules'; }

# The table of tests/lint/folders; and who may include what is not ours.
includes() {
    # shellcheck disable=SC2046  # no file of ours has a space in its name
    awk '
        BEGIN {
            # Third-party headers, and the only files (or folders) that see them.
            allowed["event-parse.h"] = "src/lang/event/event_format.cc"
            allowed["gelf.h"] = "src/kernel/elf/elf_file.h"
            allowed["boost/test/"] = "tests/"
            allowed["gpufs/"] = "tests/embed/"
            allowed["zlib.h"] = "src/lang/trace_dat/compression.cc src/kernel/elf/debug_file.cc src/view/export/gzip.cc tests/support/page.cc"
            allowed["lzma.h"] = "src/kernel/elf/mini_debug_info.cc"
            allowed["zstd.h"] = "src/base/embedded.cc src/lang/trace_dat/compression.cc src/kernel/elf/debug_sections.cc"
            allowed["cxxabi.h"] = "src/lang/symbols/function_name.cc"
            # C library and kernel headers that are neither under sys/ nor under linux/.
            split("arpa/inet dirent dlfcn elf fcntl fnmatch getopt fts grp link net/if netdb netinet/in netinet/tcp poll pthread pty pwd regex sched spawn stdlib termios unistd", names)
            for (i in names) posix[names[i] ".h"]
            # lang makes no system call, reads no clock, prints nothing.
            split("arpa/inet.h dirent.h fcntl.h net/if.h netinet/in.h poll.h pthread.h pty.h sched.h unistd.h", names)
            for (i in names) impure[names[i]]
            split("chrono csignal ctime fstream iostream thread", names)
            for (i in names) impure[names[i]]
        }
        function complain(what) { printf "%s:%d: %s\n", FILENAME, FNR, what }
        function folder_of(file) {
            return sub(/\/[^\/]*$/, "", file) ? file : ""
        }
        function is_allowed(header,    h, i, n, files) {
            for (h in allowed) if (index(header, h) == 1) {
                n = split(allowed[h], files, " ")
                for (i = 1; i <= n; ++i) if (index(FILENAME, files[i]) == 1) return 1
            }
            return 0
        }
        FILENAME == table {
            if (/^#/ || NF == 0) next
            may[$1, $1]
            may[$1, "base"]
            for (i = 2; i <= NF; ++i) {
                if (!($i in row)) complain($i " is not a row above: an arrow up, or a circle")
                may[$1, $i]
            }
            row[$1]
            next
        }
        FNR == 1 {
            folder = FILENAME
            if (!sub(/^src\//, "", folder)) folder = ""
            folder = folder_of(folder)
            layer = folder
            sub(/\/.*/, "", layer)
            if (folder != "" && folder != "base" && !(folder in row))
                complain(table " has no row for " folder)
        }
        !/^[ \t]*#[ \t]*include/ { next }
        {
            header = $0
            sub(/^[^<"]*/, "", header)
            quote = substr(header, 1, 1)
            header = substr(header, 2)
            sub(/[>"].*/, "", header)
        }
        quote == "\"" {
            # Tests see all layers; what the build makes (.inc) has none.
            if (layer == "" || header ~ /\.inc$/) next
            of = folder_of(header)
            # The public interface: the library implements it, and its errors are those of all.
            if (of == "gpufs" && (layer == "api" || header == "gpufs/error.h")) next
            if (of == "") complain("write the path from src/ or include/: " header)
            else if (!((folder, of) in may) && !(folder == "base" && of == "base"))
                complain(folder " must not include " header " (" table ")")
            next
        }
        header ~ /^[a-z_]+$/ || header ~ /^(sys|linux|asm)\// || header in posix {
            if (layer == "lang" && (header in impure || header ~ /^sys\//))
                complain("lang must not include <" header ">: no system call, no clock, no print")
            if (header == "iostream" && layer != "" && layer != "cmd")
                complain("only cmd prints: <iostream>")
            next
        }
        !is_allowed(header) { complain("third-party <" header "> is not for this file") }
    ' table=tests/lint/folders tests/lint/folders $(code)
}

# g++, clang-format and clang-tidy, on the files that changed since they were found clean.
stamps() {
    local out
    # Not the job server of the make above: it shares nothing with a script.
    out=$(env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -k -O -j"$(nproc)" SAN="${SAN-}" \
        -f Makefile -f tests/lint/stamps.mk "$1" 2>&1) && return
    # A header's finding comes once for every file that includes it.
    awk -v here="$PWD/" '
        index($0, here) == 1 { $0 = substr($0, length(here) + 1) }
        /^make: \*\*\*.*Error [0-9]*$|^make: Target/ { next }
        /^[^ ]+:[0-9]+:[0-9]+: / { skip = $0 in seen; seen[$0] }
        !skip' <<<"$out"
    return 1
}

# Other versions of clang-format and clang-tidy have other opinions.
stamps_by() {
    local version
    version=$("$1" --version | sed -n 's/.*version \([0-9]*\).*/\1/p')
    if [ "$version" != 14 ]; then
        echo "$1 14 is needed (Debian 12 has it); this is ${version:-none}"
        return 1
    fi
    stamps "$2"
}

shell_scripts() {
    local f scripts=()
    for f in $(files); do
        case $f in
            *.sh | *.bash) scripts+=("$f") ;;
            *) head -c 64 "$f" | head -n 1 | grep -qaE '^#!.*[/ ](ba|da)?sh' && scripts+=("$f") ;;
        esac
    done
    shellcheck --format=gcc "${scripts[@]}"
    [ $? -le 1 ]
}

sizes() {
    # shellcheck disable=SC2046
    wc -l $(code) | awk '
        $2 == "total" { next }
        # Tests are read from top to bottom, and their generators are headers.
        {
            is_header = $2 ~ /\.h$/ && $2 !~ /^tests/
            most = is_header ? 200 : 600
            enough = is_header ? 150 : 500
        }
        $1 > most { printf "%s:%d: at most %d lines: it is two nouns\n", $2, $1, most; next }
        $1 > enough { printf "%s:%d: over %d lines (warning)\n", $2, $1, enough }'
}

# Brackets, so that these lines do not find themselves.
words() {
    files | xargs grep -nHIwE '[T]ODO|[F]IXME|[X]XX|[H]ACK' |
        sed 's/\(:[0-9]*:\) */\1 not for the tree: /'
    files | xargs grep -nHIE '(^|[^[:alnum:]._-])/([w]ork|[r]oot|[h]ome)/' |
        sed 's/\(:[0-9]*:\) */\1 a path of one machine: /'
}

[ -n "$(code)" ] || { echo "lint: git lists no source files here"; exit 1; }
check "include rule" includes
check "headers compile alone" stamps lint-headers
check "clang-format" stamps_by clang-format lint-format
check "clang-tidy" stamps_by clang-tidy lint-tidy
check "man pages" bash tests/lint/man.sh "$B/gpufs"
check "shellcheck" shell_scripts
check "sizes" sizes
check "words" words

if [ "$failed" != 0 ]; then
    echo "lint: $failed of 8 checks found something"
    exit 1
fi
