//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/ChatTemplate/OrderedJson.h"

#include "llmir/Support/JsonEvents.h"

#include <unordered_set>
#include <vector>

namespace llmir {
namespace {

/// Builds the tree; detects duplicate keys.
class OrderedTree : public JsonEvents {
public:
  Status beginObject() override { return open(OrderedJson::object()); }
  Status endObject() override { return close(); }
  Status beginArray() override { return open(OrderedJson::array()); }
  Status endArray() override { return close(); }
  Status key(std::string &&text) override {
    Level &level = levels.back();
    if (!level.keys.insert(text).second)
      return Status(StatusCode::InvalidFile,
                    "the key '" + printable(text) + "' is given twice");
    // The object's own insertion compares all keys.
    auto &entries = level.container->get_ref<OrderedJson::object_t &>();
    entries.OrderedJson::object_t::Container::emplace_back(std::move(text),
                                                           nullptr);
    slot = &entries.back().second;
    return Status::ok();
  }
  Status string(std::string &&text) override { return add(std::move(text)); }
  Status unsignedInteger(uint64_t value) override { return add(value); }
  Status negativeInteger(int64_t value) override { return add(value); }
  Status number(double value) override { return add(value); }
  Status boolean(bool value) override { return add(value); }
  Status null() override { return add(nullptr); }

  OrderedJson root;

private:
  struct Level {
    OrderedJson *container;
    std::unordered_set<std::string> keys;
  };

  OrderedJson &place(OrderedJson value) {
    if (!levels.empty() && levels.back().container->is_array()) {
      auto &array = levels.back().container->get_ref<OrderedJson::array_t &>();
      array.push_back(std::move(value));
      return array.back();
    }
    OrderedJson &target = levels.empty() ? root : *slot;
    target = std::move(value);
    return target;
  }
  Status add(OrderedJson value) {
    place(std::move(value));
    return Status::ok();
  }
  Status open(OrderedJson container) {
    levels.push_back({&place(std::move(container)), {}});
    return Status::ok();
  }
  Status close() {
    levels.pop_back();
    return Status::ok();
  }

  std::vector<Level> levels;   ///< The open containers.
  OrderedJson *slot = nullptr; ///< The value of the last key.
};

} // namespace

Expected<OrderedJson> parseOrderedJson(std::string_view text,
                                       const std::string &where,
                                       const JsonLimits &limits) {
  OrderedTree tree;
  LLMIR_RETURN_IF_ERROR(parseJsonEvents(text, where, limits, tree));
  return std::move(tree.root);
}

} // namespace llmir
