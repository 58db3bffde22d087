//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measures the peak rate of this machine's vector units: the limit of prefill.
// A multiplication and its addition are two operations.
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

/// The type that a unit multiplies; its accumulators are wider.
enum class DotUnit { Int8, BF16, F32 };
inline constexpr int numDotUnits = 3;

/// "int8", "bf16", "f32": as StepSite::inputs names them.
const char *dotUnitName(DotUnit unit);

struct UnitPeak {
  double opsPerSecond = 0;      ///< Of all workers together.
  const char *instruction = ""; ///< The instruction measured.
};

/// Runs on every worker a loop of only the best instructions for the unit that
/// code of `level` (a name of CPULevels.def, supported by the processor) may
/// use, for at least `seconds`. Without such instructions, bytes and bf16 are
/// multiplied as f32.
UnitPeak measurePeak(WorkerTeam &team, DotUnit unit, std::string_view level,
                     double seconds);

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_MACHINEPEAK_H
