//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ArtifactInfo as JSON, and what its values may be: the one place that knows.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_ARTIFACT_ARTIFACTINFOJSON_H
#define LLMIR_ARTIFACT_ARTIFACTINFOJSON_H

#include "llmir/Artifact/ArtifactInfo.h"
#include "llmir/Support/Status.h"

#include <string>
#include <string_view>

namespace llmir {

/// One JSON object with every field under its own name, indented by two.
std::string artifactInfoToJSON(const ArtifactInfo &info);

/// Parses and validates. Every field must be there with its type; unknown
/// fields are ignored. Fails with InvalidFile naming the field.
Expected<ArtifactInfo> artifactInfoFromJSON(std::string_view text);

/// Checks every range that the runtime relies on, products included; fails with
/// InvalidFile naming the field, its value and the limits.
Status validateArtifactInfo(const ArtifactInfo &info);

} // namespace llmir

#endif // LLMIR_ARTIFACT_ARTIFACTINFOJSON_H
