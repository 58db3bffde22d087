//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Objects of functions, kept in a directory between compilations: models of one
// family, and the forms of one model, have most of their kernels in common.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_TARGET_CPU_OBJECTCACHE_H
#define LLMIR_LIB_TARGET_CPU_OBJECTCACHE_H

#include "llmir/Support/Span.h"
#include "llmir/Support/Status.h"

#include "llvm/IR/Module.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llmir {

/// A directory with an object for each module that was compiled: a file with a
/// hash of the object in hexadecimal digits, then the object. Threads and
/// processes can use it at the same time.
class ObjectCache {
public:
  /// The directory that the variable LLMIR_OBJECT_CACHE names, which is created
  /// if it does not exist; nothing without the variable. Fails with IoError
  /// unless the directory belongs to this user and nobody else can write to it:
  /// its files become machine code.
  static Expected<std::optional<ObjectCache>> fromEnvironment();

  /// The path of the object for `module`, which has not been optimized yet.
  /// `options`: the passes and the options with which it will be compiled.
  std::string pathFor(const llvm::Module &module,
                      llvm::StringRef options) const;

  /// The object at a path of pathFor(); nothing if there is none, or if it is
  /// damaged.
  std::optional<std::vector<uint8_t>> find(const std::string &path) const;
  /// Fails as AtomicFile does.
  Status store(const std::string &path, Span<const uint8_t> object) const;

private:
  std::string folder;
};

} // namespace llmir

#endif // LLMIR_LIB_TARGET_CPU_OBJECTCACHE_H
