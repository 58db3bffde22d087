// RUN: llmir-shape-rules-tests --gtest_filter='ShapeRulesTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each shape rule on integers, on names, on `?`, on sizes of 0 and 1, and on
// invalid shapes. Results are compared as text: "[1, 2 * seq]", or what is
// wrong.
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/ShapeRules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

using namespace llmir;
using namespace llmir::shapes;

namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

/// "1 seq ?" as a shape: sizes with blanks between, no blank in one.
Shape shape(const std::string &text) {
  Shape result;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string size = text.substr(at, end - at);
    result.push_back(size == "?" ? DimExpr::unknown() : *DimExpr::parse(size));
    at = end + 1;
  }
  return result;
}

std::string text(const Shape &shape) { return str(shape); }
std::string text(const DimExpr &size) { return size.str(); }
std::string text(int64_t axis) { return std::to_string(axis); }
std::string text(const std::vector<Shape> &parts) {
  std::string result;
  for (const Shape &part : parts)
    result += str(part);
  return result;
}
/// The result, or why there is none.
template <typename T> std::string text(const Expected<T> &result) {
  return result ? text(*result) : result.status().cause();
}

TEST(ShapeRulesTest, SizesThatMustBeEqual) {
  auto same = [](const char *a, const char *b) {
    return text(sameSize(shape(a)[0], shape(b)[0], "heads differ"));
  };
  EXPECT_EQ(same("2", "2"), "2");
  EXPECT_EQ(same("0", "0"), "0");
  EXPECT_EQ(same("2", "4"), "heads differ: 2 and 4");
  EXPECT_EQ(same("0", "1"), "heads differ: 0 and 1");
  // The more specific size: integers before names before `?`.
  EXPECT_EQ(same("?", "seq"), "seq");
  EXPECT_EQ(same("seq", "?"), "seq");
  EXPECT_EQ(same("seq", "8"), "8");
  EXPECT_EQ(same("8", "seq"), "8");
  EXPECT_EQ(same("?", "?"), "?");
  EXPECT_EQ(same("seq", "past"), "seq");
  EXPECT_EQ(same("seq", "seq+1"), "heads differ: seq and seq + 1");
}

TEST(ShapeRulesTest, ShapesThatMustBeEqual) {
  auto same = [](const char *a, const char *b) {
    return text(sameShape(shape(a), shape(b)));
  };
  EXPECT_EQ(same("2 ? seq", "2 3 ?"), "[2, 3, seq]");
  EXPECT_EQ(same("", ""), "[]");
  EXPECT_EQ(same("2", "2 1"), "the shapes [2] and [2, 1] have different ranks");
  EXPECT_EQ(same("2 3", "2 4"), "sizes #1 differ: 3 and 4");
}

TEST(ShapeRulesTest, AxesCountFromEitherEnd) {
  EXPECT_EQ(text(normalizeAxis(0, 3)), "0");
  EXPECT_EQ(text(normalizeAxis(2, 3)), "2");
  EXPECT_EQ(text(normalizeAxis(-1, 3)), "2");
  EXPECT_EQ(text(normalizeAxis(-3, 3)), "0");
  EXPECT_EQ(text(normalizeAxis(3, 3)),
            "has 'axis' 3, expected one from -3 to 2");
  EXPECT_EQ(text(normalizeAxis(-4, 3, "dim")),
            "has 'dim' -4, expected one from -3 to 2");
  EXPECT_EQ(text(normalizeAxis(0, 0)),
            "has 'axis' 0, but a tensor of rank 0 has no dimensions");
  EXPECT_FALSE(normalizeAxis(std::numeric_limits<int64_t>::min(), 3));
}

