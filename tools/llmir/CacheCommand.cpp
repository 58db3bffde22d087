//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llmir cache: lists or clears the user's compiled artifacts.
//
//===----------------------------------------------------------------------===//

#include "ArtifactCache.h"
#include "Command.h"
#include "Console.h"
#include "ModelResolver.h"

#include "llmir/Support/MessageLine.h"
#include "llmir/Support/Text.h"

#include <ctime>
#include <memory>

using namespace llmir;
using namespace llmir::cli;

static std::string formatTime(int64_t nanoseconds) {
  if (nanoseconds == 0)
    return "unknown         ";
  time_t seconds = nanoseconds / 1000000000;
  struct tm parts;
  char text[32];
  if (!localtime_r(&seconds, &parts) ||
      !std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &parts))
    return "?";
  return text;
}

static Outcome listEntries(const CacheOptions &options) {
  Expected<ArtifactCache> cache = ArtifactCache::open(options);
  if (!cache)
    return cache.takeStatus();
  Expected<std::vector<CacheEntry>> entries = cache->entries();
  if (!entries)
    return entries.takeStatus();
  double total = 0;
  for (const CacheEntry &entry : *entries) {
    total += static_cast<double>(entry.bytes);
    print(formatTime(entry.lastUsedNs) + "  " +
          formatBytes(static_cast<double>(entry.bytes)) + "  " +
          (entry.model.empty() ? "(unfinished)" : messageLine(entry.model)) +
          "\n  " + messageLine(entry.path) + "\n");
  }
  print(std::to_string(entries->size()) + " artifacts, " + formatBytes(total) +
        ", in " + cache->folder() + "\n");
  return Status::ok();
}

static Outcome clearCache(const CacheOptions &options) {
  Expected<ArtifactCache> cache = ArtifactCache::open(options);
  if (!cache)
    return cache.takeStatus();
  Expected<int64_t> removed = cache->clear();
  if (!removed)
    return removed.takeStatus();
  print(std::to_string(*removed) + " artifacts removed from " +
        cache->folder() + "\n");
  return Status::ok();
}

void cli::addCacheCommand(CommandLine &line) {
  auto options = std::make_shared<CacheOptions>();
  Command command = line.add("cache", "List or clear the compiled artifacts",
                             "llmir cache list");
  command.requireCommand();
  addCacheOptions(command, *options);
  auto addAction = [&](const char *name, const char *description,
                       Outcome (*action)(const CacheOptions &)) {
    Command sub = command.addCommand(name, description);
    sub.acceptFlagsOfParent();
    line.onRun(sub, [options, action] { return action(*options); });
  };
  addAction("list", "list the artifacts, the most recently used first",
            listEntries);
  addAction("clear", "remove all artifacts", clearCache);
}
