// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0

// What the thread sanitizer has to leave out, in programs that are built with it: oneDNN and its
// OpenMP runtime are not, so it sees neither their locks nor their barriers. Our own parallel
// regions tell it when they begin and end (dnnl/parallel.cc), all but the block of pointers that
// the compiler hands to the threads of a region; races between tasks are found. FFmpeg's decoders
// count who holds a picture in atomics that it does not see either.
#ifdef __SANITIZE_THREAD__
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libdnnl.so\n"
         "called_from_lib:libgomp.so\n"
         "race_top:av_fusion::internal::parallel_for\n"
         "race:libavutil.so\n";
}
#endif
