// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

#include "av_fusion/core/error.h"
#include "av_fusion/media/input_file_internal.h"

namespace av_fusion {
namespace {

constexpr int kIoBufferBytes = 1 << 16;
constexpr std::int64_t kProbeBytes = std::int64_t{16} << 20;
constexpr std::int64_t kProbeUs = 10'000'000;

// Formats that only name other files.
constexpr std::array<std::string_view, 7> kPlaylists = {"hls", "dash", "concat", "sdp",
                                                        "imf", "rtsp", "rtp"};

bool is_playlist(const AVInputFormat& format) {
  return std::find(kPlaylists.begin(), kPlaylists.end(), format.name) != kPlaylists.end();
}

HeaderGuard::Kind guarded_kind(const AVInputFormat& format) {
  const std::string_view name = format.name;
  if (name.substr(0, 4) == "mov,") return HeaderGuard::Kind::kMp4;
  if (name.substr(0, 8) == "matroska") return HeaderGuard::Kind::kMatroska;
  return HeaderGuard::Kind::kOther;
}

// Refuses whatever a container wants to open besides itself.
int refuse_open(AVFormatContext*, AVIOContext**, const char*, int, AVDictionary**) {
  return AVERROR(EPERM);
}

ErrorCode code_of(int error) {
  switch (error) {
    case AVERROR_INVALIDDATA:
    case AVERROR_EOF: return ErrorCode::kCorruptData;
    case AVERROR_DEMUXER_NOT_FOUND:
    case AVERROR_DECODER_NOT_FOUND:
    case AVERROR_PATCHWELCOME:
    case AVERROR(ENOSYS):
    case AVERROR(EPERM): return ErrorCode::kUnsupported;
    case AVERROR_BUG:
    case AVERROR(ENOMEM): return ErrorCode::kInternal;
    case AVERROR_EXTERNAL:
    case AVERROR(EIO): return ErrorCode::kIo;
    default: return ErrorCode::kCorruptData;  // what the source throws does not come here
  }
}

// Options for the decoders that FFmpeg opens to look at the streams.
class ProbeOptions {
 public:
  ProbeOptions(unsigned count, std::int64_t max_pixels) : dictionaries_(count, nullptr) {
    for (AVDictionary*& dictionary : dictionaries_) {
      av_dict_set_int(&dictionary, "max_pixels", max_pixels, 0);
      av_dict_set_int(&dictionary, "threads", 1, 0);
    }
  }
  ~ProbeOptions() {
    for (AVDictionary*& dictionary : dictionaries_) av_dict_free(&dictionary);
  }
  ProbeOptions(const ProbeOptions&) = delete;
  ProbeOptions& operator=(const ProbeOptions&) = delete;

  AVDictionary** data() { return dictionaries_.empty() ? nullptr : dictionaries_.data(); }

