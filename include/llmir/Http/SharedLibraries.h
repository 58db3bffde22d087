//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libcurl and libcrypto, which are opened when they are first used: linking
// them would add 7 ms and 33 libraries to the start of every command
// (docs/decisions/0016-libcurl.md).
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_HTTP_SHAREDLIBRARIES_H
#define LLMIR_HTTP_SHAREDLIBRARIES_H

#include "llmir/Support/Status.h"

#include <curl/curl.h>

#include <cstddef>

namespace llmir {

/// The functions of libcurl that this project uses.
struct CurlLibrary {
  decltype(&curl_easy_init) easyInit;
  decltype(&curl_easy_cleanup) easyCleanup;
  decltype(&curl_easy_reset) easyReset;
  decltype(&curl_easy_setopt) easySetopt;
  decltype(&curl_easy_perform) easyPerform;
  decltype(&curl_easy_getinfo) easyGetinfo;
  decltype(&curl_easy_strerror) easyStrerror;
  decltype(&curl_slist_append) slistAppend;
  decltype(&curl_slist_free_all) slistFreeAll;
  decltype(&curl_getdate) getDate;
  decltype(&curl_free) free;
  decltype(&curl_url) url;
  decltype(&curl_url_cleanup) urlCleanup;
  decltype(&curl_url_set) urlSet;
  decltype(&curl_url_get) urlGet;
  decltype(&curl_multi_init) multiInit;
  decltype(&curl_multi_cleanup) multiCleanup;
  decltype(&curl_multi_setopt) multiSetopt;
  decltype(&curl_multi_add_handle) multiAddHandle;
  decltype(&curl_multi_remove_handle) multiRemoveHandle;
  decltype(&curl_multi_socket_action) multiSocketAction;
  decltype(&curl_multi_info_read) multiInfoRead;
  decltype(&curl_multi_assign) multiAssign;
  decltype(&curl_multi_strerror) multiStrerror;

  /// Resets a handle, whose connections stay open, for a request over HTTP or
  /// HTTPS that follows no redirection. `problem`, of CURL_ERROR_SIZE
  /// characters, gets the messages of errors while the handle is used. False if
  /// memory is exhausted.
  bool prepare(CURL *easy, const char *url, char *problem,
               long connectSeconds) const;

  /// Opens the library on the first call; later calls give the same result.
  /// NotFound, with the package to install, if it cannot be opened.
  /// Thread-safe.
  static Expected<const CurlLibrary *> open();
};

/// OpenSSL's message digests, in the form that its versions 1.1 and 3 share.
struct CryptoLibrary {
  void *(*contextNew)();
  void (*contextFree)(void *);
  const void *(*sha256)();
  const void *(*sha1)();
  int (*init)(void *context, const void *type, void *engine);
  int (*update)(void *context, const void *data, size_t size);
  int (*final)(void *context, unsigned char *digest, unsigned int *size);

  static Expected<const CryptoLibrary *> open();
};

} // namespace llmir

#endif // LLMIR_HTTP_SHAREDLIBRARIES_H
