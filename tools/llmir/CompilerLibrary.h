//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libLLMIRCompiler.so, loaded only when something is compiled, because loading
// MLIR and LLVM takes 20-30 ms and 80 MB.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_COMPILERLIBRARY_H
#define LLMIR_TOOLS_LLMIR_COMPILERLIBRARY_H

#include "llmir-c/Compiler.h"
#include "llmir/Support/Status.h"

#include <string>

namespace llmir::cli {

/// Finds the library: LLMIR_COMPILER_LIBRARY, otherwise in ../lib or . relative
/// to this executable. NotFound names these places.
Expected<std::string> findCompilerLibrary();

/// A text that identifies a build of the compiler: its size, modification time
/// and a hash of its first page. Does not load it.
Expected<std::string> compilerIdentity();

/// Loads the library, which stays loaded, and compiles. Sets version and
/// progress of `options`. Returns the report of --stop-after, otherwise an
/// empty text.
Expected<std::string> compileModel(LLMIRCompileOptions options);

/// Loads the library and exports the traced model as a picture or to another
/// format. Sets the version of `options`.
Status exportModel(LLMIRExportOptions options);

/// Loads the library and converts a model to GGUF. Sets version and progress of
/// `options`. Returns a JSON object that describes the result.
Expected<std::string> convertModel(LLMIRConvertOptions options);

/// Loads the library without using it, for `llmir doctor`.
Status loadCompilerLibrary();

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_COMPILERLIBRARY_H
