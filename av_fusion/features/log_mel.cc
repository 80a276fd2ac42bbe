// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/features/log_mel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <numbers>
#include <opencv2/core.hpp>
#include <utility>
#include <vector>

#include "av_fusion/core/error.h"

namespace av_fusion {
namespace {

constexpr int kWindow = LogMelExtractor::kWindow;
constexpr int kBands = LogMelExtractor::kBands;
constexpr int kFft = 512;
constexpr int kBins = kFft / 2 + 1;
constexpr double kLowHz = 60, kHighHz = 7600;
constexpr float kFloor = 1e-8F;
constexpr std::size_t kMaxBatch = 64;  // frames transformed at once

// Number of the sample of the grid n / 16000 s nearest to `time` (ties go up).
std::int64_t sample_at(MediaTime time) {
  static_assert(AudioClip::kSampleRateHz == 16000);  // 1 us = 2 / 125 samples
  const std::int64_t twice = 4 * time.us + 125;
  return twice >= 0 ? twice / 250 : -((-twice + 249) / 250);
}

// One triangle of the mel filter bank: weights of consecutive bins.
struct MelBand {
  int first_bin = 0;
  std::vector<float> weights;
};

struct Tables {
  std::array<float, kWindow> window{};  // divided by the root of the sum of squares
  std::vector<MelBand> bands;
};

double mel_to_hz(double mel) { return 700 * (std::pow(10, mel / 2595) - 1); }
double hz_to_mel(double hz) { return 2595 * std::log10(1 + hz / 700); }

MelBand make_band(double left, double centre, double right) {
  constexpr double kBinHz = static_cast<double>(AudioClip::kSampleRateHz) / kFft;
  MelBand band;
  for (int bin = 0; bin < kBins; ++bin) {
    const double hz = bin * kBinHz;
    const double weight = std::min((hz - left) / (centre - left), (right - hz) / (right - centre));
    if (weight <= 0) continue;
    if (band.weights.empty()) band.first_bin = bin;
    band.weights.push_back(static_cast<float>(weight));
  }
  return band;
}

Tables make_tables() {
  Tables tables;
  double square = 0;
  std::array<double, kWindow> window{};
  for (std::size_t n = 0; n < window.size(); ++n) {
    window[n] = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * double(n) / kWindow);
    square += window[n] * window[n];
  }
  for (std::size_t n = 0; n < window.size(); ++n) {
    tables.window[n] = static_cast<float>(window[n] / std::sqrt(square));
  }
  const double low = hz_to_mel(kLowHz);
  const double step = (hz_to_mel(kHighHz) - low) / (kBands + 1);
  for (int b = 0; b < kBands; ++b) {
    tables.bands.push_back(make_band(mel_to_hz(low + b * step), mel_to_hz(low + (b + 1) * step),
                                     mel_to_hz(low + (b + 2) * step)));
  }
  return tables;
}

const Tables& tables() {
  static const Tables kTables = make_tables();
  return kTables;
}

// Mel bands of one row of OpenCV's packed spectrum: Re0, Re1, Im1, ..., Re255, Im255, Re256.
void mel_of_spectrum(const float* spectrum, float* out) {
  std::array<float, kBins> power;
  power[0] = spectrum[0] * spectrum[0];
  power[kBins - 1] = spectrum[kFft - 1] * spectrum[kFft - 1];
  for (std::size_t k = 1; k + 1 < power.size(); ++k) {
    const float re = spectrum[2 * k - 1];
    const float im = spectrum[2 * k];
    power[k] = re * re + im * im;
  }
  for (const MelBand& band : tables().bands) {
    float sum = 0;
    const float* bins = power.data() + band.first_bin;
    for (std::size_t k = 0; k < band.weights.size(); ++k) sum += band.weights[k] * bins[k];
    *out++ = std::log(kFloor + sum);
  }
}

}  // namespace

struct LogMelExtractor::Impl {
  Timeline timeline;
  bool finished = false;