TEST(ShapeRulesTest, Broadcasting) {
  auto both = [](const char *a, const char *b) {
    const std::string result = text(broadcast(shape(a), shape(b)));
    // The rule does not depend on the order of its operands.
    const Expected<Shape> other = broadcast(shape(b), shape(a));
    EXPECT_EQ(result.front() == '[', static_cast<bool>(other));
    if (other) {
      EXPECT_EQ(result, text(other));
    }
    return result;
  };
  EXPECT_EQ(both("2 3", "2 3"), "[2, 3]");
  EXPECT_EQ(both("2 3", "3"), "[2, 3]");
  EXPECT_EQ(both("4 1 3", "2 1"), "[4, 2, 3]");
  EXPECT_EQ(both("", "2"), "[2]");
  EXPECT_EQ(both("", ""), "[]");
  // A size of 1 broadcasts to 0; other sizes do not.
  EXPECT_EQ(both("0", "1"), "[0]");
  EXPECT_EQ(text(broadcast(shape("0"), shape("2"))),
            "the shapes [0] and [2] do not broadcast: sizes 0 and 2");
  EXPECT_EQ(both("seq 4", "1 4"), "[seq, 4]");
  EXPECT_EQ(both("seq", "seq"), "[seq]");
  // Whether seq is 1 or 8, the result has 8.
  EXPECT_EQ(both("seq", "8"), "[8]");
  EXPECT_EQ(both("?", "8"), "[8]");
  EXPECT_EQ(both("?", "1"), "[?]");
  EXPECT_EQ(both("seq", "past"), "[?]");
  EXPECT_EQ(text(broadcast(shape("2 3"), shape("2"))),
            "the shapes [2, 3] and [2] do not broadcast: sizes 3 and 2");
}

TEST(ShapeRulesTest, NumbersOfValues) {
  auto count = [](const char *sizes) {
    return numElements(shape(sizes)).str();
  };
  EXPECT_EQ(count(""), "1");
  EXPECT_EQ(count("2 3"), "6");
  EXPECT_EQ(count("2 seq"), "2 * seq");
  EXPECT_EQ(count("seq seq"), "?");
  // Zero times an unknown size is zero.
  EXPECT_EQ(count("? 0"), "0");
  EXPECT_EQ(count("4294967296 4294967296"), "?");
  EXPECT_TRUE(sameNumElements(shape("2 3"), shape("6")));
  EXPECT_TRUE(sameNumElements(shape("2 ?"), shape("7")));
  EXPECT_EQ(sameNumElements(shape("2 3"), shape("5")).cause(),
            "the shape [2, 3] has 6 values, but [5] has 5");
  EXPECT_EQ(sameNumElements(shape("2 seq"), shape("2 seq 1 2")).cause(), "");
}

TEST(ShapeRulesTest, Reshaping) {
  auto to = [](const char *from, std::vector<int64_t> sizes) {
    return text(reshape(shape(from), sizes));
  };
  EXPECT_EQ(to("2 3", {6}), "[6]");
  EXPECT_EQ(to("2 3", {3, -1}), "[3, 2]");
  EXPECT_EQ(to("6", {2, 3, 1}), "[2, 3, 1]");
  EXPECT_EQ(to("1", {}), "[]");
  EXPECT_EQ(to("", {1, -1}), "[1, 1]");
  EXPECT_EQ(to("0 3", {-1, 3}), "[0, 3]");
  EXPECT_EQ(to("0", {0, 5}), "[0, 5]");
  EXPECT_EQ(to("1 seq 12 128", {1, -1, 1536}), "[1, seq, 1536]");
  EXPECT_EQ(to("seq 6", {-1, 2}), "[3 * seq, 2]");
  EXPECT_EQ(to("seq 3", {-1, 2}), "[?, 2]");
  // Sizes that both have need not be linear together.
  EXPECT_EQ(to("batch seq 8", {-1, 8}), "[?, 8]");
  EXPECT_EQ(to("2 3", {4}), "the shape [2, 3] has 6 values, but [4] has 4");
  EXPECT_EQ(to("2 3", {-1, 4}), "the 6 values of [2, 3] do not fill rows of 4");
  EXPECT_EQ(to("2 3", {-1, -1}),
            "has -1 twice in its shape, expected it once at most");
  EXPECT_EQ(to("2 3", {-2, 3}),
            "has the size -2 in its shape, expected -1 or more");
  EXPECT_EQ(to("2 3", {-1, 0}), "has both -1 and a size of 0 in its shape");
  EXPECT_EQ(to("2", {kMost, kMost}),
            "has a shape whose number of elements overflows");
}

