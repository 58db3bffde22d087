//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Target.h"

#include "llmir/Support/Status.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace llmir::fuzz {

const std::vector<Target> &targets() {
  static const std::vector<Target> all = [] {
    std::vector<Target> list;
    for (auto part : {
             checkpointTargets,
             folderTargets,
             tokenizerTargets,
             textTargets,
             chatOutputTargets,
             artifactTargets,
             constraintTargets,
             clientTargets,
             requestLineTargets,
#ifdef LLMIR_FUZZ_SERVER
             serverTargets,
#endif
#ifdef LLMIR_FUZZ_PROGRAMS
             programTargets,
#endif
         })
      for (const Target &target : part())
        list.push_back(target);
    return list;
  }();
  return all;
}

const Target *findTarget(std::string_view name) {
  for (const Target &target : targets())
    if (target.name == name)
      return &target;
  return nullptr;
}

void expect(bool condition, const char *words) {
  if (condition)
    return;
  std::fprintf(stderr, "finding: not true that %s\n", words);
  std::abort();
}

void checkStatus(const Status &status) {
  expect(!status.cause().empty() &&
             status.message().find('\n') == std::string::npos,
         "a failure is told in one line");
}

namespace {

/// In memory where the system offers it: inputs are written by the million.
class Folder {
public:
  Folder() {
    for (const char *place : {"/dev/shm", "/tmp"}) {
      std::string pattern = std::string(place) + "/llmir-fuzz-XXXXXX";
      if (mkdtemp(pattern.data())) {
        path = pattern;
        return;
      }
    }
    expect(false, "there is a place for temporary files");
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;

  std::string path;
};

} // namespace

std::string write(const std::string &name, std::string_view contents) {
  static const Folder folder;
  std::string path = folder.path + "/" + name;
  std::filesystem::create_directories(
      std::filesystem::path(path).parent_path());
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  stream.close();
  expect(stream.good(), "a temporary file can be written");
  return path;
}

} // namespace llmir::fuzz
