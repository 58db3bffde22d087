//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A view of contiguous elements (std::span requires C++20).
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_SPAN_H
#define LLMIR_SUPPORT_SPAN_H

#include <cassert>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace llmir {

/// A non-owning pointer and length; `Span<const T>` is read-only.
template <typename T> class Span {
public:
  Span() = default;
  Span(T *data, size_t size) : first(data), count(size) {}
  Span(std::vector<std::remove_const_t<T>> &v) : Span(v.data(), v.size()) {}
  template <typename U = T, typename = std::enable_if_t<std::is_const_v<U>>>
  Span(const std::vector<std::remove_const_t<T>> &v)
      : Span(v.data(), v.size()) {}
  template <typename U = T, typename = std::enable_if_t<std::is_const_v<U>>>
  Span(Span<std::remove_const_t<U>> other) : Span(other.data(), other.size()) {}

  T *data() const { return first; }
  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  T *begin() const { return first; }
  T *end() const { return first + count; }
  T &operator[](size_t i) const {
    assert(i < count && "index out of the span");
    return first[i];
  }
  Span subspan(size_t offset, size_t length) const {
    assert(offset <= count && length <= count - offset && "range out of span");
    return Span(first + offset, length);
  }

private:
  T *first = nullptr;
  size_t count = 0;
};

} // namespace llmir

#endif // LLMIR_SUPPORT_SPAN_H