TEST(ShapeRulesTest, Reordering) {
  EXPECT_EQ(text(permute(shape("1 seq 12 128"), {0, 2, 1, 3})),
            "[1, 12, seq, 128]");
  EXPECT_EQ(text(permute(shape("2 3"), {-1, 0})), "[3, 2]");
  EXPECT_EQ(text(permute(Shape(), {})), "[]");
  EXPECT_EQ(text(permute(shape("2 3"), {0})),
            "names 1 dimensions of a tensor of rank 2");
  EXPECT_EQ(text(permute(shape("2 3"), {1, -1})), "names dimension 1 twice");
  EXPECT_EQ(text(permute(shape("2 3"), {0, 2})),
            "has 'axis' 2, expected one from -2 to 1");
  EXPECT_EQ(text(transpose(shape("1 seq 12"), 1, -1)), "[1, 12, seq]");
  EXPECT_EQ(text(transpose(shape("0 1"), 0, 1)), "[1, 0]");
  EXPECT_EQ(text(transpose(shape("2"), 0, 0)), "[2]");
  EXPECT_EQ(text(transpose(shape("2"), 1, 0)),
            "has 'dim0' 1, expected one from -1 to 0");
  EXPECT_EQ(text(transpose(shape("2"), 0, -2)),
            "has 'dim1' -2, expected one from -1 to 0");
}

TEST(ShapeRulesTest, Joining) {
  auto join = [](std::vector<Shape> parts, int64_t axis) {
    return text(concat(parts, axis));
  };
  EXPECT_EQ(join({shape("2 3"), shape("5 3")}, 0), "[7, 3]");
  EXPECT_EQ(join({shape("past 64"), shape("seq 64")}, -2), "[past + seq, 64]");
  EXPECT_EQ(join({shape("2 0"), shape("2 0"), shape("2 1")}, 1), "[2, 1]");
  EXPECT_EQ(join({shape("2 ?"), shape("2 seq")}, 0), "[4, seq]");
  EXPECT_EQ(join({shape("2"), shape("?")}, 0), "[?]");
  EXPECT_EQ(join({shape("2")}, 0), "[2]");
  EXPECT_EQ(join({}, 0), "has no operands, expected at least one");
  EXPECT_EQ(join({shape("2 3"), shape("2")}, 0),
            "operand #1 has rank 1, expected 2");
  EXPECT_EQ(join({shape("2 3"), shape("2 3"), shape("2 4")}, 0),
            "operand #0 and operand #2 differ in size #1: 3 and 4");
  EXPECT_EQ(join({Shape(), Shape()}, 0),
            "has 'dim' 0, but a tensor of rank 0 has no dimensions");

  EXPECT_EQ(text(stack({shape("2 seq"), shape("2 ?")}, 1)), "[2, 2, seq]");
  EXPECT_EQ(text(stack({shape("2"), shape("2"), shape("2")}, -1)), "[2, 3]");
  EXPECT_EQ(text(stack({Shape(), Shape()}, 0)), "[2]");
  EXPECT_EQ(text(stack({shape("0")}, 0)), "[1, 0]");
  EXPECT_EQ(text(stack({}, 0)), "has no operands, expected at least one");
  EXPECT_EQ(text(stack({shape("2"), shape("3")}, 0)),
            "sizes #0 differ: 2 and 3");
  EXPECT_EQ(text(stack({shape("2")}, 2)),
            "has 'dim' 2, expected one from -2 to 1");
}

