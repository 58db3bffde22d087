//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the processor can do, and whether that is enough for an artifact.
// Feature and level names are LLVM's ("avx2", "x86-64-v3"); a feature counts
// only where the operating system saves its registers as well (XCR0).
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
  /// The processor that this process runs on, detected once.
  static const CpuFeatures &host();

  /// A processor with exactly these features, for tests.
  CpuFeatures(std::string architecture, std::vector<std::string> features);

  /// "x86_64" or "aarch64"; empty where LLMIR knows no feature of it.
  const std::string &architecture() const { return arch; }
  /// Sorted names.
  const std::vector<std::string> &features() const { return names; }
  bool has(std::string_view feature) const;
  bool hasAll(const std::vector<std::string> &features) const;

  /// The highest level of CPULevels.def whose features are all there;
  /// the architecture where there is none.
  std::string level() const;

private:
  std::string arch;
  std::vector<std::string> names;
};

/// The features of a level, lower levels included; empty for an unknown name
/// and for a level without a requirement.
std::vector<std::string> cpuLevelFeatures(std::string_view level);

/// True where `level` is `lower` or extends it, directly or through others.
bool cpuLevelIncludes(std::string_view level, std::string_view lower);

/// True for the names that cpuLevelFeatures knows.
bool isKnownCpuLevel(std::string_view level);

/// Ok where code is generated for the level of that name and `cpu` runs it.
/// Fails with InvalidArgument or IncompatibleTarget.
Status checkCpuLevel(std::string_view level,
                     const CpuFeatures &cpu = CpuFeatures::host());

/// Which entry of `info.code` to run: the highest level of those that `cpu` has
/// all features for, or the one named `level` where that is not empty. Fails
/// with IncompatibleTarget (what the artifact has and what the processor lacks)
/// or InvalidArgument (it has no code of that level).
Expected<size_t> chooseCode(const ArtifactInfo &info,
                            std::string_view level = {},
                            const CpuFeatures &cpu = CpuFeatures::host());

/// Asks the system for register state that a process must ask for (AMX); call
/// it before code of `target` runs. Fails with IncompatibleTarget.
Status enableCpuState(const CodeTarget &target);

} // namespace llmir

#endif // LLMIR_ARTIFACT_CPUFEATURES_H
