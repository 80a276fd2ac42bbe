// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "tests/apps/program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

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

[[noreturn]] void become(const std::vector<std::string>& arguments, int out, int err) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  execvp(argv[0], argv.data());
  _exit(127);
}

}  // namespace

ProgramResult run_program(const std::vector<std::string>& arguments) {
  const File out(std::tmpfile(), &std::fclose);
  const File err(std::tmpfile(), &std::fclose);
  ProgramResult result;
  if (!out || !err) return result;
  const pid_t child = fork();
  if (child < 0) return result;
  if (child == 0) become(arguments, fileno(out.get()), fileno(err.get()));
  int status = 0;
  waitpid(child, &status, 0);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  result.out = content(out.get());
  result.err = content(err.get());
  return result;
}

}  // namespace av_fusion::test
