//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Digest.h"

#include "llmir/Http/SharedLibraries.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <unistd.h>
#include <vector>

using namespace llmir;
using namespace llmir::hub;

bool hub::isHash(std::string_view text) {
  return (text.size() == 64 || text.size() == 40) &&
         text.find_first_not_of("0123456789abcdef") == text.npos;
}

namespace {

/// One digest that is being computed.
class Digest {
public:
  /// `expected` selects the algorithm; `size` is that of the whole content.
  static Expected<Digest> start(const std::string &expected, uint64_t size) {
    auto library = CryptoLibrary::open();
    if (!library)
      return library.takeStatus();
    Digest digest(**library);
    const bool isGit = expected.size() == 40;
    const CryptoLibrary &crypto = **library;
    if (!digest.context ||
        !crypto.init(digest.context.get(),
                     isGit ? crypto.sha1() : crypto.sha256(), nullptr))
      return Status(StatusCode::Internal, "OpenSSL cannot compute a hash");
    if (isGit) {
      const std::string header = "blob " + std::to_string(size);
      digest.update(header.c_str(), header.size() + 1); // With its NUL.
    }
    return digest;
  }

  void update(const void *data, size_t size) {
    crypto->update(context.get(), data, size);
  }

  std::string finish() {
    unsigned char bytes[64];
    unsigned int size = 0;
    crypto->final(context.get(), bytes, &size);
    std::string text;
    for (unsigned int i = 0; i < size; ++i) {
      constexpr char digits[] = "0123456789abcdef";
      text += digits[bytes[i] >> 4];
      text += digits[bytes[i] & 15];
    }
    return text;
  }

private:
  explicit Digest(const CryptoLibrary &crypto)
      : crypto(&crypto), context(crypto.contextNew(), crypto.contextFree) {}

  const CryptoLibrary *crypto;
  std::unique_ptr<void, void (*)(void *)> context;
};

} // namespace

Expected<std::string> hub::hashLike(const std::string &expected,
                                    std::string_view text) {
  Expected<Digest> digest = Digest::start(expected, text.size());
  if (!digest)
    return digest.takeStatus();
  digest->update(text.data(), text.size());
  return digest->finish();
}

Expected<std::string> hub::hashLike(const std::string &expected, int descriptor,
                                    uint64_t size, const std::string &path,
                                    const std::atomic<bool> *stop) {
  Expected<Digest> digest = Digest::start(expected, size);
  if (!digest)
    return digest.takeStatus();
  std::vector<char> buffer(size_t(1) << 20);
  for (uint64_t offset = 0; offset < size;) {
    const size_t wanted =
        static_cast<size_t>(std::min<uint64_t>(buffer.size(), size - offset));
    const ssize_t got =
        pread(descriptor, buffer.data(), wanted, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return Status(StatusCode::IoError,
                    "reading '" + path + "': " +
                        (got < 0 ? std::strerror(errno) : "it is too short"));
    digest->update(buffer.data(), static_cast<size_t>(got));
    offset += static_cast<uint64_t>(got);
    if (stop && *stop)
      return Status(StatusCode::IoError, "the download was stopped");
  }
  return digest->finish();
}
