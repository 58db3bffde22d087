//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the environment says about the Hub, in the variables of its own client.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_HUB_SETTINGS_H
#define LLMIR_HUB_SETTINGS_H

#include "llmir/Support/Status.h"

#include <string>

namespace llmir::hub {

/// The root of the Hub's cache; it may not exist. The first that is set of
/// HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, $HF_HOME/hub,
/// $XDG_CACHE_HOME/huggingface/hub and ~/.cache/huggingface/hub. NotFound
/// if none is.
Expected<std::string> cacheFolder();

struct Settings {
  std::string endpoint;   ///< HF_ENDPOINT without trailing slashes.
  std::string token;      ///< HF_TOKEN, else the token file; empty if none.
  std::string cache;      ///< cacheFolder().
  bool isOffline = false; ///< HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE.
  /// Seconds without an answer, or without data, before a request is tried
  /// again: HF_HUB_ETAG_TIMEOUT and HF_HUB_DOWNLOAD_TIMEOUT.
  int answerTimeout = 10, stallTimeout = 10;
  /// Certificates to trust instead of the system's: SSL_CERT_FILE,
  /// REQUESTS_CA_BUNDLE or CURL_CA_BUNDLE. Empty: the system's.
  std::string certificates;

  /// Fails with InvalidArgument, naming the variable, for a value that cannot
  /// be used.
  static Expected<Settings> fromEnvironment();
};

} // namespace llmir::hub

#endif // LLMIR_HUB_SETTINGS_H
