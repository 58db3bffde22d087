//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Combines schemas that must hold together.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONSTRAINT_SCHEMAMERGE_H
#define LLMIR_LIB_CONSTRAINT_SCHEMAMERGE_H

#include "llmir/ChatTemplate/OrderedJson.h"

namespace llmir::constraint {

/// Whether a keyword says nothing about the values.
bool isAnnotation(std::string_view keyword);

/// Whether a schema, which is an object, has keywords that say something, other
/// than the given one.
bool hasAssertionsBeside(const OrderedJson &schema, std::string_view keyword);

/// A schema, which is an object, without what says nothing.
OrderedJson withoutAnnotations(const OrderedJson &schema);

/// A schema, without $ref, for what matches both objects, which have none
/// either. Unsupported, naming the keyword and `place`, if they cannot be
/// combined.
Expected<OrderedJson> mergeSchemas(const OrderedJson &first,
                                   const OrderedJson &second,
                                   const std::string &place);

} // namespace llmir::constraint

#endif // LLMIR_LIB_CONSTRAINT_SCHEMAMERGE_H
