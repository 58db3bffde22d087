//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conversion of ArtifactInfo to and from JSON, and validation of its values.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_ARTIFACT_ARTIFACTINFOJSON_H
#define LLMIR_ARTIFACT_ARTIFACTINFOJSON_H

#include "llmir/Artifact/ArtifactInfo.h"
#include "llmir/Support/Status.h"

#include <string>
#include <string_view>

namespace llmir {

/// A JSON object with every field under its own name, indented by two spaces.
std::string artifactInfoToJSON(const ArtifactInfo &info);

/// Parses and validates. Every field must be present with its type; unknown
/// fields are ignored. Fails with InvalidFile, naming the field.
Expected<ArtifactInfo> artifactInfoFromJSON(std::string_view text);

/// Checks all ranges that the runtime relies on, including products; fails with
/// InvalidFile, naming the field, its value and the limits.
Status validateArtifactInfo(const ArtifactInfo &info);

} // namespace llmir

#endif // LLMIR_ARTIFACT_ARTIFACTINFOJSON_H
