//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements in bytes and back.
//
//===----------------------------------------------------------------------===//

#include "Arena.h"

#include "llmir/Dialect/MLLM/PlannedMemory.h"
#include "llmir/Support/SmallFloat.h"

#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace llmir;
using namespace llmir::interpreter;
using reference::ElementKind;
using reference::Number;
using reference::Tensor;

static int64_t bytesOf(ElementKind kind) {
  return llvm::divideCeil(reference::bitWidth(kind), 8);
}

/// The bits of the element, in little-endian order.
static uint64_t bitsOf(ElementKind kind, Number number) {
  const auto real = static_cast<float>(number.toDouble());
  switch (kind) {
  case ElementKind::F32:
    return floatToBits(real);
  case ElementKind::F16:
    return floatToF16(real);
  case ElementKind::BF16:
    return floatToBf16(real);
  default:
    return static_cast<uint64_t>(number.toInteger());
  }
}

static Number numberOf(ElementKind kind, uint64_t bits) {
  switch (kind) {
  case ElementKind::F32:
    return double(bitsToFloat(static_cast<uint32_t>(bits)));
  case ElementKind::F16:
    return double(f16ToFloat(static_cast<uint16_t>(bits)));
  case ElementKind::BF16:
    return double(bf16ToFloat(static_cast<uint16_t>(bits)));
  default: // Wraps around as the type does.
    return reference::roundTo(kind, Number(static_cast<int64_t>(bits)));
  }
}

int64_t Arena::holderOf(int64_t line) const {
  auto found = lines.find(line);
  return found == lines.end() ? 0 : found->second.value;
}

void Arena::write(Place &place, const Tensor &tensor) {
  const int64_t width = bytesOf(tensor.kind), size = tensor.size();
  const int64_t each = mllm::kLineBytes / width;
  place.end = place.begin + llvm::divideCeil(size, each);
  for (int64_t at = place.begin; at < place.end; ++at) {
    Line &line = lines[at];
    line.value = place.value;
    const int64_t first = (at - place.begin) * each;
    for (int64_t i = first; i < std::min(first + each, size); ++i) {
      const uint64_t bits = bitsOf(tensor.kind, tensor.number(i));
      std::memcpy(&line.bytes[size_t((i - first) * width)], &bits,
                  size_t(width));
    }
  }
  lastLine = std::max(lastLine, place.end - 1);
}

void Arena::read(const Place &place, Tensor &tensor) const {
  const int64_t width = bytesOf(tensor.kind);
  const int64_t each = mllm::kLineBytes / width;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    auto line = lines.find(place.begin + i / each);
    uint64_t bits = 0;
    if (line != lines.end())
      std::memcpy(&bits, &line->second.bytes[size_t(i % each * width)],
                  size_t(width));
    tensor[i] = numberOf(tensor.kind, bits);
  }
}

void Arena::release(const Place &place) {
  for (int64_t line = place.begin; line < place.end; ++line)
    if (auto found = lines.find(line); found != lines.end())
      found->second.value = 0;
}

int64_t Arena::bytes() const { return (lastLine + 1) * mllm::kLineBytes; }
