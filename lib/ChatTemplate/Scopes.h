//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Resolves the variables of a parsed template.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHATTEMPLATE_SCOPES_H
#define LLMIR_LIB_CHATTEMPLATE_SCOPES_H

#include "AST.h"

namespace llmir::chat {

/// Gives every variable a slot, and every scope the list of what is loaded when
/// it is entered. Throws TemplateError for what Jinja rejects when it compiles.
void resolveScopes(Template &result);

} // namespace llmir::chat

#endif // LLMIR_LIB_CHATTEMPLATE_SCOPES_H
