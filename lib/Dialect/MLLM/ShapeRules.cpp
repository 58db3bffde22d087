//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/ShapeRules.h"

#include <algorithm>

namespace llmir::shapes {

Status shapeError(std::string cause) {
  return Status(StatusCode::InvalidArgument, std::move(cause));
}

Expected<DimExpr> sameSize(const DimExpr &a, const DimExpr &b,
                           const std::string &what) {
  if (!DimExpr::mayEqual(a, b))
    return shapeError(what + ": " + a.str() + " and " + b.str());
  if (!a.isKnown() || b.isConstant())
    return b;
  return a;
}

Expected<Shape> sameShape(const Shape &a, const Shape &b) {
  if (a.size() != b.size())
    return shapeError("the shapes " + str(a) + " and " + str(b) +
                      " have different ranks");
  Shape result;
  for (size_t i = 0; i < a.size(); ++i) {
    Expected<DimExpr> size =
        sameSize(a[i], b[i], "sizes #" + std::to_string(i) + " differ");
    if (!size)
      return size.takeStatus();
    result.push_back(*size);
  }
  return result;
}

Expected<int64_t> normalizeAxis(int64_t axis, size_t rank,
                                const std::string &what) {
  const int64_t count = static_cast<int64_t>(rank);
  if (axis >= -count && axis < count)
    return axis < 0 ? axis + count : axis;
  if (rank == 0)
    return shapeError("has '" + what + "' " + std::to_string(axis) +
                      ", but a tensor of rank 0 has no dimensions");
  return shapeError("has '" + what + "' " + std::to_string(axis) +
                    ", expected one from " + std::to_string(-count) + " to " +
                    std::to_string(count - 1));
}

//===----------------------------------------------------------------------===//
// Element-wise
//===----------------------------------------------------------------------===//

/// Broadcasts one dimension; nullopt if the sizes are incompatible.
static std::optional<DimExpr> broadcastSize(const DimExpr &a,
                                            const DimExpr &b) {
  if (a == b || b.constant() == 1)
    return a;
  if (a.constant() == 1)
    return b;
  // Whether `a` is 1 or n, the result is n.
  if (b.isConstant() && !a.isConstant())
    return b;
  if (a.isConstant() && !b.isConstant())
    return a;
  if (!DimExpr::mayEqual(a, b) && a.isConstant())
    return std::nullopt;
  return DimExpr::unknown();
}

Expected<Shape> broadcast(const Shape &a, const Shape &b) {
  Shape result(std::max(a.size(), b.size()));
  for (size_t fromEnd = 1; fromEnd <= result.size(); ++fromEnd) {
    const DimExpr one = 1;
    const DimExpr &left = fromEnd <= a.size() ? a[a.size() - fromEnd] : one;
    const DimExpr &right = fromEnd <= b.size() ? b[b.size() - fromEnd] : one;
    std::optional<DimExpr> size = broadcastSize(left, right);
    if (!size)
      return shapeError("the shapes " + str(a) + " and " + str(b) +
                        " do not broadcast: sizes " + left.str() + " and " +
                        right.str());
    result[result.size() - fromEnd] = *size;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

DimExpr numElements(const Shape &shape) {
  DimExpr product = 1;
  bool isEmpty = false;
  for (const DimExpr &size : shape) {
    isEmpty |= size.constant() == 0;
    product = product * size;
  }
  return isEmpty ? DimExpr(0) : product;
}

Status sameNumElements(const Shape &from, const Shape &to) {
  const DimExpr have = numElements(from), want = numElements(to);
  if (DimExpr::mayEqual(have, want))
    return Status::ok();
  return shapeError("the shape " + str(from) + " has " + have.str() +
                    " values, but " + str(to) + " has " + want.str());
}

/// Removes the sizes that both shapes share, so that a quotient can be known
/// even if the numbers of elements are not linear.
static void cancel(Shape &from, Shape &to) {
  for (auto size = to.begin(); size != to.end();) {
    auto same = std::find(from.begin(), from.end(), *size);
    if (same == from.end() || size->constant() == 0) {
      ++size;
      continue;
    }
    from.erase(same);
    size = to.erase(size);
  }
}

Expected<Shape> reshape(const Shape &from, const std::vector<int64_t> &to) {
  Shape result, others;
  std::optional<size_t> inferred;
  for (int64_t size : to) {
    if (size < -1)
      return shapeError("has the size " + std::to_string(size) +
                        " in its shape, expected -1 or more");
    if (size == -1 && inferred)
      return shapeError("has -1 twice in its shape, expected it once at most");
    if (size == -1)
      inferred = result.size();
    else
      others.push_back(size);
    result.push_back(size);
  }
  if (!numElements(others).isKnown())
    return shapeError("has a shape whose number of elements overflows");
  if (inferred) {
    Shape rest = from, divisors = others;
    cancel(rest, divisors);
    const DimExpr have = numElements(rest), divisor = numElements(divisors);
    if (divisor.constant() == 0)
      return shapeError("has both -1 and a size of 0 in its shape");
    result[*inferred] = have.exactDiv(divisor);
    if (!result[*inferred].isKnown() && have.isConstant() &&
        divisor.isConstant())
      return shapeError("the " + have.str() + " values of " + str(rest) +
                        " do not fill rows of " + divisor.str());
  }
  LLMIR_RETURN_IF_ERROR(sameNumElements(from, result));
  return result;
}

Expected<Shape> permute(const Shape &shape, const std::vector<int64_t> &order) {
  if (order.size() != shape.size())
    return shapeError("names " + std::to_string(order.size()) +
                      " dimensions of a tensor of rank " +
                      std::to_string(shape.size()));
  Shape result;
  std::vector<bool> seen(shape.size());
  for (int64_t entry : order) {
    Expected<int64_t> axis = normalizeAxis(entry, shape.size());
    if (!axis)
      return axis.takeStatus();
    const size_t i = static_cast<size_t>(*axis);
    if (seen[i])
      return shapeError("names dimension " + std::to_string(i) + " twice");
    seen[i] = true;
    result.push_back(shape[i]);
  }
  return result;
}

Expected<Shape> transpose(const Shape &shape, int64_t a, int64_t b) {
  Expected<int64_t> first = normalizeAxis(a, shape.size(), "dim0");
  if (!first)
    return first.takeStatus();
  Expected<int64_t> second = normalizeAxis(b, shape.size(), "dim1");
  if (!second)
    return second.takeStatus();
  Shape result = shape;
  std::swap(result[static_cast<size_t>(*first)],
            result[static_cast<size_t>(*second)]);
  return result;
}

//===----------------------------------------------------------------------===//
// Concatenation and splitting
//===----------------------------------------------------------------------===//

Expected<Shape> concat(const std::vector<Shape> &parts, int64_t axis) {
  if (parts.empty())
    return shapeError("has no operands, expected at least one");
  Shape result = parts.front();
  Expected<int64_t> at = normalizeAxis(axis, result.size(), "dim");
  if (!at)
    return at.takeStatus();
  const size_t joined = static_cast<size_t>(*at);
  for (size_t p = 1; p < parts.size(); ++p) {
    const Shape &part = parts[p];
    const std::string name = "operand #" + std::to_string(p);
    if (part.size() != result.size())
      return shapeError(name + " has rank " + std::to_string(part.size()) +
                        ", expected " + std::to_string(result.size()));
    for (size_t i = 0; i < part.size(); ++i) {
      if (i == joined) {
        result[i] = result[i] + part[i];
        continue;
      }
      Expected<DimExpr> size = sameSize(
          result[i], part[i],
          "operand #0 and " + name + " differ in size #" + std::to_string(i));
      if (!size)
        return size.takeStatus();
      result[i] = *size;
    }
  }
  return result;
}

Expected<Shape> stack(const std::vector<Shape> &parts, int64_t axis) {
  if (parts.empty())
    return shapeError("has no operands, expected at least one");
  Shape result = parts.front();
  Expected<int64_t> at = normalizeAxis(axis, result.size() + 1, "dim");
  if (!at)
    return at.takeStatus();
  for (size_t p = 1; p < parts.size(); ++p) {
    Expected<Shape> same = sameShape(result, parts[p]);
    if (!same)
      return same;
    result = *same;
  }
  result.insert(result.begin() + *at, static_cast<int64_t>(parts.size()));
  return result;
}

Expected<std::vector<Shape>> split(const Shape &shape, int64_t axis,
                                   const std::vector<int64_t> &sections) {
  Expected<int64_t> at = normalizeAxis(axis, shape.size(), "dim");
  if (!at)
    return at.takeStatus();
  const DimExpr &whole = shape[static_cast<size_t>(*at)];
  std::vector<DimExpr> sizes(sections.begin(), sections.end());
  for (int64_t section : sections)
    if (section < (sections.size() == 1 ? 1 : 0))
      return shapeError("has a section of " + std::to_string(section));
  if (sections.empty())
    return shapeError("has no sections, expected at least one");
  if (sections.size() == 1) {
    const int64_t section = sections.front();
    if (!whole.isConstant())
      return shapeError(
          "cannot split " + whole.str() + " slices into parts of " +
          std::to_string(section) +
          ", since the number of parts is not known, expected a static size");
    if (*whole.constant() % section != 0)
      return shapeError("cannot split " + whole.str() +
                        " slices into parts of " + std::to_string(section));
    const int64_t count = *whole.constant() / section;
    if (count > (int64_t(1) << 16))
      return shapeError("has " + std::to_string(count) +
                        " parts, expected at most 65536");
    sizes.assign(static_cast<size_t>(count), section);
  } else {
    DimExpr sum = 0;
    for (const DimExpr &size : sizes)
      sum = sum + size;
    Expected<DimExpr> same = sameSize(
        sum, whole, "the sections' sum is not the size of the dimension");
    if (!same)
      return same.takeStatus();
  }
  std::vector<Shape> result(sizes.size(), shape);
  for (size_t i = 0; i < sizes.size(); ++i)
    result[i][static_cast<size_t>(*at)] = sizes[i];
  return result;
}

Expected<Shape> repeat(const Shape &shape, int64_t axis, int64_t times) {
  Expected<int64_t> at = normalizeAxis(axis, shape.size(), "dim");
  if (!at)
    return at.takeStatus();
  if (times < 1)
    return shapeError("repeats " + std::to_string(times) +
                      " times, expected at least 1");
  Shape result = shape;
  DimExpr &size = result[static_cast<size_t>(*at)];
  size = size * DimExpr(times);
  return result;
}

Expected<Shape> reduce(const Shape &shape, const std::vector<int64_t> &axes,
                       bool keepDims) {
  std::vector<bool> reduced(shape.size(), axes.empty());
  for (int64_t entry : axes) {
    Expected<int64_t> axis = normalizeAxis(entry, shape.size());
    if (!axis)
      return axis.takeStatus();
    if (reduced[static_cast<size_t>(*axis)])
      return shapeError("names dimension " + std::to_string(*axis) + " twice");
    reduced[static_cast<size_t>(*axis)] = true;
  }
  Shape result;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!reduced[i])
      result.push_back(shape[i]);
    else if (keepDims)
      result.push_back(1);
  }
  return result;
}

Expected<Shape> gather(const Shape &table, const Shape &indices, int64_t axis) {
  Expected<int64_t> at = normalizeAxis(axis, table.size(), "dim");
  if (!at)
    return at.takeStatus();
  Shape result(table.begin(), table.begin() + *at);
  result.insert(result.end(), indices.begin(), indices.end());
  result.insert(result.end(), table.begin() + *at + 1, table.end());
  return result;
}

//===----------------------------------------------------------------------===//
// Matrix products and convolutions
//===----------------------------------------------------------------------===//

Expected<Shape> matmul(const Shape &a, const Shape &b, bool transposeA,
                       bool transposeB) {
  if (a.size() < 2 || b.size() < 2)
    return shapeError("multiplies " + str(a) + " and " + str(b) +
                      ", expected tensors of rank 2 or more");
  const DimExpr &rows = a[a.size() - (transposeA ? 1 : 2)];
  const DimExpr &inner = a[a.size() - (transposeA ? 2 : 1)];
  const DimExpr &columns = b[b.size() - (transposeB ? 2 : 1)];
  Expected<DimExpr> same =
      sameSize(inner, b[b.size() - (transposeB ? 1 : 2)],
               "the columns of the left matrix are not the rows of the right "
               "one");
  if (!same)
    return same.takeStatus();
  Expected<Shape> result =
      broadcast(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2));
  if (!result)
    return result;
  result->push_back(rows);
  result->push_back(columns);
  return result;
}

