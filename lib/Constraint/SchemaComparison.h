//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether two schemas can match the same value.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONSTRAINT_SCHEMACOMPARISON_H
#define LLMIR_LIB_CONSTRAINT_SCHEMACOMPARISON_H

#include "llmir/ChatTemplate/OrderedJson.h"

#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace llmir::constraint {

/// Whether a value has a type of JSON Schema.
bool hasType(const OrderedJson &value, const std::string &type);

/// Compares alternatives of which exactly one must match. What it cannot tell,
/// or not soon, counts as an overlap.
class SchemaComparison {
public:
  /// What a pointer refers to; null if it refers to nothing.
  using Resolver = std::function<const OrderedJson *(const std::string &)>;
  explicit SchemaComparison(Resolver resolver)
      : resolver(std::move(resolver)) {}

  /// The first two of the schemas such that a value that is generated for one
  /// may match the other, too.
  std::optional<std::pair<size_t, size_t>>
  firstOverlap(const std::vector<const OrderedJson *> &schemas);

private:
  bool areApart(const OrderedJson &generated, const OrderedJson &described,
                int depth);
  bool isApartByParts(const OrderedJson &whole, const OrderedJson &other,
                      bool wholeIsGenerated, int depth);
  bool areApartAs(const std::string &type, const OrderedJson &generated,
                  const OrderedJson &described, int depth);
  bool objectsAreApart(const OrderedJson &generated,
                       const OrderedJson &described, int depth);
  const OrderedJson &target(const OrderedJson &schema) const;

  const Resolver resolver;
  size_t work = 0; ///< Schemas and values that were compared.
};

} // namespace llmir::constraint

#endif // LLMIR_LIB_CONSTRAINT_SCHEMACOMPARISON_H
