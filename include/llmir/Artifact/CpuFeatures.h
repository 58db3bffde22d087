//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The features of the processor, and whether they suffice for an artifact.
// Feature and level names are LLVM's ("avx2", "x86-64-v3"); a feature counts
// only if the operating system also saves its registers (XCR0).
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_ARTIFACT_CPUFEATURES_H
#define LLMIR_ARTIFACT_CPUFEATURES_H

#include "llmir/Artifact/ArtifactInfo.h"
#include "llmir/Support/Status.h"

#include <string>
#include <string_view>
#include <vector>

namespace llmir {

class CpuFeatures {
public:
  /// The processor of this machine, detected once.
  static const CpuFeatures &host();

  /// A processor with exactly these features, for tests.
  CpuFeatures(std::string architecture, std::vector<std::string> features);

  /// "x86_64" or "aarch64"; empty if unknown.
  const std::string &architecture() const { return arch; }
  /// Sorted names.
  const std::vector<std::string> &features() const { return names; }
  bool has(std::string_view feature) const;
  bool hasAll(const std::vector<std::string> &features) const;

  /// The highest level of CPULevels.def whose features are all present; the
  /// architecture if there is none.
  std::string level() const;

private:
  std::string arch;
  std::vector<std::string> names;
};

/// The features of a level, including those of lower levels; empty for an
/// unknown name and for a level without requirements.
std::vector<std::string> cpuLevelFeatures(std::string_view level);

/// True if `level` is `lower` or extends it, directly or indirectly.
bool cpuLevelIncludes(std::string_view level, std::string_view lower);

/// True for the names that cpuLevelFeatures supports.
bool isKnownCpuLevel(std::string_view level);

/// Succeeds if code can be generated for that level and `cpu` can run it. Fails
/// with InvalidArgument or IncompatibleTarget.
Status checkCpuLevel(std::string_view level,
                     const CpuFeatures &cpu = CpuFeatures::host());

/// The entry of `info.code` to run: the one named `level` if that is not empty,
/// otherwise the highest level that `cpu` supports. Fails with
/// IncompatibleTarget (naming what the artifact has and what the processor
/// lacks) or InvalidArgument (no code of that level).
Expected<size_t> chooseCode(const ArtifactInfo &info,
                            std::string_view level = {},
                            const CpuFeatures &cpu = CpuFeatures::host());

/// Requests register state that a process must request from the system (AMX);
/// must be called before running code of `target`. Fails with
/// IncompatibleTarget.
Status enableCpuState(const CodeTarget &target);

} // namespace llmir

#endif // LLMIR_ARTIFACT_CPUFEATURES_H
