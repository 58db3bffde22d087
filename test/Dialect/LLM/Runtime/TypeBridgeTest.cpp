// RUN: llmir-kvcache-bridge-tests --gtest_filter='TypeBridge*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLM/Runtime/PagedKVCache.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

using namespace mlir::llm::runtime;
using llmir::StatusCode;

TEST(TypeBridge, TakesThreeFloatTypesAndBytes) {
  mlir::MLIRContext context;
  const std::pair<mlir::Type, KVElementType> types[] = {
      {mlir::Float32Type::get(&context), KVElementType::F32},
      {mlir::Float16Type::get(&context), KVElementType::F16},
      {mlir::BFloat16Type::get(&context), KVElementType::BF16},
      {mlir::IntegerType::get(&context, 8), KVElementType::Q8}};
  for (const auto &[type, expected] : types) {
    PagedKVCache cache(2, 4, 64, 16, 128, type);
    EXPECT_TRUE(cache.status()) << cache.status().message();
    EXPECT_EQ(cache.getElementType(), expected);
    EXPECT_EQ(cache.getNumLayers(), 2);
  }
}

TEST(TypeBridge, TakesAHeadSizeOfValues) {
  mlir::MLIRContext context;
  mlir::Type f16 = mlir::Float16Type::get(&context);
  EXPECT_EQ(PagedKVCache(2, 4, 64, 16, 128, f16).getValueDim(), 64);
  EXPECT_EQ(PagedKVCache(2, 4, 64, 16, 128, f16, 48).getValueDim(), 48);
}

TEST(TypeBridge, RefusesOtherTypes) {
  mlir::MLIRContext context;
  PagedKVCache cache(2, 4, 64, 16, 128, mlir::IntegerType::get(&context, 16));
  EXPECT_EQ(cache.status().code(), StatusCode::Unsupported);
  EXPECT_NE(cache.status().cause().find("i16"), std::string::npos);
  EXPECT_EQ(cache.createSequence(1).code(), StatusCode::Unsupported);
  PagedKVCache null(2, 4, 64, 16, 128, mlir::Type());
  EXPECT_EQ(null.status().code(), StatusCode::Unsupported);
}
