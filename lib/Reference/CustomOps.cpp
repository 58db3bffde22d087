//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/CustomOps.h"

#include <map>
#include <mutex>

namespace llmir {

namespace {
struct Registry {
  std::mutex mutex;
  std::map<int64_t, CustomOp> functions;
};
} // namespace

static Registry &registry() {
  static Registry instance;
  return instance;
}

static Status invalid(const std::string &cause) {
  return Status(StatusCode::InvalidArgument, cause);
}

Status registerCustomOp(int64_t id, CustomOp function) {
  if (id < firstCustomOp || !function)
    return invalid("a custom op requires a function and an id of " +
                   std::to_string(firstCustomOp) + " or more, not " +
                   std::to_string(id));
  std::lock_guard<std::mutex> lock(registry().mutex);
  if (!registry().functions.emplace(id, std::move(function)).second)
    return invalid("a custom op with the id " + std::to_string(id) +
                   " exists already");
  return Status::ok();
}

void unregisterCustomOp(int64_t id) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  registry().functions.erase(id);
}

Expected<std::vector<reference::Tensor>>
runCustomOp(int64_t id, const std::vector<reference::Tensor> &inputs) {
  CustomOp function;
  {
    std::lock_guard<std::mutex> lock(registry().mutex);
    auto found = registry().functions.find(id);
    if (found == registry().functions.end())
      return invalid("no function is registered for custom ops with the id " +
                     std::to_string(id));
    function = found->second;
  }
  return function(inputs);
}

} // namespace llmir
