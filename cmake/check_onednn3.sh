#!/bin/sh
# Builds av_fusion::nn and its tests on Debian 12 against oneDNN 3.x of Debian 13, and runs them.
#
# Usage: check_onednn3.sh WORK_FOLDER
#
# Nothing is installed: the packages are downloaded with a private apt root from the Debian mirror
# that this machine is configured for, unpacked into WORK_FOLDER, and the tests run through their
# own dynamic loader. Needs g++, cmake, ninja, GoogleTest and
# nlohmann-json3-dev.
set -eu
[ $# -eq 1 ] || { echo "usage: $0 WORK_FOLDER" >&2; exit 2; }
repo="$(cd "$(dirname "$0")/.." && pwd)"
mkdir -p "$1"
work="$(cd "$1" && pwd)"
suite=trixie
packages="libdnnl-dev libdnnl3.6 libc6 libgomp1 libstdc++6 libgcc-s1"

# The first Debian archive in the machine's own sources, in either notation.
mirror="$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list \
    /etc/apt/sources.list.d/*.sources 2>/dev/null |
  sed -n -e 's/^URIs:[[:space:]]*\([^[:space:]]*\).*/\1/p' \
    -e 's/^deb[[:space:]]\(\[[^]]*\][[:space:]]*\)\{0,1\}\([^[:space:]]*\).*/\2/p' |
  grep '/debian/\{0,1\}$' | head -n 1)"
[ -n "$mirror" ] || { echo "no Debian archive in /etc/apt" >&2; exit 1; }

apt="$work/apt"
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/etc/preferences.d" "$apt/deb"
: > "$apt/status"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" \
  > "$apt/sources.list"
private_apt() {
  command="$1"
  shift
  "$command" -q -o Dir::State="$apt" -o Dir::State::lists="$apt/lists" \
    -o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache" \
    -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::Etc::preferencesparts="$apt/etc/preferences.d" -o Dir::Etc::preferences=/dev/null \
    -o APT::Sandbox::User=root "$@"
}
private_apt apt-get update
(cd "$apt/deb" && private_apt apt-get download $packages)

root="$work/root"
mkdir -p "$root/usr/lib" "$root/usr/lib64"
for package in "$apt"/deb/*.deb; do dpkg-deb -x "$package" "$root"; done
libraries="$root/usr/lib/$(gcc -print-multiarch)"
loader="$(find "$root" -name 'ld-linux*' -type f | head -n 1)"
[ -n "$loader" ] || { echo "no dynamic loader in libc6" >&2; exit 1; }

# oneDNN needs a newer C library than the one we link with; its symbols are found when it runs.
cmake -S "$repo" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DAV_FUSION_NN_ONLY=ON -DAV_FUSION_BUILD_TESTS=ON -DAV_FUSION_WARNINGS_AS_ERRORS=ON \
  -Ddnnl_DIR="$libraries/cmake/dnnl" -DCMAKE_EXE_LINKER_FLAGS="-Wl,--allow-shlib-undefined" \
  -DCMAKE_CROSSCOMPILING_EMULATOR="$loader;--library-path;$libraries"
cmake --build "$work/build" --parallel 2
ctest --test-dir "$work/build" --output-on-failure
