//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Target/CPU/CPUTarget.h"

#include "lld/Common/Driver.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

namespace llmir {

static Status linkFailure(const std::string &cause) {
  return Status(StatusCode::IoError, "linking the compiled step: " + cause,
                "check that the temporary directory (TMPDIR) is writable");
}

static Status writeFile(llvm::StringRef path, Span<const uint8_t> bytes) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (error)
    return linkFailure(path.str() + ": " + error.message());
  stream.write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  stream.close();
  if (stream.has_error()) {
    std::string message = stream.error().message();
    stream.clear_error();
    return linkFailure(path.str() + ": " + message);
  }
  return Status::ok();
}

/// Runs ld.lld in this process; lld keeps its state in globals, hence one run
/// at a time.
static Status runLinker(llvm::ArrayRef<const char *> arguments) {
  static std::mutex oneAtATime;
  static bool canRun = true;
  std::lock_guard<std::mutex> lock(oneAtATime);
  if (!canRun)
    return Status(StatusCode::Internal,
                  "lld crashed earlier in this process and cannot run again",
                  "compile in a new process");
  std::string errors;
  llvm::raw_string_ostream errorStream(errors);
  // lld exits the process on a fatal error unless crash recovery is enabled.
  llvm::CrashRecoveryContext::Enable();
  lld::Result result = lld::lldMain(arguments, llvm::nulls(), errorStream,
                                    {{lld::Gnu, &lld::elf::link}});
  llvm::CrashRecoveryContext::Disable();
  canRun = result.canRunAgain;
  if (result.retCode != 0)
    return Status(StatusCode::Internal,
                  "lld failed to link the compiled step: " +
                      llvm::StringRef(errors).trim().str(),
                  "check that the disk is not full; otherwise this is a bug "
                  "of LLMIR: please report it");
  return Status::ok();
}

Expected<std::vector<uint8_t>>
linkCodeImage(const std::vector<std::vector<uint8_t>> &objects,
              const std::string &entry) {
  llvm::SmallString<128> folder;
  if (std::error_code error =
          llvm::sys::fs::createUniqueDirectory("llmir-link", folder))
    return linkFailure(error.message());
  llvm::scope_exit cleanUp([&] { llvm::sys::fs::remove_directories(folder); });
  std::vector<std::string> inputs;
  for (auto [i, object] : llvm::enumerate(objects)) {
    inputs.push_back((folder + "/step" + llvm::Twine(i) + ".o").str());
    LLMIR_RETURN_IF_ERROR(writeFile(inputs.back(), object));
  }
  std::string output = (folder + "/step.image").str();

  // Read-only dynamic section and 64 KiB segments: the loader maps them
  // unchanged and never writes to them.
  std::vector<const char *> arguments{"ld.lld",
                                      "-shared",
                                      "-e",
                                      entry.c_str(),
                                      "--no-undefined",
                                      "--build-id=none",
                                      "--strip-all",
                                      "--gc-sections",
                                      "-z",
                                      "rodynamic",
                                      "-z",
                                      "max-page-size=65536",
                                      "-z",
                                      "separate-loadable-segments",
                                      "-z",
                                      "nognustack",
                                      "-o",
                                      output.c_str()};
  for (const std::string &input : inputs)
    arguments.push_back(input.c_str());
  LLMIR_RETURN_IF_ERROR(runLinker(arguments));

  auto image = llvm::MemoryBuffer::getFile(output, /*IsText=*/false,
                                           /*RequiresNullTerminator=*/false);
  if (!image)
    return linkFailure(output + ": " + image.getError().message());
  llvm::StringRef bytes = (*image)->getBuffer();
  return std::vector<uint8_t>(bytes.bytes_begin(), bytes.bytes_end());
}

} // namespace llmir
