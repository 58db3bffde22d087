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

/// The rows of a matrix that several tensors of the file describe: its
/// integers, scales and zero points. Thread-safe.
class AssembledRows {
public:
  virtual ~AssembledRows();
  /// Writes row `row`, in the format of the tensor, to `out`: tensorRowBytes()
  /// of the last dimension. Rows of all matrices are counted.
  virtual void assemble(int64_t row, uint8_t *out) const = 0;

  /// The files of those tensors, which stay mapped, and their bytes there.
  std::vector<std::shared_ptr<const MappedFile>> files;
  uint64_t storedBytes = 0;
};

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
  /// Empty if the rows are assembled.
  Span<const uint8_t> bytes;
  std::shared_ptr<const MappedFile> file;
  /// Null if `bytes` has the rows.
  std::shared_ptr<const AssembledRows> rows = {};

  /// The format, or Unsupported naming the tensor, its type and the file.
  Expected<TensorFormat> usableFormat() const;
  /// "[172, 64]".
  std::string shapeText() const;
  int64_t numElements() const;
  /// Bytes in the file.
  uint64_t storedBytes() const {
    return rows ? rows->storedBytes : bytes.size();
  }
  /// The row at `index` of those of `rowBytes` bytes: in the file, or assembled
  /// in `scratch`, which has room for one.
  const uint8_t *row(int64_t index, int64_t rowBytes, uint8_t *scratch) const {
    if (!rows)
      return bytes.data() + index * rowBytes;
    rows->assemble(index, scratch);
    return scratch;
  }
};

} // namespace llmir

#endif // LLMIR_CHECKPOINT_CHECKPOINTTENSOR_H
