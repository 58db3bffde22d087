//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Validation of text before it is passed to MLIR's parser, which asserts on
// some malformed inputs. Therefore, text from files is first checked against a
// grammar, a subset of MLIR's:
//
//   attribute  number [: type] | "text" | @symbol | true | false | unit | type
//              | [attribute, ...] | {name = attribute, ...}
//              | array<number type: number, ...> | dense<...> : type
//              | strided<[...], offset: n> | affine_map<(d0, ...) -> (...)>
//              | #dialect.name<...> | #alias | loc(...)
//   type       i32 | index | f32 | ... | tensor<...> | memref<...>
//              | vector<...> | complex<...> | tuple<...>
//              | (type, ...) -> type | !dialect.name<...> | !alias
//
// What the text means, a type that an attribute cannot have for example, is
// left to MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_MLLMTEXT_MLIRFORMS_H
#define LLMIR_MLLMTEXT_MLIRFORMS_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace llmir::mllm {

/// Returns the reason why `text`, an attribute or type, is rejected; empty if
/// it is valid. Nesting is limited to `mostDepth`.
std::string whyNotMLIRForm(llvm::StringRef text, int mostDepth);

/// The same for the text of a module, with line numbers: its attributes and
/// types must have these forms, and it must be text, not bytecode.
std::string whyNotMLIRText(llvm::StringRef text, int mostDepth);

} // namespace llmir::mllm

#endif // LLMIR_MLLMTEXT_MLIRFORMS_H