TEST(ShapeRulesTest, Cutting) {
  auto cut = [](const char *sizes, int64_t axis, std::vector<int64_t> parts) {
    return text(split(shape(sizes), axis, parts));
  };
  EXPECT_EQ(cut("6 seq", 0, {2}), "[2, seq][2, seq][2, seq]");
  EXPECT_EQ(cut("2 6", -1, {1, 0, 5}), "[2, 1][2, 0][2, 5]");
  EXPECT_EQ(cut("0 2", 0, {3}), "");
  // Several sections determine the size; a single one does not.
  EXPECT_EQ(cut("seq 4", 0, {1, 2}), "[1, 4][2, 4]");
  EXPECT_EQ(
      cut("seq 4", 0, {2}),
      "cannot split seq slices into parts of 2, since the number of parts is "
      "not known, expected a static size");
  EXPECT_EQ(cut("5", 0, {2}), "cannot split 5 slices into parts of 2");
  EXPECT_EQ(cut("6", 0, {2, 3}),
            "the sections' sum is not the size of the dimension: 5 and 6");
  EXPECT_EQ(cut("6", 0, {7, -1}), "has a section of -1");
  EXPECT_EQ(cut("6", 0, {0}), "has a section of 0");
  EXPECT_EQ(cut("6", 0, {}), "has no sections, expected at least one");
  EXPECT_EQ(cut("6", 1, {6}), "has 'dim' 1, expected one from -1 to 0");
  EXPECT_EQ(cut("65537", 0, {1}), "has 65537 parts, expected at most 65536");

  EXPECT_EQ(text(repeat(shape("2 seq"), 1, 3)), "[2, 3 * seq]");
  EXPECT_EQ(text(repeat(shape("0 1"), -1, 5)), "[0, 5]");
  EXPECT_EQ(text(repeat(shape("2"), 0, 0)),
            "repeats 0 times, expected at least 1");
  EXPECT_EQ(text(repeat(shape("2"), 1, 1)),
            "has 'dim' 1, expected one from -1 to 0");
}

TEST(ShapeRulesTest, ReducingAndGathering) {
  EXPECT_EQ(text(reduce(shape("2 seq 4"), {1}, false)), "[2, 4]");
  EXPECT_EQ(text(reduce(shape("2 seq 4"), {-1, 0}, true)), "[1, seq, 1]");
  EXPECT_EQ(text(reduce(shape("2 seq"), {}, false)), "[]");
  EXPECT_EQ(text(reduce(shape("2 0"), {}, true)), "[1, 1]");
  EXPECT_EQ(text(reduce(Shape(), {}, true)), "[]");
  EXPECT_EQ(text(reduce(shape("2 3"), {1, -1}, false)),
            "names dimension 1 twice");
  EXPECT_EQ(text(reduce(shape("2"), {1}, false)),
            "has 'axis' 1, expected one from -1 to 0");

  EXPECT_EQ(text(gather(shape("32000 64"), shape("1 seq"), 0)), "[1, seq, 64]");
  EXPECT_EQ(text(gather(shape("2 3 4"), shape("0"), -2)), "[2, 0, 4]");
  EXPECT_EQ(text(gather(shape("2 3"), Shape(), 1)), "[2]");
  EXPECT_EQ(text(gather(Shape(), shape("2"), 0)),
            "has 'dim' 0, but a tensor of rank 0 has no dimensions");
}

