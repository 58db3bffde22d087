//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs one step of a code image on the job that a test wrote:
//
//   llmir-kernel-runner IMAGE JOB
//
// It is built for a processor that this machine emulates and uses the loader of
// the runtime, so that the loader is tested there as well. Exit codes: 0 done,
// 1 with a sentence on stderr.
//
//===----------------------------------------------------------------------===//

#include "KernelJob.h"
#include "StepThreads.h"

#include "llmir/Artifact/CodeImage.h"

#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llmir;
using namespace llmir::test;

static int fail(const std::string &sentence) {
  std::fprintf(stderr, "llmir-kernel-runner: %s\n", sentence.c_str());
  return 1;
}

namespace {
/// A file in memory; changes of a writable one go to the file.
struct Mapped {
  int fd = -1;
  uint8_t *bytes = nullptr;
  uint64_t size = 0;

  bool open(const char *path, bool writable) {
    fd = ::open(path, writable ? O_RDWR : O_RDONLY);
    struct stat status{};
    if (fd < 0 || fstat(fd, &status) != 0 || status.st_size == 0)
      return false;
    size = static_cast<uint64_t>(status.st_size);
    void *memory =
        mmap(nullptr, size, writable ? PROT_READ | PROT_WRITE : PROT_READ,
             writable ? MAP_SHARED : MAP_PRIVATE, fd, 0);
    bytes = static_cast<uint8_t *>(memory);
    return memory != MAP_FAILED;
  }
};
} // namespace

int main(int count, char **arguments) {
  if (count != 3)
    return fail("usage: llmir-kernel-runner IMAGE JOB");
  Mapped image, job;
  if (!image.open(arguments[1], false) || !job.open(arguments[2], true))
    return fail("a file cannot be mapped");
  KernelJobHeader header;
  if (job.size < sizeof header)
    return fail("the job is shorter than its header");
  std::memcpy(&header, job.bytes, sizeof header);
  if (header.magic != kKernelJobMagic || header.fileBytes != job.size)
    return fail("the file is no job, or not a whole one");
  for (int field = 0; field < kNumStepFields; ++field) {
    uint64_t &value = header.fields[field];
    if (!isPointerField(static_cast<StepField>(field)) || value == 0)
      continue;
    if (value % kKernelJobAlignment != 0 || value > job.size)
      return fail("a field is outside of the job");
    value += reinterpret_cast<uintptr_t>(job.bytes);
  }
  LLMIRStepContext context;
  static_assert(sizeof context == sizeof header.fields, "eight bytes a field");
  std::memcpy(&context, header.fields, sizeof context);

  Expected<CodeImage> code =
      CodeImage::load(image.fd, 0, {image.bytes, image.size}, arguments[1]);
  if (!code)
    return fail(code.status().message());
  runStepThreads(code->step(), context, header.workers);
  return msync(job.bytes, job.size, MS_SYNC) == 0
             ? 0
             : fail("the job is not written");
}
