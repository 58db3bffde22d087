//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Data types, devices and shapes, under the names that mllm gives them.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_TYPES_H
#define MLLM_TYPES_H

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace mllm {

/// A size that is known only when the model runs, for example the number of
/// tokens; MLIR writes it `?`.
constexpr int64_t kSymbolic = std::numeric_limits<int64_t>::min();

/// What an element of a tensor is.
enum DataTypes : int32_t {
  kFp32,
  kFp16,
  kBf16,
  kFp64,
  kInt64,
  kInt32,
  kInt16,
  kInt8,
  kInt4,
  kUInt64,
  kUInt32,
  kUInt16,
  kUInt8,
  kUInt4,
  kBool,
};

/// Where a tensor lies or a subgraph runs. LLMIR generates code for kCPU; the
/// others are carried and printed.
enum DeviceTypes : int32_t {
  kCPU,
  kCUDA,
  kOpenCL,
  kQNN,
  kAscend,
};

/// "kFp32" (the documented spelling), or "Float32" (the present one).
const char *dataTypeName(DataTypes type, bool present = false);
/// "kCPU", or "CPU".
const char *deviceName(DeviceTypes device, bool present = false);

/// What is known about a tensor without its values.
struct TensorType {
  std::vector<int64_t> shape; ///< kSymbolic where a size is not known yet.
  DataTypes dtype = kFp32;
  DeviceTypes device = kCPU;

  bool operator==(const TensorType &other) const {
    return shape == other.shape && dtype == other.dtype &&
           device == other.device;
  }
};

} // namespace mllm

#endif // MLLM_TYPES_H
