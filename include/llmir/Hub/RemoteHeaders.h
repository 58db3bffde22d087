//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The headers of a model on the Hub, in temporary files that the readers of
// checkpoints take for the model: of weights only the headers are there, and
// the rest is a hole in the file that reads as zeros.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_HUB_REMOTEHEADERS_H
#define LLMIR_HUB_REMOTEHEADERS_H

#include "llmir/Hub/Pull.h"

#include <cstdint>
#include <functional>
#include <string>

namespace llmir::hub {

/// Owns a temporary directory, which its destructor removes.
class RemoteHeaders {
public:
  /// Reads the headers by ranges, and small files whole. `isWhole` says whether
  /// the header of a GGUF file is there, whose size nothing tells: more of the
  /// file is read until it is. Fails like planPull().
  static Expected<RemoteHeaders>
  read(const ModelReference &reference, const Settings &settings,
       const PullOptions &options,
       const std::function<bool(const std::string &path)> &isWhole);

  RemoteHeaders(RemoteHeaders &&other) noexcept;
  RemoteHeaders &operator=(RemoteHeaders &&other) noexcept;
  ~RemoteHeaders();

  /// What MODEL is: a directory or a file.
  const std::string &path() const { return model; }
  uint64_t receivedBytes() const { return received; }

private:
  RemoteHeaders() = default;

  std::string root; ///< Empty if there is no directory to remove.
  std::string model;
  uint64_t received = 0;
};

} // namespace llmir::hub

#endif // LLMIR_HUB_REMOTEHEADERS_H