  // samples[i] is sample number samples_begin + i; everything before end() is decided.
  std::vector<float> samples;
  std::int64_t samples_begin = 0;
  std::deque<std::pair<std::int64_t, std::int64_t>> holes;  // sample numbers, [begin, end)

  // The run of clips without a hole: its first sample, by time and by number.
  bool in_run = false;
  MediaTime run_start;
  std::int64_t run_start_sample = 0;

  std::int64_t next_frame = 0;   // not computed
  std::int64_t ready_begin = 0;  // first frame not taken
  std::vector<float> ready;
  std::vector<std::uint8_t> ready_valid;
  cv::Mat batch, spectra;

  explicit Impl(const Timeline& frame_centres);

  std::int64_t end() const { return samples_begin + static_cast<std::int64_t>(samples.size()); }
  std::int64_t window_begin(std::int64_t frame) const {
    return sample_at(timeline.at(frame)) - kWindow / 2;
  }
  std::int64_t place(MediaTime start);
  void append(const float* values, std::int64_t count);
  void append_silence(std::int64_t until);
  void compute();
  void compute_batch(std::int64_t frames);
  bool is_silent(std::int64_t frames) const;
  void add_silent(std::int64_t frames);
  void forget_used_samples();
  bool is_valid(std::int64_t frame) const;
};

LogMelExtractor::Impl::Impl(const Timeline& frame_centres) : timeline(frame_centres) {
  samples_begin = window_begin(0);
  batch.create(static_cast<int>(kMaxBatch), kFft, CV_32F);
}

// The sample number at which a clip begins. Within a run samples are counted, so that rounding of
// the clips' times moves nothing; the run's own start is compared, so that no drift adds up.
std::int64_t LogMelExtractor::Impl::place(MediaTime start) {
  if (in_run) {
    const std::int64_t count = end() - run_start_sample;
    const std::int64_t expected_us = run_start.us + (count * 125 + 1) / 2;
    const std::int64_t off_us = start.us - expected_us;
    if (off_us >= -63 && off_us <= 63) return end();
  }
  in_run = true;
  run_start = start;
  run_start_sample = sample_at(start);
  return run_start_sample;
}

// Adds delivered samples at end().
void LogMelExtractor::Impl::append(const float* values, std::int64_t count) {
  constexpr std::int64_t kBlock = 16384;
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t size = std::min(kBlock, count - done);
    samples.insert(samples.end(), values + done, values + done + size);
    done += size;
    compute();
  }
}

// Adds silence from end() to sample number `until` and marks it as a hole.
void LogMelExtractor::Impl::append_silence(std::int64_t until) {
  if (until <= end()) return;
  holes.emplace_back(end(), until);
  constexpr std::int64_t kBlock = 16384;
  while (end() < until) {
    samples.resize(samples.size() + static_cast<std::size_t>(std::min(kBlock, until - end())));
    compute();
  }
}

bool LogMelExtractor::Impl::is_valid(std::int64_t frame) const {
  const std::int64_t begin = window_begin(frame);
  for (const auto& [hole_begin, hole_end] : holes) {
    if (hole_begin < begin + kWindow && hole_end > begin) return false;
  }
  return true;
}

// Computes all frames whose window is decided.
void LogMelExtractor::Impl::compute() {
  std::int64_t frames = 0;
  while (window_begin(next_frame + frames) + kWindow <= end()) {
    if (++frames < static_cast<std::int64_t>(kMaxBatch)) continue;
    compute_batch(frames);
    frames = 0;
  }
  if (frames > 0) compute_batch(frames);
  forget_used_samples();
}

// Whether the next frames hear nothing at all, as in a hole.
bool LogMelExtractor::Impl::is_silent(std::int64_t frames) const {
  const auto from = samples.begin() + (window_begin(next_frame) - samples_begin);
  const auto to =
      samples.begin() + (window_begin(next_frame + frames - 1) + kWindow - samples_begin);
  return std::all_of(from, to, [](float sample) { return sample == 0; });
}

