//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an image of the step function was generated for, recorded in the image
// itself: an ELF note with the numbers of the info that the code has as
// constants. The loader compares them with the info beside the code, because
// code that finds other sizes than its own reads and writes out of bounds.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_ARTIFACT_CODENOTE_H
#define LLMIR_ARTIFACT_CODENOTE_H

#include "llmir/Artifact/ArtifactInfo.h"
#include "llmir/Support/Span.h"
#include "llmir/Support/Status.h"

#include <cstdint>
#include <vector>

namespace llmir {

/// The note for the image of entry `target` of `info.code`, as the bytes of an
/// ELF note section, whose alignment is 4. The code reads the first
/// `weightBytes` bytes of the weights.
std::vector<uint8_t> makeCodeNote(const ArtifactInfo &info, size_t target,
                                  int64_t weightBytes);

/// The numbers of the first such note among the ELF notes in `notes`; empty
/// where there is none, or where they are damaged.
std::vector<int64_t> readCodeNote(Span<const uint8_t> notes);

/// Whether the numbers of an image's note are those of `info`, and there are as
/// many bytes of weights as the code reads. InvalidFile, naming the field and
/// both numbers, where they are not.
Status checkCodeNote(const std::vector<int64_t> &note, const ArtifactInfo &info,
                     size_t target, int64_t weightBytes);

} // namespace llmir

#endif // LLMIR_ARTIFACT_CODENOTE_H
