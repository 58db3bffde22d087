//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ObjectCache.h"
#include "SplitModule.h"

#include "llmir/Support/FileWriter.h"
#include "llmir/Support/MappedFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"

#include <cstdlib>
#include <unistd.h>

namespace llmir {

static Status unusable(const std::string &folder, const std::string &why) {
  return Status(StatusCode::IoError,
                "LLMIR_OBJECT_CACHE: '" + folder + "' " + why,
                "name a directory of your own that others cannot write to, or "
                "unset the variable");
}

Expected<std::optional<ObjectCache>> ObjectCache::fromEnvironment() {
  const char *set = std::getenv("LLMIR_OBJECT_CACHE");
  if (!set || !*set)
    return std::optional<ObjectCache>();
  ObjectCache cache;
  cache.folder = set;
  namespace fs = llvm::sys::fs;
  fs::file_status status;
  if (std::error_code error = fs::create_directories(
          cache.folder, /*IgnoreExisting=*/true, fs::owner_all))
    return unusable(cache.folder, "cannot be created: " + error.message());
  if (std::error_code error = fs::status(cache.folder, status))
    return unusable(cache.folder, "cannot be read: " + error.message());
  if (status.type() != fs::file_type::directory_file)
    return unusable(cache.folder, "is not a directory");
  if (status.getUser() != geteuid() ||
      (status.permissions() & (fs::group_write | fs::others_write)) != 0)
    return unusable(cache.folder, "can be written by other users");
  return std::optional<ObjectCache>(std::move(cache));
}

static std::string hashOf(llvm::BLAKE3 &hasher) {
  return llvm::toHex(hasher.final(), /*LowerCase=*/true);
}

static std::string hashOf(Span<const uint8_t> bytes) {
  llvm::BLAKE3 hasher;
  hasher.update(llvm::ArrayRef<uint8_t>(bytes.data(), bytes.size()));
  return hashOf(hasher);
}

std::string ObjectCache::pathFor(const llvm::Module &module,
                                 llvm::StringRef options) const {
  llvm::BLAKE3 hasher;
  hasher.update(llvm::StringRef("LLVM " LLVM_VERSION_STRING));
  hasher.update(options);
  // Includes the triple, the data layout, and the attributes that name the
  // processor.
  hasher.update(llvm::toStringRef(bitcodeOf(module)));
  return folder + "/" + hashOf(hasher) + ".o";
}

std::optional<std::vector<uint8_t>>
ObjectCache::find(const std::string &path) const {
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return std::nullopt;
  const size_t hashBytes = 2 * std::tuple_size_v<llvm::BLAKE3Result<>>;
  const Span<const uint8_t> bytes = file->bytes();
  if (bytes.size() < hashBytes)
    return std::nullopt;
  const Span<const uint8_t> object =
      bytes.subspan(hashBytes, bytes.size() - hashBytes);
  if (file->text().substr(0, hashBytes) != hashOf(object))
    return std::nullopt;
  return std::vector<uint8_t>(object.begin(), object.end());
}

Status ObjectCache::store(const std::string &path,
                          Span<const uint8_t> object) const {
  Expected<AtomicFile> file = AtomicFile::create(path);
  if (!file)
    return file.takeStatus();
  LLMIR_RETURN_IF_ERROR(file->write(hashOf(object)));
  LLMIR_RETURN_IF_ERROR(file->write(object));
  return file->commit();
}

} // namespace llmir
