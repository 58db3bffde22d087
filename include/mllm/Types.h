//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Data types, devices and shapes.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_TYPES_H
#define MLLM_TYPES_H

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace mllm {

/// A size that is known only at run time, for example the number of tokens; `?`
/// in MLIR.
constexpr int64_t kSymbolic = std::numeric_limits<int64_t>::min();

/// The element type of a tensor.
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

/// The device of a tensor or subgraph. LLMIR generates code for kCPU only;
/// other devices are preserved and printed.
enum DeviceTypes : int32_t {
  kCPU,
  kCUDA,
  kOpenCL,
  kQNN,
  kAscend,
};

/// "kFp32" (the original spelling) or "Float32" (the current one).
const char *dataTypeName(DataTypes type, bool present = false);
/// "kCPU", or "CPU".
const char *deviceName(DeviceTypes device, bool present = false);

/// Type of a tensor: shape, data type and device.
struct TensorType {
  std::vector<int64_t> shape; ///< kSymbolic for dynamic sizes.
  DataTypes dtype = kFp32;
  DeviceTypes device = kCPU;

  bool operator==(const TensorType &other) const {
    return shape == other.shape && dtype == other.dtype &&
           device == other.device;
  }
};

} // namespace mllm

#endif // MLLM_TYPES_H
