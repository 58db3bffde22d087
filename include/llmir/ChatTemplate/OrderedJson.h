//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// JSON whose objects keep the order of their keys, which templates can see.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CHATTEMPLATE_ORDEREDJSON_H
#define LLMIR_CHATTEMPLATE_ORDEREDJSON_H

#include "llmir/Support/Json.h"

namespace llmir {

using OrderedJson = nlohmann::ordered_json;

/// As parseJson(), in time linear in the size of the text.
Expected<OrderedJson> parseOrderedJson(std::string_view text,
                                       const std::string &where,
                                       const JsonLimits &limits = {});

} // namespace llmir

#endif // LLMIR_CHATTEMPLATE_ORDEREDJSON_H
