#!/bin/sh
# Installs from Debian (12 or 13) what av_fusion builds and runs with. Usage: install_packages.sh [--tests]
set -eu

packages="g++ cmake ninja-build pkg-config
  libdnnl-dev ocl-icd-opencl-dev
  libavformat-dev libavcodec-dev libavutil-dev libswscale-dev libswresample-dev
  libopencv-dev libdlib-dev libdlib-data libopenblas-dev liblapack-dev
  nlohmann-json3-dev libcli11-dev"
[ "${1:-}" = --tests ] && packages="$packages libgtest-dev ffmpeg python3"

missing=""
for package in $packages; do
  status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  [ "$status" = "install ok installed" ] || missing="$missing $package"
done
[ -z "$missing" ] && exit 0

as_root=""
[ "$(id -u)" = 0 ] || as_root=sudo
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
# shellcheck disable=SC2086  # a list of words
$as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