// Adds what the transform of zeros gives; a hole may last for hours.
void LogMelExtractor::Impl::add_silent(std::int64_t frames) {
  ready.insert(ready.end(), static_cast<std::size_t>(frames) * kBands, std::log(kFloor));
  for (std::int64_t i = 0; i < frames; ++i) {
    ready_valid.push_back(is_valid(next_frame + i) ? 1 : 0);
  }
  next_frame += frames;
}

void LogMelExtractor::Impl::compute_batch(std::int64_t frames) {
  if (is_silent(frames)) return add_silent(frames);
  const Tables& table = tables();
  cv::Mat rows = batch.rowRange(0, static_cast<int>(frames));
  for (int i = 0; i < rows.rows; ++i) {
    const float* from = samples.data() + (window_begin(next_frame + i) - samples_begin);
    float* row = rows.ptr<float>(i);
    for (std::size_t n = 0; n < kWindow; ++n) row[n] = table.window[n] * from[n];
    std::fill(row + kWindow, row + kFft, 0.0F);
  }
  cv::dft(rows, spectra, cv::DFT_ROWS);
  const std::size_t base = ready.size();
  ready.resize(base + static_cast<std::size_t>(frames) * kBands);
  for (int i = 0; i < rows.rows; ++i) {
    mel_of_spectrum(spectra.ptr<float>(i), ready.data() + base + std::size_t(i) * kBands);
    ready_valid.push_back(is_valid(next_frame + i) ? 1 : 0);
  }
  next_frame += frames;
}

void LogMelExtractor::Impl::forget_used_samples() {
  const std::int64_t needed = std::min(window_begin(next_frame), end());
  samples.erase(samples.begin(), samples.begin() + (needed - samples_begin));
  samples_begin = needed;
  while (!holes.empty() && holes.front().second <= needed) holes.pop_front();
}

LogMelExtractor::LogMelExtractor(const Timeline& timeline) {
  if (timeline.hop.us <= 0) {
    throw Error(ErrorCode::kInvalidArgument, "log-mel", "the hop must be positive");
  }
  impl_ = std::make_unique<Impl>(timeline);
}

LogMelExtractor::~LogMelExtractor() = default;
LogMelExtractor::LogMelExtractor(LogMelExtractor&&) noexcept = default;
LogMelExtractor& LogMelExtractor::operator=(LogMelExtractor&&) noexcept = default;

void LogMelExtractor::push(const AudioClip& clip) {
  if (impl_->finished) {
    throw Error(ErrorCode::kInvalidArgument, "log-mel", "sound came after the end");
  }
  if (clip.samples.empty()) return;
  const std::int64_t start = impl_->place(clip.start);
  impl_->append_silence(start);
  const std::int64_t skip = impl_->end() - start;
  const auto count = static_cast<std::int64_t>(clip.samples.size());
  if (skip < count) impl_->append(clip.samples.data() + skip, count - skip);
}

void LogMelExtractor::finish(MediaTime until) {
  if (std::exchange(impl_->finished, true)) return;
  const std::int64_t last = (until - impl_->timeline.start).us / impl_->timeline.hop.us;
  if (until < impl_->timeline.start) return;
  impl_->append_silence(impl_->window_begin(last) + kWindow);
}

FeatureSequence<float> LogMelExtractor::take_ready() {
  FeatureSequence<float> sequence;
  const auto count = static_cast<std::int64_t>(impl_->ready_valid.size());
  sequence.values = Tensor<float>(Shape{count, kBands});
  std::copy(impl_->ready.begin(), impl_->ready.end(), sequence.values.data());
  sequence.timeline = {impl_->timeline.at(impl_->ready_begin), impl_->timeline.hop};
  sequence.valid = std::exchange(impl_->ready_valid, {});
  impl_->ready.clear();
  impl_->ready_begin += count;
  return sequence;
}

}  // namespace av_fusion
