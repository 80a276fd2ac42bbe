// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "av_fusion/media/byte_input_internal.h"
#include "av_fusion/media/ffmpeg_util_internal.h"
#include "av_fusion/media/frame_memory_internal.h"
#include "av_fusion/media/header_guard_internal.h"
#include "av_fusion/media/media_source.h"
#include "av_fusion/media/picture_geometry_internal.h"

namespace av_fusion {

/// An opened container. Reads through `ByteInput` only; nothing that a file names inside itself
/// (playlists, references to other files) is ever opened. Not movable: FFmpeg keeps its address.
class InputFile {
 public:
  /// What becomes of the edit lists of MP4 and MOV. All but `kObeyed` find out about the streams
  /// only what the header says.
  enum class EditLists {
    kObeyed,  ///< by FFmpeg, which moves the first picture of a list to where the list begins
    kIgnored,
    kShifted,  ///< the time line of the first list, exact, continued to all that is stored
  };

  /// Opens the container and finds out its streams. `max_pixels` bounds the pictures decoded on the
  /// way. Throws `Error` as `MediaReader` documents.
  InputFile(const MediaSource& source, std::int64_t max_pixels,
            EditLists edit_lists = EditLists::kObeyed);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& name() const { return name_; }
  AVFormatContext* format() const { return format_.get(); }
  AVStream* stream(int index) const { return format_->streams[index]; }
  int stream_count() const { return static_cast<int>(format_->nb_streams); }
  bool can_seek() const { return input_->can_seek(); }

  /// The size of the source; of one that cannot seek what it turned out to be at its end, if that
  /// has been reached.
  std::optional<std::int64_t> size_bytes() const { return end_ ? end_ : input_->size(); }

  /// How many bytes the decoded frames of each stream may take at a time.
  std::int64_t frame_memory() const { return frame_memory_for(input_->size()); }

  /// The size of a stream's pictures by the container's header; 0 x 0 if it does not say. FFmpeg
  /// forgets it if its decoder refuses the pictures.
  PictureSize declared_size(int index) const;

  /// Goes back to where this object was reading, after another one has read the same source.
  void resume() { input_->seek(position_); }

  /// Reads the next packet; FFmpeg's error number otherwise. Throws what the source threw, and
  /// `Error(kIo)` if not a single packet can be read because the source cannot seek.
  int read_packet(AVPacket* packet);

  /// Goes to the last key frame of `stream` (-1: any) not after `time_us`. False if that failed.
  bool seek(int stream, std::int64_t time_us);

 private:
  static int on_read(void* self, std::uint8_t* buffer, int size);
  static std::int64_t on_seek(void* self, std::int64_t offset, int whence);

  std::int64_t move_to(std::int64_t offset, int whence);
  [[noreturn]] void fail_for_emptiness() const;
  void open_format(EditLists edit_lists);
  void find_streams(std::int64_t max_pixels);
  void rethrow_source_error();

  std::string name_;
  std::unique_ptr<ByteInput> input_;
  HeaderGuard guard_;
  std::int64_t position_ = 0;
  std::optional<std::int64_t> end_;
  bool needs_seek_ = false;  // FFmpeg wanted to go back in a source that cannot
  bool has_packets_ = false;
  std::exception_ptr source_error_;  // thrown inside a callback, waiting to leave FFmpeg
  FfmpegPtr<AVIOContext> io_;
  FfmpegPtr<AVFormatContext> format_;
  std::vector<PictureSize> declared_sizes_;
};

}  // namespace av_fusion
