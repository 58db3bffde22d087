//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The result of checking a code image, used by the loader.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_ARTIFACT_CODEIMAGEPLAN_H
#define LLMIR_LIB_ARTIFACT_CODEIMAGEPLAN_H

#include "llmir/Support/Span.h"
#include "llmir/Support/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llmir {

/// One PT_LOAD segment; all fields are in bytes.
struct CodeSegment {
  uint64_t address; ///< In the image; offset ≡ address modulo the page size.
  uint64_t offset;  ///< From the image's first byte in the file.
  uint64_t fileBytes;
  uint64_t memoryBytes; ///< Bytes beyond fileBytes are zero.
  bool executable;
};

struct CodeImagePlan {
  std::vector<CodeSegment> segments; ///< Ascending, without shared pages.
  uint64_t firstAddress = 0;         ///< Of the first segment, page aligned.
  uint64_t endAddress = 0;           ///< Page aligned.
  uint64_t alignment = 0;            ///< Maximum of the segments'.
  uint64_t entry = 0;
  std::vector<int64_t> note; ///< As readCodeNote() gives it.
};

/// Checks an image and plans its mapping with pages of `pageBytes`.
Expected<CodeImagePlan> planCodeImage(Span<const uint8_t> image,
                                      const std::string &name,
                                      uint64_t pageBytes);

} // namespace llmir

#endif // LLMIR_LIB_ARTIFACT_CODEIMAGEPLAN_H
