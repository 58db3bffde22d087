//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces the downloads in a build without libcurl.
//
//===----------------------------------------------------------------------===//

#include "llmir/Hub/Pull.h"
#include "llmir/Hub/RemoteHeaders.h"

using namespace llmir;
using namespace llmir::hub;

static Status withoutCurl() {
  return Status(StatusCode::Unsupported,
                "this llmir was built without libcurl and cannot download",
                "build it where libcurl4-openssl-dev is installed; models in "
                "the Hub's cache can be used nevertheless");
}

bool hub::canPull() { return false; }

RemoteHeaders::RemoteHeaders(RemoteHeaders &&) noexcept = default;
RemoteHeaders &RemoteHeaders::operator=(RemoteHeaders &&) noexcept = default;
RemoteHeaders::~RemoteHeaders() = default;

Expected<RemoteHeaders>
RemoteHeaders::read(const ModelReference &, const Settings &,
                    const PullOptions &,
                    const std::function<bool(const std::string &)> &) {
  return withoutCurl();
}

Expected<PullPlan> hub::planPull(const ModelReference &, const Settings &,
                                 const PullOptions &) {
  return withoutCurl();
}

Expected<PullResult> hub::runPull(const PullPlan &, const Settings &,
                                  const PullOptions &) {
  return withoutCurl();
}
