//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emulation.h"
#include "KernelJob.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace llmir::test {

static constexpr const char *emulator = "qemu-aarch64";
/// Where Debian's cross compiler has the system's libraries.
static constexpr const char *libraries = "/usr/aarch64-linux-gnu";

/// A processor that has exactly the level, as qemu calls it.
static const char *emulatedCPU(const CPULevel &level) {
  if (level.name == "aarch64")
    return "cortex-a53";
  if (level.name == "aarch64-dotprod")
    return "neoverse-n1";
  return "max";
}

static std::string runnerPath() {
  return LLMIR_AARCH64_DIR "/bin/tests/llmir-kernel-runner";
}

static bool isInPath(const std::string &program) {
  const char *path = std::getenv("PATH");
  std::string folders = path ? path : "";
  for (size_t at = 0; at <= folders.size();) {
    size_t end = std::min(folders.find(':', at), folders.size());
    std::string candidate = folders.substr(at, end - at);
    candidate += '/';
    candidate += program;
    if (access(candidate.c_str(), X_OK) == 0)
      return true;
    at = end + 1;
  }
  return false;
}

std::string whyNotEmulated(const CPULevel &level) {
  if (level.architecture != "aarch64")
    return "no emulator is known for this level";
  if (!isInPath(emulator))
    return "qemu-aarch64 is not installed (package qemu-user)";
  if (access(runnerPath().c_str(), X_OK) != 0)
    return "the runtime is not built for AArch64 (package "
           "g++-aarch64-linux-gnu, then utils/aarch64_sysroot.sh)";
  return {};
}

namespace {
/// A file that is removed by the destructor.
class TemporaryFile {
public:
  TemporaryFile() {
    const char *folder = std::getenv("TMPDIR");
    path = std::string(folder ? folder : "/tmp") + "/llmir-kernel-XXXXXX";
    fd = mkstemp(path.data());
  }
  ~TemporaryFile() {
    if (fd >= 0) {
      close(fd);
      unlink(path.c_str());
    }
  }
  bool write(const void *data, size_t bytes) const {
    return fd >= 0 && pwrite(fd, data, bytes, 0) == static_cast<ssize_t>(bytes);
  }
  bool read(uint64_t offset, void *data, size_t bytes) const {
    return pread(fd, data, bytes, static_cast<off_t>(offset)) ==
           static_cast<ssize_t>(bytes);
  }

  std::string path;
  int fd = -1;
};
} // namespace

static Status failure(const std::string &what) {
  return Status(StatusCode::IoError, "emulating a kernel: " + what);
}

/// The job's bytes; `offsets` receives the offset of each memory block.
static std::vector<uint8_t> makeJob(const LLMIRStepContext &context,
                                    int64_t workers,
                                    const std::vector<FieldMemory> &memory,
                                    std::vector<uint64_t> &offsets) {
  KernelJobHeader header{};
  header.magic = kKernelJobMagic;
  header.workers = workers;
  std::memcpy(header.fields, &context, sizeof header.fields);
  for (int field = 0; field < kNumStepFields; ++field)
    if (isPointerField(static_cast<StepField>(field)))
      header.fields[field] = 0;
  auto aligned = [](uint64_t at) {
    return (at + kKernelJobAlignment - 1) / kKernelJobAlignment *
           kKernelJobAlignment;
  };
  uint64_t end = aligned(sizeof header);
  for (const FieldMemory &part : memory) {
    offsets.push_back(end);
    header.fields[static_cast<int>(part.field)] = end;
    end = aligned(end + part.bytes);
  }
  header.fileBytes = end;
  std::vector<uint8_t> job(end);
  std::memcpy(job.data(), &header, sizeof header);
  for (size_t i = 0; i < memory.size(); ++i)
    if (memory[i].bytes)
      std::memcpy(job.data() + offsets[i], memory[i].data, memory[i].bytes);
  return job;
}

/// Runs the emulator; the runner writes its message to stderr.
static Status runRunner(const CPULevel &level, const std::string &image,
                        const std::string &job) {
  const std::string runner = runnerPath();
  const char *const arguments[] = {
      emulator,       "-cpu",        emulatedCPU(level), "-L",   libraries,
      runner.c_str(), image.c_str(), job.c_str(),        nullptr};
  pid_t child = 0;
  int error = posix_spawnp(&child, emulator, nullptr, nullptr,
                           const_cast<char *const *>(arguments), environ);
  if (error != 0)
    return failure(std::string(emulator) + ": " + std::strerror(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return failure(std::strerror(errno));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return Status::ok();
  return failure(WIFSIGNALED(status)
                     ? "ended by signal " + std::to_string(WTERMSIG(status))
                     : "the runner failed");
}

Status runEmulated(const CPULevel &level, Span<const uint8_t> image,
                   const LLMIRStepContext &context, int64_t workers,
                   const std::vector<FieldMemory> &memory) {
  std::vector<uint64_t> offsets;
  std::vector<uint8_t> job = makeJob(context, workers, memory, offsets);
  TemporaryFile imageFile, jobFile;
  if (!imageFile.write(image.data(), image.size()) ||
      !jobFile.write(job.data(), job.size()))
    return failure("its files cannot be written");
  LLMIR_RETURN_IF_ERROR(runRunner(level, imageFile.path, jobFile.path));
  for (size_t i = 0; i < memory.size(); ++i)
    if (memory[i].isWritten &&
        !jobFile.read(offsets[i], memory[i].data, memory[i].bytes))
      return failure("its results cannot be read");
  return Status::ok();
}

} // namespace llmir::test
