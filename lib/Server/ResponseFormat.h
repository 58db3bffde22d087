//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How /v1/responses writes answers.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_SERVER_RESPONSEFORMAT_H
#define LLMIR_LIB_SERVER_RESPONSEFORMAT_H

#include "Apis.h"

namespace llmir::server {

/// `request` is repeated in parts.
std::unique_ptr<AnswerFormat> makeResponseFormat(const Json &request);

} // namespace llmir::server

#endif // LLMIR_LIB_SERVER_RESPONSEFORMAT_H