TEST(ShapeRulesTest, Products) {
  auto times = [](const char *a, const char *b, bool transposeA = false,
                  bool transposeB = false) {
    return text(matmul(shape(a), shape(b), transposeA, transposeB));
  };
  EXPECT_EQ(times("2 3", "3 4"), "[2, 4]");
  EXPECT_EQ(times("3 2", "3 4", true), "[2, 4]");
  EXPECT_EQ(times("2 3", "4 3", false, true), "[2, 4]");
  EXPECT_EQ(times("3 2", "4 3", true, true), "[2, 4]");
  EXPECT_EQ(times("1 12 seq 128", "1 12 seq+past 128", false, true),
            "[1, 12, seq, past + seq]");
  EXPECT_EQ(times("5 1 2 3", "7 3 4"), "[5, 7, 2, 4]");
  // A sum over nothing is 0, so that nothing is wrong with it.
  EXPECT_EQ(times("2 0", "0 4"), "[2, 4]");
  EXPECT_EQ(times("0 3", "3 1"), "[0, 1]");
  EXPECT_EQ(times("2 ?", "3 4"), "[2, 4]");
  EXPECT_EQ(times("3", "3 4"),
            "multiplies [3] and [3, 4], expected tensors of rank 2 or more");
  EXPECT_EQ(times("2 3", "4 5"),
            "the columns of the left matrix are not the rows of the right one: "
            "3 and 4");
  EXPECT_EQ(times("2 2 3", "5 3 4"),
            "the shapes [2] and [5] do not broadcast: sizes 2 and 5");
}

TEST(ShapeRulesTest, Windows) {
  // One dimension: kernel, stride, padding below and above, dilation.
  auto over = [](const char *size, int64_t kernel, int64_t stride, int64_t low,
                 int64_t high, int64_t dilation) {
    return text(
        windowed(shape(size), {{kernel}, {stride}, {low}, {high}, {dilation}}));
  };
  EXPECT_EQ(over("8", 3, 1, 0, 0, 1), "[6]");
  EXPECT_EQ(over("8", 3, 1, 1, 1, 1), "[8]");
  EXPECT_EQ(over("9", 3, 2, 0, 0, 1), "[4]");
  EXPECT_EQ(over("9", 3, 1, 0, 0, 4), "[1]");
  EXPECT_EQ(over("1", 1, 1, 0, 0, 1), "[1]");
  EXPECT_EQ(over("0", 3, 1, 1, 2, 1), "[1]");
  EXPECT_EQ(over("samples", 3, 1, 2, 0, 1), "[samples]");
  EXPECT_EQ(over("2*frames", 2, 2, 0, 0, 1), "[frames]");
  EXPECT_EQ(over("frames", 2, 2, 0, 0, 1), "[?]");
  EXPECT_EQ(over("?", 2, 2, 0, 0, 1), "[?]");
  EXPECT_EQ(over("2", 3, 1, 0, 0, 1),
            "has a window of 3 in a padded size of 2");
  EXPECT_EQ(over("8", 5, 1, 0, 0, 2),
            "has a window of 9 in a padded size of 8");
  EXPECT_EQ(
      over("8", 0, 1, 0, 0, 1),
      "has kernel 0, stride 1 and dilation 1, expected at least 1 of each");
  EXPECT_EQ(
      over("8", 3, 0, 0, 0, 1),
      "has kernel 3, stride 0 and dilation 1, expected at least 1 of each");
  EXPECT_EQ(over("8", 3, 1, -1, 0, 1), "pads by -1 and 0, expected 0 or more");
  EXPECT_EQ(over("8", kMost, 1, 0, 0, kMost),
            "has a window of ? in a padded size of 8");
  EXPECT_EQ(text(windowed(shape("8 8"), {{3}, {1}, {0}, {0}, {1}})),
            "has 1 entries for 2 dimensions of its window");

  EXPECT_EQ(text(convolution(shape("batch 3 16 16"), 8,
                             {{4, 4}, {4, 4}, {0, 0}, {0, 0}, {1, 1}})),
            "[batch, 8, 4, 4]");
  EXPECT_EQ(text(convolution(shape("3 16 16"), 8,
                             {{4, 4}, {4, 4}, {0, 0}, {0, 0}, {1, 1}})),
            "has an input of rank 3, expected 4");
}

} // namespace