/// The output size of one convolved dimension.
static Expected<DimExpr> windowedSize(const DimExpr &size, const Window &window,
                                      size_t i) {
  const int64_t kernel = window.kernel[i], stride = window.stride[i],
                dilation = window.dilation[i];
  if (kernel < 1 || stride < 1 || dilation < 1)
    return shapeError("has kernel " + std::to_string(kernel) + ", stride " +
                      std::to_string(stride) + " and dilation " +
                      std::to_string(dilation) +
                      ", expected at least 1 of each");
  if (window.padLow[i] < 0 || window.padHigh[i] < 0)
    return shapeError("pads by " + std::to_string(window.padLow[i]) + " and " +
                      std::to_string(window.padHigh[i]) +
                      ", expected 0 or more");
  const DimExpr reach = DimExpr(dilation) * DimExpr(kernel - 1) + 1;
  const DimExpr padded =
      size + DimExpr(window.padLow[i]) + DimExpr(window.padHigh[i]);
  const DimExpr room = padded - reach;
  if (!reach.isKnown() || (room.isConstant() && *room.constant() < 0))
    return shapeError("has a window of " + reach.str() +
                      " in a padded size of " + padded.str());
  return room.floorDiv(stride) + 1;
}

Expected<Shape> windowed(const Shape &spatial, const Window &window) {
  const size_t rank = spatial.size();
  for (const auto *list : {&window.kernel, &window.stride, &window.padLow,
                           &window.padHigh, &window.dilation})
    if (list->size() != rank)
      return shapeError("has " + std::to_string(list->size()) +
                        " entries for " + std::to_string(rank) +
                        " dimensions of its window");
  Shape result;
  for (size_t i = 0; i < rank; ++i) {
    Expected<DimExpr> size = windowedSize(spatial[i], window, i);
    if (!size)
      return size.takeStatus();
    result.push_back(*size);
  }
  return result;
}

Expected<Shape> convolution(const Shape &x, int64_t outChannels,
                            const Window &window) {
  const size_t rank = window.kernel.size() + 2;
  if (x.size() != rank)
    return shapeError("has an input of rank " + std::to_string(x.size()) +
                      ", expected " + std::to_string(rank));
  Expected<Shape> spatial = windowed(Shape(x.begin() + 2, x.end()), window);
  if (!spatial)
    return spatial;
  Shape result = {x[0], outChannels};
  result.insert(result.end(), spatial->begin(), spatial->end());
  return result;
}

} // namespace llmir::shapes
