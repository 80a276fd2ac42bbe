// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "tests/apps/program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>

namespace av_fusion::test {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

std::string content(std::FILE* file) {
  std::string text;
  char buffer[4096];
  std::rewind(file);
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, n);
  return text;
}

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }
  void reset(int number = -1) {
    if (number_ >= 0) close(number_);
    number_ = number;
  }

 private:
  int number_;
};

/// In this process; the programs it starts meanwhile would inherit it.
class IgnoreSigpipe {
 public:
  IgnoreSigpipe() : before_(std::signal(SIGPIPE, SIG_IGN)) {}
  ~IgnoreSigpipe() { std::signal(SIGPIPE, before_); }
  IgnoreSigpipe(const IgnoreSigpipe&) = delete;
  IgnoreSigpipe& operator=(const IgnoreSigpipe&) = delete;

 private:
  void (*before_)(int);
};

/// Opens what the program shall read into `from`, and for a pipe its other end into `to`. False if
/// that fails.
bool open_input(const ProgramInput& input, Descriptor& from, Descriptor& to) {
  if (std::holds_alternative<PipedInput>(input)) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    from.reset(ends[0]);
    to.reset(ends[1]);
    return true;
  }
  const auto* const file = std::get_if<FileInput>(&input);
  from.reset(
      open(file != nullptr ? file->path.c_str() : "/dev/null", O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (from.number() < 0) return false;
  return file == nullptr || file->begin == 0 ||
         lseek(from.number(), file->begin, SEEK_SET) == file->begin;
}

/// Stops quietly when nobody reads any more. Cannot wait for ever: what the program writes goes to
/// files, so nothing keeps it from reading on or ending.
void feed(int pipe, std::string_view bytes) {
  const IgnoreSigpipe ignore;
  while (!bytes.empty()) {
    const ssize_t count = write(pipe, bytes.data(), bytes.size());
    if (count > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return;
    }
  }
}

[[noreturn]] void become(const std::vector<std::string>& arguments, int in, int out, int err) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  std::signal(SIGINT, SIG_DFL);  // ignored in what a shell runs in the background
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  execvp(argv[0], argv.data());
  _exit(127);
}

}  // namespace

ProgramResult run_program(const std::vector<std::string>& arguments, const ProgramInput& input,
                          const WhileRunning& meanwhile) {
  const File out(std::tmpfile(), &std::fclose);
  const File err(std::tmpfile(), &std::fclose);
  Descriptor from;
  Descriptor to;
  ProgramResult result;
  if (!out || !err || !open_input(input, from, to)) return result;
  const pid_t child = fork();
  if (child < 0) return result;
  if (child == 0) become(arguments, from.number(), fileno(out.get()), fileno(err.get()));
  from.reset();
  if (const auto* const piped = std::get_if<PipedInput>(&input)) feed(to.number(), piped->bytes);
  to.reset();
  if (meanwhile) meanwhile(child);
  int status = 0;
  waitpid(child, &status, 0);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  result.out = content(out.get());
  result.err = content(err.get());
  return result;
}

}  // namespace av_fusion::test
