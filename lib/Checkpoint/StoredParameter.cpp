//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Checkpoint/StoredParameter.h"

#include "llmir/Support/TensorFormat.h"

#include <algorithm>

using namespace llmir;

namespace {

/// A tensor as rows of elements.
class StoredRows {
public:
  StoredRows(const CheckpointTensor &tensor, TensorFormat format, int64_t rows,
             int64_t columns)
      : rows(rows), columns(columns), tensor(tensor), format(format),
        rowBytes(*tensorRowBytes(format, columns)),
        scratch(tensor.rows ? rowBytes : 0) {}

  void decode(int64_t row, float *numbers) {
    decodeTensorRow(format, tensor.row(row, rowBytes, scratch.data()), columns,
                    numbers);
  }

  const int64_t rows, columns;

private:
  const CheckpointTensor &tensor;
  TensorFormat format;
  int64_t rowBytes;
  std::vector<uint8_t> scratch;
};

} // namespace

static Status doesNotFit(const CheckpointTensor &tensor,
                         const StoredParameter &parameter) {
  std::string shape;
  for (int64_t size : parameter.shape)
    shape += (shape.empty() ? "" : ", ") + std::to_string(size);
  return Status(StatusCode::InvalidFile,
                "tensor '" + tensor.name + "' " + tensor.shapeText() +
                    " does not contain a parameter [" + shape + "]");
}

/// The row of the tensor that stores row `row` of `rows`, if the stored pairs
/// of each head are adjacent and the parameter has them in two halves (see
/// mllm.tensor.register).
static int64_t storedRow(const StoredParameter &parameter, int64_t rows,
                         int64_t row) {
  if (parameter.unpermuteHeads != 0) {
    const int64_t size = rows / parameter.unpermuteHeads, half = size / 2,
                  inHead = row % size;
    row += (inHead % half) * 2 + inHead / half - inHead;
  }
  if (parameter.permuteHeads != 0) {
    const int64_t size = rows / parameter.permuteHeads, inHead = row % size;
    row += inHead / 2 + inHead % 2 * (size / 2) - inHead;
  }
  if (parameter.groupRows != 0)
    row += row / parameter.groupRows *
           (parameter.groupStride - parameter.groupRows);
  return parameter.firstRow + row;
}

/// The number of stored rows from the first to the last one of a parameter;
/// -1 if its groups are invalid.
static int64_t spannedRows(const StoredParameter &parameter, int64_t rows) {
  const int64_t group = parameter.groupRows;
  if (group == 0 || rows == 0)
    return rows;
  int64_t before = 0;
  if (group < 0 || rows % group != 0 || parameter.groupStride < group ||
      __builtin_mul_overflow(rows / group - 1, parameter.groupStride, &before))
    return -1;
  return before + group;
}

/// Whether `rows` can be divided into `heads` heads of whole pairs; `heads` is
/// 0 if the rows are not permuted.
static bool hasHeads(int64_t rows, int64_t heads) {
  return heads == 0 ||
         (heads > 0 && rows % heads == 0 && rows / heads % 2 == 0);
}

/// The columns of a stored matrix whose first row is `first`.
static Status
readTransposed(StoredRows &stored, const StoredParameter &parameter,
               int64_t first, int64_t count,
               const std::function<Status(Span<const float>)> &take) {
  std::vector<float> all(static_cast<size_t>(stored.rows * stored.columns));
  for (int64_t r = 0; r < stored.rows; ++r)
    stored.decode(first + r, all.data() + r * stored.columns);
  std::vector<float> row(static_cast<size_t>(stored.rows));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t column = storedRow(parameter, count, i);
    for (int64_t r = 0; r < stored.rows; ++r)
      row[static_cast<size_t>(r)] =
          all[static_cast<size_t>(r * stored.columns + column)];
    LLMIR_RETURN_IF_ERROR(take(Span<const float>(row.data(), row.size())));
  }
  return Status::ok();
}

/// The matrices of a stack, each of which is stored as columns: consecutive
/// rows of a stored matrix of `held` rows.
static Status
readColumnsOfStack(StoredRows &stored, const StoredParameter &parameter,
                   int64_t held,
                   const std::function<Status(Span<const float>)> &take) {
  const int64_t rows = parameter.shape[1], columns = parameter.shape[2];
  std::vector<float> all(static_cast<size_t>(columns * rows));
  std::vector<float> row(static_cast<size_t>(columns));
  for (int64_t matrix = 0; matrix < parameter.shape[0]; ++matrix) {
    const int64_t first = matrix * held + parameter.firstRow;
    for (int64_t k = 0; k < columns; ++k)
      stored.decode(first + k, all.data() + k * rows);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t k = 0; k < columns; ++k)
        row[static_cast<size_t>(k)] = all[static_cast<size_t>(k * rows + i)];
      LLMIR_RETURN_IF_ERROR(take(Span<const float>(row.data(), row.size())));
    }
  }
  return Status::ok();
}

bool llmir::isNumberedSource(std::string_view source) {
  return source.find('*') != std::string_view::npos;
}

