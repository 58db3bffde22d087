// RUN: llmir-encoding-tests
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C++ interface of a tensor's encoding: sizes are strings there. What text
// may say is tested in types.mlir and invalid-types.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/MLLM.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include "gtest/gtest.h"

using namespace llmir;
using namespace mlir;

namespace {

/// The diagnostic for a size with this text; empty if it is valid.
std::string refusalOf(StringRef size) {
  MLIRContext context;
  context.loadDialect<mllm::MLLMDialect>();
  std::string said;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { said = diagnostic.str(); });
  auto encoding = mllm::TensorEncodingAttr::getChecked(
      [&] { return emitError(UnknownLoc::get(&context)); }, &context,
      mllm::Device::CPU, ArrayRef(StringAttr::get(&context, size)));
  EXPECT_EQ(bool(encoding), said.empty());
  return said;
}

TEST(EncodingTest, TakesOneTextForEachSize) {
  EXPECT_EQ(refusalOf("a + 2 * b"), "");
  EXPECT_EQ(refusalOf("2 * b + a"),
            "'2 * b + a' is not the canonical text of a size");
  EXPECT_EQ(refusalOf("a b"), "'a b' is not the canonical text of a size");
  EXPECT_EQ(refusalOf(""), "'' is not the canonical text of a size");
}

} // namespace
