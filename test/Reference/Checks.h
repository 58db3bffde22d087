//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What tests of reference operations share.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_REFERENCE_CHECKS_H
#define LLMIR_TEST_REFERENCE_CHECKS_H

#include "llmir/Reference/Tensor.h"

#include <gtest/gtest.h>
#include <utility>
#include <vector>

namespace llmir::reference {

inline Tensor f32(Shape shape, std::vector<double> data) {
  return Tensor(ElementKind::F32, std::move(shape), std::move(data));
}

inline void expectNumbers(const Expected<Tensor> &actual, const Shape &shape,
                          const std::vector<double> &expected) {
  ASSERT_TRUE(actual) << actual.status().message();
  EXPECT_EQ(actual->shape, shape);
  ASSERT_EQ(actual->toDoubles().size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(actual->toDoubles()[i], expected[i], 1e-12) << "at " << i;
}

} // namespace llmir::reference

#endif // LLMIR_TEST_REFERENCE_CHECKS_H
