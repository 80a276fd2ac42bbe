// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "av_fusion/report/json_values_internal.h"

namespace av_fusion {

/// Writes a JSON text whose objects and lists need not exist as a whole: the same bytes that
/// `json_values::dump` makes of the whole tree. Calls must nest as the text does; `write` gets
/// pieces of some kilobytes, the last one from `end_text`.
class JsonPieces {
 public:
  static constexpr int kOneLine = -1;

  /// `indent`: spaces for each level, or `kOneLine`.
  JsonPieces(std::function<void(std::string_view)> write, int indent)
      : write_(std::move(write)), indent_(indent) {}

  /// The outermost object, or the next element of a list.
  void begin_object() { open('{'); }

  /// An object as a member of the one that is open.
  void begin_object(std::string_view name) {
    next(name);
    open('{');
  }

  void end_object() { close('}'); }

  void member(std::string_view name, const json_values::Json& value) {
    next(name);
    append(value);
  }

  /// A list of which one element is held at a time; `to_json` turns one value into JSON.
  template <typename T, typename ToJson>
  void list(std::string_view name, const std::vector<T>& values, ToJson to_json) {
    next(name);
    open('[');
    for (const T& value : values) {
      next();
      append(to_json(value));
    }
    close(']');
  }

  /// The final newline.
  void end_text() {
    text_ += '\n';
    flush();
  }

 private:
  static constexpr std::size_t kPiece = 16384;

  void flush() {
    write_(text_);
    text_.clear();
  }

  void new_line() {
    if (indent_ == kOneLine) return;
    text_ += '\n';
    text_.append(static_cast<std::size_t>(indent_) * depth_, ' ');
  }

  /// Begins the next element of what is open.
  void next() {
    if (!is_empty_) text_ += ',';
    is_empty_ = false;
    new_line();
    if (text_.size() >= kPiece) flush();
  }

  void next(std::string_view name) {
    next();
    append(name);
    text_ += indent_ == kOneLine ? ":" : ": ";
  }

  void open(char bracket) {
    text_ += bracket;
    ++depth_;
    is_empty_ = true;
  }

  void close(char bracket) {
    --depth_;
    if (!is_empty_) new_line();
    text_ += bracket;
    is_empty_ = false;
  }

  /// The only line breaks in a dumped text are those of its layout: strings hold them escaped.
  void append(const json_values::Json& value) {
    const std::string margin(indent_ == kOneLine ? 0 : static_cast<std::size_t>(indent_) * depth_,
                             ' ');
    const std::string dumped = json_values::dump(value, indent_);
    std::string_view rest(dumped.data(), dumped.size() - 1);  // without the final newline
    for (std::size_t end = rest.find('\n'); end != rest.npos; end = rest.find('\n')) {
      text_ += rest.substr(0, end + 1);
      text_ += margin;
      rest.remove_prefix(end + 1);
    }
    text_ += rest;
  }

  std::function<void(std::string_view)> write_;
  int indent_;
  std::string text_;  // not written yet
  std::size_t depth_ = 0;
  bool is_empty_ = true;  // nothing was written into the innermost open object or list
};

}  // namespace av_fusion
