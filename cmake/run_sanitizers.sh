#!/bin/sh
# Runs the tests of what reads foreign bytes and of nn under the address and undefined-behaviour sanitizers.
# Usage: run_sanitizers.sh [CMAKE_OPTION ...]
set -eu
cd "$(dirname "$0")/.."
sh cmake/install_packages.sh --tests
cmake --preset asan-ubsan -DAV_FUSION_BUILD_APPS=OFF "$@" >/dev/null
programs="media/media_test nn/nn_layers_test nn/nn_attention_test nn/nn_blocks_test nn/nn_weights_test"
replays="media_reader weights_file"
# shellcheck disable=SC2046,SC2086  # lists of words
cmake --build --preset asan-ubsan --target $(basename -a $programs) $(printf '%s_replay ' $replays)
export UBSAN_OPTIONS=halt_on_error=1
for program in $programs; do "build/asan-ubsan/tests/$program" --gtest_brief=1; done
for name in $replays; do
  "build/asan-ubsan/tests/fuzz/${name}_replay" "tests/fuzz/corpus/$name" >/dev/null
  echo "fuzz corpus $name: passed"
done
