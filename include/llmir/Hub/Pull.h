//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Downloads a model from the Hugging Face Hub into the cache of the Hub's own
// client:
//
//   Expected<PullPlan> plan = planPull(reference, settings, options);
//   // Show the plan.
//   Expected<PullResult> result = runPull(*plan, settings, options);
//
// Everything that a server sends is untrusted: names, sizes, hashes, JSON.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_HUB_PULL_H
#define LLMIR_HUB_PULL_H

#include "llmir/Hub/FileChoice.h"
#include "llmir/Hub/ModelReference.h"
#include "llmir/Hub/Settings.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace llmir::hub {

struct PullOptions {
  int connections = 8; ///< Requests at a time, at least 1.
  /// Attempts after a failed one without progress in between.
  int retries = 5;
  /// Check the hashes of files that are in the cache.
  bool verifies = false;
  /// Progress: bytes of the files of the plan that are present.
  std::function<void(uint64_t presentBytes)> onProgress = [](uint64_t) {};
  /// Messages about waits, one line each.
  std::function<void(const std::string &)> onNote = [](const std::string &) {};
};

struct PlannedFile {
  FileEntry entry;
  uint64_t presentBytes = 0; ///< In the cache, or of an unfinished download.
  bool isCached = false;     ///< Complete.
  /// Stored in the snapshot itself, in a cache without symbolic links.
  bool isInSnapshot = false;
};

/// What a pull will do.
struct PullPlan {
  ModelReference reference;
  std::string commit;
  std::vector<PlannedFile> files;
  std::string model; ///< As FileChoice::model.
  std::string cache; ///< The root of the cache.

  /// Bytes of all files, of what the cache has of them, and of those that are
  /// complete there. Of files with the same content, one is counted.
  uint64_t totalBytes() const;
  uint64_t presentBytes() const;
  uint64_t cachedBytes() const;
};

struct PullResult {
  std::string path; ///< What MODEL is: a directory or a file.
  uint64_t receivedBytes = 0;
};

/// True if this build can download (it has libcurl).
bool canPull();

/// Asks the Hub which files the model consists of, and the cache which of them
/// it has. Fails with NotFound for an unknown or private model, or if the
/// selector is ambiguous; InvalidFile for answers that are wrong; IoError for
/// problems of the network; Unsupported if !canPull().
Expected<PullPlan> planPull(const ModelReference &reference,
                            const Settings &settings,
                            const PullOptions &options);

/// Downloads what is missing. Files appear under their names only when they are
/// complete and their hashes are right; after a failure, the next pull
/// continues. ResourceExhausted if the disk has too little space.
Expected<PullResult> runPull(const PullPlan &plan, const Settings &settings,
                             const PullOptions &options);

} // namespace llmir::hub

#endif // LLMIR_HUB_PULL_H
