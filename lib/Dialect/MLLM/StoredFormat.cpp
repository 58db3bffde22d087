//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/StoredFormat.h"
#include "llmir/Support/IntegerLayout.h"

#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace llmir::mllm {

std::optional<TensorFormat> storedFormat(Type type) {
  if (auto quantized = dyn_cast<mlir::llm::QuantizedTensorType>(type)) {
    StringRef name = quantized.getFormat();
    return tensorFormatFromName(std::string_view(name.data(), name.size()));
  }
  Type element = getElementTypeOrSelf(type);
  if (element.isF32())
    return TensorFormat::F32;
  if (element.isF16())
    return TensorFormat::F16;
  if (element.isBF16())
    return TensorFormat::BF16;
  return std::nullopt;
}

std::string storedFormatName(Type type) {
  std::optional<TensorFormat> format = storedFormat(type);
  return format ? std::string(tensorFormatInfo(*format).name) : std::string();
}

std::string packedFormatName(Type type) {
  std::optional<TensorFormat> format = storedFormat(type);
  if (format)
    if (auto integers = IntegerFormat::ofBlocks(*format))
      return integers->name();
  return storedFormatName(type);
}

Type storedType(MLIRContext *context, ArrayRef<int64_t> shape,
                TensorFormat format) {
  switch (format) {
  case TensorFormat::F32:
  case TensorFormat::F64: // Rounded when it is read.
    return RankedTensorType::get(shape, Float32Type::get(context));
  case TensorFormat::F16:
    return RankedTensorType::get(shape, Float16Type::get(context));
  case TensorFormat::BF16:
    return RankedTensorType::get(shape, BFloat16Type::get(context));
  default: // The block formats.
    return mlir::llm::QuantizedTensorType::getForFormat(
        context, shape, tensorFormatInfo(format).name);
  }
}

std::optional<std::string>
problemOfStoredPlace(ArrayRef<int64_t> shape,
                     std::optional<ArrayRef<int64_t>> slice, bool transposed,
                     bool slicesColumns) {
  if (slice) {
    if ((slice->size() != 2 && slice->size() != 4) || shape.empty() ||
        shape.size() > 3)
      return "has a 'slice' that is not [first row, rows of the stored tensor] "
             "of a vector, a matrix or the matrices of a stack, or these and "
             "[rows of a group, rows between the starts of groups]";
    const int64_t own = shape.size() != 3 ? shape[0]
                        : slicesColumns   ? shape[2]
                                          : shape[1];
    int64_t first = (*slice)[0], total = (*slice)[1], spanned = own;
    if (slice->size() == 4) {
      int64_t rows = (*slice)[2], stride = (*slice)[3], before = 0;
      if (rows < 1 || stride < rows || own % rows != 0 ||
          __builtin_mul_overflow(own / rows - 1, stride, &before) ||
          __builtin_add_overflow(before, rows, &spanned))
        return "has the 'slice' of groups of " + std::to_string(rows) +
               " in every " + std::to_string(stride) +
               " rows, which do not make up its " + std::to_string(own) +
               " rows";
    }
    if (first < 0 || total < spanned || first > total - spanned)
      return "has the 'slice' [" + std::to_string(first) + ", " +
             std::to_string(total) + "], which does not contain its " +
             std::to_string(own) + " rows";
  }
  if (transposed && shape.size() != 2 && shape.size() != 3)
    return "is 'transposed', which is only valid for a matrix or a stack of "
           "matrices";
  if (slicesColumns &&
      (!transposed || shape.size() != 3 || !slice || slice->size() != 2))
    return "has 'slices_columns', which is only valid for a transposed stack "
           "with a 'slice' of consecutive columns";
  return std::nullopt;
}

} // namespace llmir::mllm
