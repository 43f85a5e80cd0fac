#!/bin/sh
# install-packages.sh PACKAGE…: installs the Debian packages that are missing; says nothing when
# none is.
set -eu

if ! command -v dpkg-query >/dev/null; then
    echo "not a Debian system: this needs the equivalent of: $*" >&2
    exit 0
fi
missing=
for package in "$@"; do
    case $(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true) in
        *" installed") ;;
        *) missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ]; then
    echo "missing packages; as root: apt-get install$missing" >&2
    exit 1
fi
echo "  DEPS $missing"
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update >/dev/null
# shellcheck disable=SC2086  # one word a package
apt-get -qq install -y --no-install-recommends $missing >/dev/null
