//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libLLMIRCompiler.so, opened only when something is compiled: MLIR and LLVM
// cost 20-30 ms and 80 MB just to load.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_COMPILERLIBRARY_H
#define LLMIR_TOOLS_LLMIR_COMPILERLIBRARY_H

#include "llmir-c/Compiler.h"
#include "llmir/Support/Status.h"

#include <string>

namespace llmir::cli {

/// Where the library lies: LLMIR_COMPILER_LIBRARY, else ../lib or . relative to
/// this executable. NotFound names the places.
Expected<std::string> findCompilerLibrary();

/// A text that differs between two builds of the compiler: its size, time of
/// modification and a hash of its first page. Does not load it.
Expected<std::string> compilerIdentity();

/// Loads the library (it stays loaded) and compiles. Version and progress of
/// `options` are filled in here. The value is the report of --stop-after, else
/// empty.
Expected<std::string> compileModel(LLMIRCompileOptions options);

/// Loads the library and writes the traced model as a picture or for another
/// engine. The version of `options` is filled in here.
Status exportModel(LLMIRExportOptions options);

/// Loads the library without using it, for `llmir doctor`.
Status loadCompilerLibrary();

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_COMPILERLIBRARY_H
