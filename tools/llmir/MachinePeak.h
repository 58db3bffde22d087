//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How many operations a second this machine's vector units do, measured: the
// limit of prefill. A product and its addition are two operations.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_MACHINEPEAK_H
#define LLMIR_TOOLS_LLMIR_MACHINEPEAK_H

#include <cstdint>
#include <string_view>

namespace llmir {
class WorkerTeam;
}

namespace llmir::cli {

/// What a unit multiplies; its sums are wider.
enum class DotUnit { Int8, BF16, F32 };
inline constexpr int numDotUnits = 3;

/// "int8", "bf16", "f32": as StepSite::inputs names them.
const char *dotUnitName(DotUnit unit);

struct UnitPeak {
  double opsPerSecond = 0;      ///< Of all workers together.
  const char *instruction = ""; ///< That was measured.
};

/// Lets every worker run a loop of nothing but the best instructions that code
/// of `level` (a name of CPULevels.def; the processor must have it) has for the
/// unit, for at least `seconds`. Bytes and bf16 without such instructions are
/// multiplied as f32.
UnitPeak measurePeak(WorkerTeam &team, DotUnit unit, std::string_view level,
                     double seconds);

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_MACHINEPEAK_H