std::string llmir::matrixSource(std::string_view source, int64_t number) {
  std::string name(source);
  const size_t place = name.find('*');
  return place == std::string::npos
             ? name
             : name.replace(place, 1, std::to_string(number));
}

/// The matrices of a stack, each from its own tensor.
static Status
readNumbered(const Checkpoint &checkpoint, const StoredParameter &stack,
             const std::function<Status(Span<const float>)> &take) {
  if (stack.shape.size() != 3)
    return Status(StatusCode::InvalidFile,
                  "the source '" + stack.source +
                      "' is for a stack of matrices, not for a parameter of "
                      "rank " +
                      std::to_string(stack.shape.size()));
  StoredParameter matrix = stack;
  matrix.shape.erase(matrix.shape.begin());
  for (int64_t i = 0; i < stack.shape[0]; ++i) {
    matrix.source = matrixSource(stack.source, i);
    LLMIR_RETURN_IF_ERROR(readRows(checkpoint, matrix, take));
  }
  return Status::ok();
}

Status llmir::readRows(const Checkpoint &checkpoint,
                       const StoredParameter &parameter,
                       const std::function<Status(Span<const float>)> &take) {
  if (isNumberedSource(parameter.source))
    return readNumbered(checkpoint, parameter, take);
  Expected<const CheckpointTensor *> found =
      checkpoint.tensor(parameter.source);
  if (!found)
    return found.takeStatus();
  const CheckpointTensor &tensor = **found;
  Expected<TensorFormat> format = tensor.usableFormat();
  if (!format)
    return format.takeStatus();

  // The parameter as [rows, columns]; a rank-1 parameter is a column in memory,
  // whose elements are contiguous like those of one row.
  int64_t wanted = 1;
  for (int64_t size : parameter.shape)
    if (size < 0 || __builtin_mul_overflow(wanted, size, &wanted))
      return doesNotFit(tensor, parameter);
  // With a slice of columns, `rows` and `columns` are those of the stored
  // matrices.
  const bool slicesColumns = parameter.slicesColumns;
  if (slicesColumns && (!parameter.isTransposed || parameter.shape.size() != 3))
    return doesNotFit(tensor, parameter);
  const bool isTransposed = parameter.isTransposed && !slicesColumns;
  const int64_t columns =
      parameter.shape.size() < 2
          ? 1
          : *(parameter.shape.end() - (slicesColumns ? 2 : 1));
  // A slice, and heads, are those of each matrix of a stack.
  const int64_t matrices = parameter.shape.size() == 3
                               ? std::max<int64_t>(parameter.shape[0], 1)
                               : 1;
  const int64_t rows = columns ? wanted / columns / matrices : 0;
  const int64_t all = parameter.storedRows ? parameter.storedRows : rows;
  const bool isList = parameter.shape.size() < 2;
  int64_t held = 0;
  if (all < 0 || __builtin_mul_overflow(all, columns, &held) ||
      __builtin_mul_overflow(held, matrices, &held) ||
      tensor.numElements() != held || parameter.firstRow < 0 ||
      spannedRows(parameter, rows) < 0 ||
      parameter.firstRow > all - spannedRows(parameter, rows) ||
      tensor.shape.empty() || ((isList || isTransposed) && tensor.rows) ||
      (slicesColumns &&
       (parameter.groupRows != 0 || parameter.unpermuteHeads != 0 ||
        parameter.permuteHeads != 0)) ||
      !hasHeads(rows, parameter.unpermuteHeads) ||
      !hasHeads(rows, parameter.permuteHeads))
    return doesNotFit(tensor, parameter);
  if (wanted == 0)
    return Status::ok();

  if (isList) { // Decoded at once, since it is one row of the file.
    std::vector<float> numbers(static_cast<size_t>(all));
    StoredRows(tensor, *format, 1, all).decode(0, numbers.data());
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t place = storedRow(parameter, rows, i);
      LLMIR_RETURN_IF_ERROR(take(Span<const float>(numbers.data() + place, 1)));
    }
    return Status::ok();
  }
  const int64_t inRow = isTransposed ? all : columns;
  // The matrices of a stack that have one column may be stored as its rows.
  const bool mayBeRows =
      columns == 1 && !parameter.isTransposed && !tensor.rows;
  if ((tensor.shape.back() != inRow && !mayBeRows) ||
      !tensorRowBytes(*format, inRow))
    return doesNotFit(tensor, parameter);
  if (slicesColumns) {
    StoredRows stored(tensor, *format, matrices * all, columns);
    return readColumnsOfStack(stored, parameter, all, take);
  }
  StoredRows stored(tensor, *format, isTransposed ? columns : all,
                    isTransposed ? all : columns);
  if (isTransposed) {
    for (int64_t m = 0; m < matrices; ++m)
      LLMIR_RETURN_IF_ERROR(
          readTransposed(stored, parameter, m * columns, rows, take));
    return Status::ok();
  }
  std::vector<float> row(static_cast<size_t>(columns));
  for (int64_t i = 0; i < matrices * rows; ++i) {
    stored.decode(i / rows * all + storedRow(parameter, rows, i % rows),
                  row.data());
    LLMIR_RETURN_IF_ERROR(take(Span<const float>(row.data(), row.size())));
  }
  return Status::ok();
}
