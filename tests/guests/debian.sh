# shellcheck shell=bash
# Which kernels of Debian the scripts here know, and apt for the suites that have them: whatever this
# machine itself runs, nothing of its apt is changed. Sourced by scripts that have fail() and $top.

# Where downloads are kept: of this machine's architecture, and below its name those of another.
downloads=$(realpath -m "${GPUFS_VM_KERNELS:-$top/build/vm}")

# By Debian's names. Packages are of $arch.
native=$(dpkg --print-architecture)
arch=$native

# SERIES  SUITE              COMPILER of its modules: this machine's, or that of another suite
kernels='
5.10      bullseye           gcc-12
6.1       bookworm-security  gcc-12
6.12      bookworm-security  gcc-12
7.3       trixie-backports   gcc-14@trixie
'

# ARCH  its GNU tools and folders
architectures='
amd64   x86_64-linux-gnu
arm64   aarch64-linux-gnu
'

# Sets arch and triplet; for an architecture that is not this machine's, foreign and root, the directory
# that fetch-root.sh makes.
# shellcheck disable=SC2034  # who sources this uses them
know_arch() {
    arch=$1
    read -r triplet < <(awk -v arch="$arch" '$1 == arch {print $2}' <<<"$architectures") ||
        fail "knows no architecture '$arch': $(awk '{printf "%s%s", sep, $1; if (NF) sep = " "}' <<<"$architectures")"
    foreign='' root=/
    [ "$arch" = "$native" ] || foreign=$arch root=$downloads/$arch/root
}

# know_series [ARCH/]SERIES: sets suite and compiler from the row of a series, and what know_arch sets.
# shellcheck disable=SC2034  # who sources this uses them
know_series() {
    case $1 in
    */*) know_arch "${1%/*}" ;;
    *) know_arch "$native" ;;
    esac
    read -r suite compiler < <(awk -v series="${1##*/}" '$1 == series {print $2, $3}' <<<"$kernels") ||
        fail "knows no series '$1': $(awk '{printf "%s%s", sep, $1; if (NF) sep = " "}' <<<"$kernels")"
}

apt_root() {
    echo "$downloads/apt/$1$([ "$arch" = "$native" ] || echo "@$arch")"
}

# apt_of SUITE TOOL ARGUMENT…: one of apt's tools on what a suite offers.
apt_of() {
    local root tool=$2
    root=$(apt_root "$1")
    shift 2
    "$tool" -qq -o Dir::Etc::sourcelist="$root/sources.list" -o Dir::Etc::sourceparts=- \
        -o Dir::State="$root" -o Dir::State::status="$root/status" -o Dir::Cache="$root/cache" \
        -o APT::Architecture="$arch" -o APT::Architectures="$arch" -o APT::Sandbox::User=root \
        -o Acquire::Languages=none "$@"
}

# Where this machine gets debian or debian-security from.
archive() {
    # shellcheck disable=SC2016  # apt's words
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' |
        grep -m1 -E "/$1/?$" || echo "http://deb.debian.org/$1"
}

# Has apt_of know what a suite offers; asks the archive once a day.
update_suite() {
    local suite=$1 root archive=debian lock
    root=$(apt_root "$1")
    mkdir -p "$root/lists/partial" "$root/cache/archives/partial"
    exec {lock}>"$root/lock"
    flock "$lock"
    if [ -z "$(find "$root/updated" -mtime -1 2>/dev/null)" ]; then
        case $suite in *-security) archive=debian-security ;; esac
        : >"$root/status"
        echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
            "$(archive $archive) $suite main" >"$root/sources.list"
        # What apt cannot reach is a warning to it.
        apt_of "$suite" apt-get update >"$root/log" 2>&1 || echo "E: apt-get failed" >>"$root/log"
        ! grep -q '^[EW]:' "$root/log" ||
            fail "cannot get Debian's list of packages of $suite: $(grep -m1 '^[EW]:' "$root/log")"
        touch "$root/updated"
    fi
    exec {lock}>&-
}

# download_and_unpack SUITE WORK PACKAGE…: into WORK/root.
download_and_unpack() {
    local suite=$1 work=$2 deb
    shift 2
    rm -rf "$work"
    mkdir -p "$work/root"
    echo "fetching $*"
    (cd "$work" && apt_of "$suite" apt-get download "$@") >"$work/log" 2>&1 ||
        fail "cannot download $*: $(grep -m1 '^E:' "$work/log" || tail -n 1 "$work/log")"
    for deb in "$work"/*.deb; do dpkg -x "$deb" "$work/root"; done
    rm "$work"/*.deb
}

# install_below ROOT SUITE PACKAGE…: unpacks packages and all that they depend on into a new directory.
# Nothing of them is run.
install_below() {
    local root=$1 suite=$2 cache deb folder
    shift 2
    cache=$(apt_root "$suite")/cache/archives
    update_suite "$suite"
    rm -rf "$root.new" "$root.old" "$cache"
    mkdir -p "$cache/partial"
    # The links that an installed Debian has.
    for folder in bin lib sbin; do
        mkdir -p "$root.new/usr/$folder"
        ln -s "usr/$folder" "$root.new/$folder"
    done
    apt_of "$suite" apt-get install -y --no-install-recommends --download-only base-files "$@" \
        >"$root.log" 2>&1 ||
        fail "cannot download $*: $(grep -m1 '^E:' "$root.log" || tail -n 1 "$root.log")"
    for deb in "$cache"/*.deb; do
        dpkg --fsys-tarfile "$deb" | tar -x -C "$root.new" --keep-directory-symlink
    done
    # What its package does when it is installed.
    ln -s mawk "$root.new/usr/bin/awk"
    [ ! -e "$root" ] || mv "$root" "$root.old"
    mv "$root.new" "$root"
    rm -rf "$root.old" "$cache"
}
