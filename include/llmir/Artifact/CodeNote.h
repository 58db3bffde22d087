//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Records in an image of the step function what it was generated for: an ELF
// note with the values of the artifact's info that the code has as constants.
// The loader compares them with the info, because code that runs with other
// sizes would access memory out of bounds.
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

/// The note for the image of entry `target` of `info.code`, as the contents of
/// an ELF note section of alignment 4. The code reads the first `weightBytes`
/// bytes of the weights.
std::vector<uint8_t> makeCodeNote(const ArtifactInfo &info, size_t target,
                                  int64_t weightBytes);

/// The values of the first such note in `notes`; empty if there is none or it
/// is malformed.
std::vector<int64_t> readCodeNote(Span<const uint8_t> notes);

/// Checks that the values of an image's note match `info` and that there are as
/// many bytes of weights as the code reads. InvalidFile, naming the field and
/// both values, otherwise.
Status checkCodeNote(const std::vector<int64_t> &note, const ArtifactInfo &info,
                     size_t target, int64_t weightBytes);

} // namespace llmir

#endif // LLMIR_ARTIFACT_CODENOTE_H
