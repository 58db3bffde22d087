//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor of a checkpoint: its name, shape and bytes in the mapped file.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CHECKPOINT_CHECKPOINTTENSOR_H
#define LLMIR_CHECKPOINT_CHECKPOINTTENSOR_H

#include "llmir/Support/MappedFile.h"
#include "llmir/Support/Span.h"
#include "llmir/Support/TensorFormat.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmir {

/// A view into a mapped file, which it keeps mapped. The number of bytes
/// matches shape and storage type. Row-major, little-endian; alignment is only
/// that of the file.
struct CheckpointTensor {
  std::string name;
  /// Unset for storage types that LLMIR recognizes but cannot use (integer
  /// buffers, iq2_s, …); see storageName.
  std::optional<TensorFormat> format;
  std::string storageName; ///< "F32", "I64", "q8_0", … as in the file format.
  std::vector<int64_t>
      shape; ///< Outermost first: linear weights are [out, in].
  Span<const uint8_t> bytes;
  std::shared_ptr<const MappedFile> file;

  /// The format, or Unsupported naming the tensor, its type and the file.
  Expected<TensorFormat> usableFormat() const;
  /// "[172, 64]".
  std::string shapeText() const;
  int64_t numElements() const;
};

} // namespace llmir

#endif // LLMIR_CHECKPOINT_CHECKPOINTTENSOR_H
