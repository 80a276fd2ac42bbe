#!/bin/sh
# Builds with warnings as errors and runs the tests. Usage: run_tests.sh [PRESET [CMAKE_OPTION ...]]
set -eu
cd "$(dirname "$0")/.."
preset="${1:-dev}"
[ $# -gt 0 ] && shift
sh cmake/install_packages.sh --tests
cmake --preset "$preset" "$@" >/dev/null
cmake --build --preset "$preset"
ctest --preset "$preset" --parallel "$(nproc)"
