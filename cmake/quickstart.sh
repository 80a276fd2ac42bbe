#!/bin/sh
# From a fresh clone to a first report: installs packages, builds, and measures the sample video.
set -eu
cd "$(dirname "$0")/.."
sh cmake/install_packages.sh
cmake --preset release >/dev/null
cmake --build --preset release
echo
build/release/apps/av_align/av_align assets/samples/talking_face.mp4 -o report.json
echo "The whole report: $(pwd)/report.json"