 private:
  std::vector<AVDictionary*> dictionaries_;
};

}  // namespace

InputFile::InputFile(const MediaSource& source, std::int64_t max_pixels, EditLists edit_lists)
    : name_(source.name()), input_(open_byte_input(source)), guard_(name_, input_->size()) {
  if (input_->size() == 0) fail_for_emptiness();
  auto* buffer = static_cast<unsigned char*>(av_malloc(kIoBufferBytes));
  if (buffer == nullptr) throw std::bad_alloc();
  AVIOContext* io = avio_alloc_context(buffer, kIoBufferBytes, 0, this, &InputFile::on_read,
                                       nullptr, &InputFile::on_seek);
  if (io == nullptr) {
    av_free(buffer);
    throw std::bad_alloc();
  }
  if (!input_->can_seek()) io->seekable = 0;
  io_.reset(io);
  open_format(edit_lists);
  if (edit_lists == EditLists::kObeyed) find_streams(max_pixels);
}

void InputFile::fail_for_emptiness() const {
  throw Error(ErrorCode::kCorruptData, name_, "the file is empty");
}

void InputFile::open_format(EditLists edit_lists) {
  const AVInputFormat* kind = nullptr;
  int result = av_probe_input_buffer2(io_.get(), &kind, "", nullptr, 0, 0);
  rethrow_source_error();
  if (result < 0 && end_ == 0) fail_for_emptiness();
  if (result < 0) {
    throw Error(
        code_of(result), name_,
        "cannot be opened: not a media file that FFmpeg knows (" + ffmpeg_words(result) + ")");
  }
  if (is_playlist(*kind)) {
    throw Error(ErrorCode::kUnsupported, name_,
                "cannot be opened: it is a playlist, not a media file");
  }
  guard_.set_kind(guarded_kind(*kind));
  AVFormatContext* format = avformat_alloc_context();
  if (format == nullptr) throw std::bad_alloc();
  format->pb = io_.get();
  format->io_open = &refuse_open;
  format->max_streams = HeaderGuard::kMaxStreams;
  format->probesize = kProbeBytes;
  format->max_analyze_duration = kProbeUs;
  AVDictionary* options = nullptr;
  av_dict_set(&options, "protocol_whitelist", "", 0);  // none
  if (edit_lists == EditLists::kIgnored) av_dict_set(&options, "ignore_editlist", "1", 0);
  if (edit_lists == EditLists::kShifted) av_dict_set(&options, "advanced_editlist", "0", 0);
  result = avformat_open_input(&format, "", kind, &options);  // frees `format` if it fails
  av_dict_free(&options);
  if (result >= 0) format_.reset(format);
  rethrow_source_error();
  if (result == AVERROR(ENOMEM)) {
    throw Error(ErrorCode::kUnsupported, name_,
                "cannot be opened: it has more than " + std::to_string(HeaderGuard::kMaxStreams) +
                    " streams, or a table too large for the memory (looks like " + kind->name +
                    ")");
  }
  guard_.header_is_read();
  if (result < 0) {
    throw Error(code_of(result), name_,
                "cannot be opened: " + ffmpeg_words(result) + " (looks like " + kind->name +
                    ", but is damaged, incomplete or of an unknown variety)");
  }
}

PictureSize InputFile::declared_size(int index) const {
  const auto i = static_cast<std::size_t>(index);
  return i < declared_sizes_.size() ? declared_sizes_[i] : PictureSize{};
}

void InputFile::find_streams(std::int64_t max_pixels) {
  for (int index = 0; index < stream_count(); ++index) {
    const AVCodecParameters& codec = *stream(index)->codecpar;
    declared_sizes_.push_back({codec.width, codec.height});
  }
  // FFmpeg's own decoders know no bound but this one for the pictures they keep.
  const std::int64_t probed_pixels = std::min(max_pixels, pixels_for_any_codec(frame_memory()));
  ProbeOptions options(format_->nb_streams, probed_pixels);
  const int result = avformat_find_stream_info(format_.get(), options.data());
  rethrow_source_error();
  if (result < 0) {
    throw Error(code_of(result), name_, "cannot be opened: " + ffmpeg_words(result));
  }
  if (format_->nb_streams == 0) {
    throw Error(ErrorCode::kCorruptData, name_, "cannot be opened: it holds no streams");
  }
}

int InputFile::read_packet(AVPacket* packet) {
  const int result = av_read_frame(format_.get(), packet);
  rethrow_source_error();
  if (result >= 0) has_packets_ = true;
  if (result < 0 && needs_seek_ && !has_packets_) {
    throw Error(ErrorCode::kIo, name_,
                "has to be read from its end, as an MP4 that is not made for streaming, but this "
                "source cannot seek: give the file by name, or redirect it instead of piping it");
  }
  return result;
}

bool InputFile::seek(int stream, std::int64_t time_us) {
  std::int64_t stamp = time_us;
  if (stream >= 0) {
    stamp =
        av_rescale_q_rnd(time_us, kMicroseconds, this->stream(stream)->time_base, AV_ROUND_DOWN);
  }
  const int result = avformat_seek_file(format_.get(), stream, INT64_MIN, stamp, stamp, 0);
  rethrow_source_error();
  return result >= 0;
}

void InputFile::rethrow_source_error() {
  if (source_error_) std::rethrow_exception(std::exchange(source_error_, nullptr));
}

int InputFile::on_read(void* self, std::uint8_t* buffer, int size) {
  auto& file = *static_cast<InputFile*>(self);
  try {
    const std::size_t count =
        file.input_->read({reinterpret_cast<std::byte*>(buffer), static_cast<std::size_t>(size)});
    if (count > 0) {
      file.guard_.look(file.position_, {buffer, count});
      file.position_ += static_cast<std::int64_t>(count);
      return static_cast<int>(count);
    }
    file.guard_.look_at_end(file.position_);
    if (!file.can_seek()) file.end_ = file.position_;
    return AVERROR_EOF;
  } catch (...) {
    file.source_error_ = std::current_exception();
    return AVERROR_EXTERNAL;
  }
}

std::int64_t InputFile::on_seek(void* self, std::int64_t offset, int whence) {
  auto& file = *static_cast<InputFile*>(self);
  if (!file.can_seek()) {
    if (whence == SEEK_SET) file.needs_seek_ = true;
    return AVERROR(ESPIPE);
  }
  try {
    return file.move_to(offset, whence & ~AVSEEK_FORCE);
  } catch (...) {
    file.source_error_ = std::current_exception();
    return AVERROR_EXTERNAL;
  }
}

std::int64_t InputFile::move_to(std::int64_t offset, int whence) {
  const std::optional<std::int64_t> size = input_->size();
  if (whence == AVSEEK_SIZE) return size ? *size : AVERROR(ENOSYS);
  if (whence == SEEK_CUR) offset += position_;
  if (whence == SEEK_END) {
    if (!size) return AVERROR(ENOSYS);
    offset += *size;
  }
  if (offset < 0) return AVERROR(EINVAL);
  input_->seek(offset);
  return position_ = offset;
}

}  // namespace av_fusion
