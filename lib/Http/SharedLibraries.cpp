//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Http/SharedLibraries.h"

#include <dlfcn.h>
#include <initializer_list>

using namespace llmir;

namespace {

/// A shared library that stays open until the process ends.
class Library {
public:
  Library(std::initializer_list<const char *> names, const char *package)
      : package(package) {
    for (const char *name : names) {
      handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (handle)
        return;
      if (problem.empty())
        problem = dlerror();
    }
  }

  /// Stores the address of a function; fails in status() if it is missing.
  template <typename F> void find(const char *name, F &function) {
    void *address = handle ? dlsym(handle, name) : nullptr;
    function = reinterpret_cast<F>(address);
    if (handle && !address && problem.empty())
      problem = std::string(name) + " is missing";
  }

  Status status() const {
    if (problem.empty())
      return Status::ok();
    return Status(StatusCode::NotFound,
                  "HTTP needs a library that cannot be opened: " + problem,
                  std::string("install the package ") + package);
  }
  bool isOpen() const { return handle; }
  void forgetProblems() { problem.clear(); }

private:
  const char *package;
  void *handle = nullptr;
  std::string problem;
};

template <typename Functions> struct Opened {
  Functions functions = {};
  Status failure;
};

Opened<CurlLibrary> openCurl() {
  Opened<CurlLibrary> opened;
  CurlLibrary &curl = opened.functions;
  Library library({"libcurl.so.4"}, "libcurl4");
  decltype(&curl_global_init) globalInit = nullptr;
  library.find("curl_global_init", globalInit);
  library.find("curl_easy_init", curl.easyInit);
  library.find("curl_easy_cleanup", curl.easyCleanup);
  library.find("curl_easy_reset", curl.easyReset);
  library.find("curl_easy_setopt", curl.easySetopt);
  library.find("curl_easy_perform", curl.easyPerform);
  library.find("curl_easy_getinfo", curl.easyGetinfo);
  library.find("curl_easy_strerror", curl.easyStrerror);
  library.find("curl_slist_append", curl.slistAppend);
  library.find("curl_slist_free_all", curl.slistFreeAll);
  library.find("curl_getdate", curl.getDate);
  library.find("curl_free", curl.free);
  library.find("curl_url", curl.url);
  library.find("curl_url_cleanup", curl.urlCleanup);
  library.find("curl_url_set", curl.urlSet);
  library.find("curl_url_get", curl.urlGet);
  library.find("curl_multi_init", curl.multiInit);
  library.find("curl_multi_cleanup", curl.multiCleanup);
  library.find("curl_multi_setopt", curl.multiSetopt);
  library.find("curl_multi_add_handle", curl.multiAddHandle);
  library.find("curl_multi_remove_handle", curl.multiRemoveHandle);
  library.find("curl_multi_socket_action", curl.multiSocketAction);
  library.find("curl_multi_info_read", curl.multiInfoRead);
  library.find("curl_multi_assign", curl.multiAssign);
  library.find("curl_multi_strerror", curl.multiStrerror);
  opened.failure = library.status();
  if (opened.failure && globalInit(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    opened.failure =
        Status(StatusCode::Internal, "libcurl cannot be initialized");
  return opened;
}

Opened<CryptoLibrary> openCrypto() {
  Opened<CryptoLibrary> opened;
  CryptoLibrary &crypto = opened.functions;
  Library library({"libcrypto.so.3", "libcrypto.so.1.1"}, "libssl3");
  if (library.isOpen())
    library.forgetProblems(); // Those of other versions.
  library.find("EVP_MD_CTX_new", crypto.contextNew);
  library.find("EVP_MD_CTX_free", crypto.contextFree);
  library.find("EVP_sha256", crypto.sha256);
  library.find("EVP_sha1", crypto.sha1);
  library.find("EVP_DigestInit_ex", crypto.init);
  library.find("EVP_DigestUpdate", crypto.update);
  library.find("EVP_DigestFinal_ex", crypto.final);
  opened.failure = library.status();
  return opened;
}

template <typename Functions>
Expected<const Functions *> resultOf(const Opened<Functions> &opened) {
  if (!opened.failure)
    return Status(opened.failure);
  return &opened.functions;
}

} // namespace

bool CurlLibrary::prepare(CURL *easy, const char *url, char *problem,
                          long connectSeconds) const {
  bool isSet = true;
  const auto set = [&](CURLoption option, auto value) {
    isSet &= easySetopt(easy, option, value) == CURLE_OK;
  };
  easyReset(easy);
  set(CURLOPT_ERRORBUFFER, problem);
  set(CURLOPT_URL, url);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_FOLLOWLOCATION, 0L);
#if LIBCURL_VERSION_NUM >= 0x075500
  set(CURLOPT_PROTOCOLS_STR, "http,https");
#else
  set(CURLOPT_PROTOCOLS, long(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
  set(CURLOPT_USERAGENT, "llmir/" LLMIR_VERSION);
  set(CURLOPT_CONNECTTIMEOUT, connectSeconds);
  return isSet;
}

Expected<const CurlLibrary *> CurlLibrary::open() {
  static const Opened<CurlLibrary> opened = openCurl();
  return resultOf(opened);
}

Expected<const CryptoLibrary *> CryptoLibrary::open() {
  static const Opened<CryptoLibrary> opened = openCrypto();
  return resultOf(opened);
}
