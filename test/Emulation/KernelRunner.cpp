//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs steps of code images on jobs that a test wrote. Standard input has two
// lines per step, the path of the image and that of the job, which is changed
// in place; the answer is an empty line, or one with a sentence.
//
// It is built for a processor that this machine emulates and uses the loader of
// the runtime, so that the loader is tested there as well.
//
//===----------------------------------------------------------------------===//

#include "KernelJob.h"
#include "StepThreads.h"

#include "llmir/Artifact/CodeImage.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <optional>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llmir;
using namespace llmir::test;

namespace {
/// A file in memory; changes of a writable one go to the file.
class Mapped {
public:
  Mapped(const std::string &path, bool writable)
      : fd(::open(path.c_str(), writable ? O_RDWR : O_RDONLY)) {
    struct stat status{};
    if (fd < 0 || fstat(fd, &status) != 0 || status.st_size == 0)
      return;
    size = static_cast<uint64_t>(status.st_size);
    void *memory =
        mmap(nullptr, size, writable ? PROT_READ | PROT_WRITE : PROT_READ,
             writable ? MAP_SHARED : MAP_PRIVATE, fd, 0);
    bytes = memory == MAP_FAILED ? nullptr : static_cast<uint8_t *>(memory);
  }
  ~Mapped() {
    if (bytes)
      munmap(bytes, size);
    if (fd >= 0)
      close(fd);
  }
  Mapped(const Mapped &) = delete;
  Mapped &operator=(const Mapped &) = delete;

  int fd;
  uint8_t *bytes = nullptr;
  uint64_t size = 0;
};

/// Keeps the last image, with the code that the emulator translated.
class Runner {
public:
  /// Empty, or what is wrong.
  std::string run(const std::string &image, const std::string &job);

private:
  std::string load(const std::string &path);

  std::string loaded;
  std::optional<CodeImage> code;
};
} // namespace

std::string Runner::load(const std::string &path) {
  if (path == loaded)
    return {};
  code.reset();
  loaded.clear();
  Mapped image(path, false);
  if (!image.bytes)
    return "the image cannot be mapped";
  Expected<CodeImage> result =
      CodeImage::load(image.fd, 0, {image.bytes, image.size}, path);
  if (!result)
    return result.status().message();
  code = std::move(*result);
  loaded = path;
  return {};
}

std::string Runner::run(const std::string &image, const std::string &path) {
  if (std::string wrong = load(image); !wrong.empty())
    return wrong;
  Mapped job(path, true);
  KernelJobHeader header;
  if (!job.bytes || job.size < sizeof header)
    return "the job cannot be mapped, or is shorter than its header";
  std::memcpy(&header, job.bytes, sizeof header);
  if (header.magic != kKernelJobMagic || header.fileBytes != job.size)
    return "the file is no job, or not a whole one";
  for (int field = 0; field < kNumStepFields; ++field) {
    uint64_t &value = header.fields[field];
    if (!isPointerField(static_cast<StepField>(field)) || value == 0)
      continue;
    if (value % kKernelJobAlignment != 0 || value > job.size)
      return "a field is outside of the job";
    value += reinterpret_cast<uintptr_t>(job.bytes);
  }
  LLMIRStepContext context;
  static_assert(sizeof context == sizeof header.fields, "eight bytes a field");
  std::memcpy(&context, header.fields, sizeof context);
  runStepThreads(code->step(), context, header.workers);
  return {};
}

int main() {
  Runner runner;
  std::string image, job;
  while (std::getline(std::cin, image) && std::getline(std::cin, job)) {
    std::string answer = runner.run(image, job);
    std::replace(answer.begin(), answer.end(), '\n', ' ');
    std::cout << answer << std::endl;
  }
  return 0;
}
