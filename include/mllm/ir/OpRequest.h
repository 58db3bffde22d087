//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Helpers with which generated op classes build ops.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_IR_OPREQUEST_H
#define MLLM_IR_OPREQUEST_H

#include "mllm/ir/IRContext.h"

namespace mllm::ir {

/// A list of values: from one (null: the empty list), or from several.
class Values {
public:
  Values() = default;
  template <typename T, typename = std::enable_if_t<std::is_base_of_v<Val, T>>>
  Values(const std::shared_ptr<T> &value) {
    if (value)
      values.push_back(value);
  }
  template <typename T, typename = std::enable_if_t<std::is_base_of_v<Val, T>>>
  Values(const std::vector<std::shared_ptr<T>> &list)
      : values(list.begin(), list.end()) {}
  Values(const std::list<val_ptr_t> &list) : values(list.begin(), list.end()) {}
  Values(std::initializer_list<val_ptr_t> list) : values(list) {}
  Values(std::nullptr_t) {}

  const std::vector<val_ptr_t> &get() const { return values; }

private:
  std::vector<val_ptr_t> values;
};

/// A list of types: from one or several. Empty result types are inferred, if
/// the op supports it.
class Types {
public:
  Types() = default;
  Types(TensorType type) : types{std::move(type)} {}
  Types(std::vector<TensorType> list) : types(std::move(list)) {}
  Types(std::initializer_list<TensorType> list) : types(list) {}

  const std::vector<TensorType> &get() const { return types; }

private:
  std::vector<TensorType> types;
};

struct OpRequest;

namespace detail {

/// A builder of an op.
class Request {
public:
  Request(const char *name, const Types &results,
          const NamedAttributes &attributes);
  ~Request();
  Request(const Request &) = delete;
  Request &operator=(const Request &) = delete;

  void operand(const val_ptr_t &value);
  void operands(const Values &values);
  void attribute(const char *name, const char *hint, const AttrValue &value);
  /// Returns null and sets the context's status on failure.
  op_ptr_t build(IRContext *context);

private:
  std::unique_ptr<OpRequest> request;
};

op_ptr_t buildSubGraph(IRContext *context, const std::string &name,
                       const Types &arguments, const Types &results);

} // namespace detail
} // namespace mllm::ir

#endif // MLLM_IR_OPREQUEST_H
