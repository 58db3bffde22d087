//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emulation.h"
#include "KernelJob.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <spawn.h>
#include <sys/socket.h>
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
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;
  /// The new contents of the file.
  bool write(const void *data, size_t bytes) const {
    return fd >= 0 && ftruncate(fd, static_cast<off_t>(bytes)) == 0 &&
           pwrite(fd, data, bytes, 0) == static_cast<ssize_t>(bytes);
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

namespace {
/// A running emulator of one level, which runs one job after the other:
/// starting it and translating the code of an image takes longer than most
/// jobs.
class Emulator {
public:
  explicit Emulator(const CPULevel &level) : level(level) {}
  Emulator(const Emulator &) = delete;
  Emulator &operator=(const Emulator &) = delete;
  ~Emulator() { stop(); }

  /// Runs the job, which is changed in place.
  Status run(Span<const uint8_t> image, std::vector<uint8_t> &job);

private:
  Status start();
  /// Ends the emulator, if it runs; returns its status as of waitpid().
  int stop();
  /// Writes both paths and reads the answer, an empty line or a sentence.
  bool exchange(const std::string &request, std::string &answer) const;

  const CPULevel &level;
  pid_t child = 0;
  int connection = -1;
  std::vector<uint8_t> loaded; ///< The bytes of imageFile.
  std::unique_ptr<TemporaryFile> imageFile;
  TemporaryFile jobFile;
};
} // namespace

Status Emulator::start() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return failure(std::strerror(errno));
  const std::string runner = runnerPath();
  const char *const arguments[] = {emulator, "-cpu",    emulatedCPU(level),
                                   "-L",     libraries, runner.c_str(),
                                   nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int standard : {STDIN_FILENO, STDOUT_FILENO})
    posix_spawn_file_actions_adddup2(&actions, ends[1], standard);
  const int error = posix_spawnp(&child, emulator, &actions, nullptr,
                                 const_cast<char *const *>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  connection = ends[0];
  if (error == 0)
    return Status::ok();
  child = 0;
  stop();
  return failure(std::string(emulator) + ": " + std::strerror(error));
}

int Emulator::stop() {
  if (connection >= 0)
    close(connection);
  connection = -1;
  loaded.clear();
  int status = 0;
  while (child != 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  child = 0;
  return status;
}

bool Emulator::exchange(const std::string &request, std::string &answer) const {
  for (size_t sent = 0; sent < request.size();) {
    ssize_t now = send(connection, request.data() + sent, request.size() - sent,
                       MSG_NOSIGNAL);
    if (now < 0 && errno != EINTR)
      return false;
    sent += std::max<ssize_t>(now, 0);
  }
  answer.clear();
  while (answer.empty() || answer.back() != '\n') {
    char bytes[512];
    ssize_t now = recv(connection, bytes, sizeof bytes, 0);
    if (now == 0 || (now < 0 && errno != EINTR))
      return false;
    answer.append(bytes, std::max<ssize_t>(now, 0));
  }
  answer.pop_back();
  return true;
}

Status Emulator::run(Span<const uint8_t> image, std::vector<uint8_t> &job) {
  if (child == 0)
    LLMIR_RETURN_IF_ERROR(start());
  if (loaded.size() != image.size() ||
      !std::equal(loaded.begin(), loaded.end(), image.begin())) {
    // Another file: the emulator has mapped the one before.
    imageFile = std::make_unique<TemporaryFile>();
    if (!imageFile->write(image.data(), image.size()))
      return failure("the image cannot be written");
    loaded.assign(image.begin(), image.end());
  }
  if (!jobFile.write(job.data(), job.size()))
    return failure("the job cannot be written");
  std::string answer;
  if (!exchange(imageFile->path + "\n" + jobFile.path + "\n", answer)) {
    const int status = stop();
    return failure(WIFSIGNALED(status)
                       ? "ended by signal " + std::to_string(WTERMSIG(status))
                       : "the runner ended");
  }
  if (!answer.empty())
    return failure(answer);
  return jobFile.read(0, job.data(), job.size())
             ? Status::ok()
             : failure("its results cannot be read");
}

Status runEmulated(const CPULevel &level, Span<const uint8_t> image,
                   const LLMIRStepContext &context, int64_t workers,
                   const std::vector<FieldMemory> &memory) {
  static std::map<const CPULevel *, Emulator> emulators;
  std::vector<uint64_t> offsets;
  std::vector<uint8_t> job = makeJob(context, workers, memory, offsets);
  LLMIR_RETURN_IF_ERROR(
      emulators.try_emplace(&level, level).first->second.run(image, job));
  for (size_t i = 0; i < memory.size(); ++i)
    if (memory[i].isWritten && memory[i].bytes)
      std::memcpy(memory[i].data, job.data() + offsets[i], memory[i].bytes);
  return Status::ok();
}

} // namespace llmir::test
