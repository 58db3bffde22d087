//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// AMX on a processor without it: tile instructions are illegal there, so a
// SIGILL handler executes them according to Intel's manual and continues after
// it. All other instructions run as they are. So code for AMX is tested to the
// bit, as it was generated, though not its speed.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_EMULATION_TILEEMULATION_H
#define LLMIR_TEST_EMULATION_TILEEMULATION_H

#include <cstdint>
#include <string_view>

namespace llmir::test {

/// True where this processor has all that the level of that name needs but AMX.
bool canEmulateTiles(std::string_view level);

/// From now on, instructions of tiles are emulated in every thread. One that
/// the manual forbids (a shape that does not fit, tiles that are not
/// configured) remains illegal and terminates the process.
void startTileEmulation();

/// What was emulated so far.
struct TileCounts {
  int64_t byteDots, bf16Dots;
  int64_t configured; ///< Threads that have configured tiles now.
};
TileCounts tileCounts();

} // namespace llmir::test

#endif // LLMIR_TEST_EMULATION_TILEEMULATION_H
