//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The instructions of "Intel 64 and IA-32 Architectures Software Developer's
// Manual", volume 2, that begin with T, LDTILECFG, and their encoding (VEX).
//
//===----------------------------------------------------------------------===//

#include "TileEmulation.h"

#include "llmir/Artifact/CpuFeatures.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstring>

#if defined(__x86_64__) && defined(__linux__)
#include <ucontext.h>
#define LLMIR_EMULATES_TILES 1
#endif

namespace llmir::test {

static std::atomic<int64_t> byteDots{0}, bf16Dots{0}, configured{0};

TileCounts tileCounts() { return {byteDots, bf16Dots, configured}; }

#ifdef LLMIR_EMULATES_TILES

bool canEmulateTiles(std::string_view level) {
  const CpuFeatures &host = CpuFeatures::host();
  std::vector<std::string> features = cpuLevelFeatures(level);
  auto isTiles = [](const std::string &feature) {
    return feature.rfind("amx-", 0) == 0;
  };
  return !host.has("amx-tile") &&
         std::any_of(features.begin(), features.end(), isTiles) &&
         std::all_of(features.begin(), features.end(),
                     [&](const std::string &feature) {
                       return isTiles(feature) || host.has(feature);
                     });
}

namespace {

constexpr int kTiles = 8, kMaxRows = 16, kMaxBytes = 64;

struct Tile {
  int rows = 0, bytes = 0; ///< As configured.
  alignas(64) uint8_t data[kMaxRows][kMaxBytes];

  template <typename T> T at(int row, int i) const {
    T value;
    std::memcpy(&value, data[row] + i * sizeof(T), sizeof(T));
    return value;
  }
  template <typename T> void set(int row, int i, T value) {
    std::memcpy(data[row] + i * sizeof(T), &value, sizeof(T));
  }
};

struct TileState {
  bool isConfigured = false;
  Tile tiles[kTiles];

  bool configure(const uint8_t *memory);
  void release();
  /// Null if there is no usable one.
  Tile *find(int number) {
    if (!isConfigured || number >= kTiles || tiles[number].rows == 0)
      return nullptr;
    return &tiles[number];
  }
};

thread_local TileState state;

bool TileState::configure(const uint8_t *memory) {
  if (memory[0] == 0) {
    release();
    return true;
  }
  auto isZero = [&](int first, int end) {
    return std::all_of(memory + first, memory + end,
                       [](uint8_t byte) { return byte == 0; });
  };
  // Palette 1, which has 8 tiles.
  if (memory[0] != 1 || !isZero(2, 16) || !isZero(32, 48) || !isZero(56, 64))
    return false;
  for (int i = 0; i < kTiles; ++i) {
    uint16_t bytes;
    std::memcpy(&bytes, memory + 16 + 2 * i, 2);
    int rows = memory[48 + i];
    if (rows > kMaxRows || bytes > kMaxBytes || (rows == 0) != (bytes == 0))
      return false;
    tiles[i].rows = rows;
    tiles[i].bytes = bytes;
    std::memset(tiles[i].data, 0, sizeof tiles[i].data);
  }
  configured += isConfigured ? 0 : 1;
  isConfigured = true;
  return true;
}

void TileState::release() {
  configured -= isConfigured ? 1 : 0;
  isConfigured = false;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Denormals are zero, independent of MXCSR.
float flush(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value)
                                                : value;
}

float bf16At(const Tile &tile, int row, int i) {
  uint32_t bits = static_cast<uint32_t>(tile.at<uint16_t>(row, i)) << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return flush(value);
}

/// TDPBF16PS: even and odd values of K have a chain each, from zero, whose sum
/// is added to the tile.
void dotBf16(Tile &sum, const Tile &a, const Tile &b) {
  for (int m = 0; m < sum.rows; ++m)
    for (int n = 0; n < sum.bytes / 4; ++n) {
      float chains[2] = {0.0f, 0.0f};
      for (int k = 0; k < a.bytes / 4; ++k)
        for (int i = 0; i < 2; ++i)
          chains[i] = flush(std::fma(bf16At(a, m, 2 * k + i),
                                     bf16At(b, k, 2 * n + i), chains[i]));
      float both = flush(chains[0] + chains[1]);
      sum.set(m, n, flush(flush(sum.at<float>(m, n)) + both));
    }
  ++bf16Dots;
}

/// TDPB[SU][SU]D: the first letter is the signedness of `a`.
template <typename A, typename B>
void dotBytes(Tile &sum, const Tile &a, const Tile &b) {
  for (int m = 0; m < sum.rows; ++m)
    for (int n = 0; n < sum.bytes / 4; ++n) {
      auto total = sum.at<uint32_t>(m, n);
      for (int k = 0; k < a.bytes / 4; ++k)
        for (int i = 0; i < 4; ++i)
          total += static_cast<uint32_t>(a.at<A>(m, 4 * k + i) *
                                         b.at<B>(k, 4 * n + i));
      sum.set(m, n, total);
    }
  ++byteDots;
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// One instruction with a VEX prefix of three bytes, of the map 0F38.
class Instruction {
public:
  explicit Instruction(ucontext_t *context)
      : registers(context->uc_mcontext.gregs),
        at(reinterpret_cast<const uint8_t *>(registers[REG_RIP])) {}

  /// False if the instruction is not emulated.
  bool run();

private:
  enum Prefix { None, Has66, HasF3, HasF2 };

  bool configuration();
  bool move();
  template <typename Dot> bool dot(Dot body);
  bool byteProducts();

  int64_t registerOf(int number) const;
  /// Reads the operand in memory: its address without the index, and the index,
  /// scaled.
  void readMemory(int64_t &address, int64_t &index);

  greg_t *registers;
  const uint8_t *at; ///< What is read next.
  bool extendsReg = false, extendsIndex = false, extendsBase = false;
  int prefix = 0, opcode = 0, third = 0;
  int mod = 0, reg = 0, rm = 0;
};

} // namespace

int64_t Instruction::registerOf(int number) const {
  static const int places[] = {
      REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
      REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  return registers[places[number]];
}

void Instruction::readMemory(int64_t &address, int64_t &index) {
  auto displacement = [&](int bytes) -> int64_t {
    int32_t value = 0;
    if (bytes == 1)
      value = static_cast<int8_t>(*at);
    else
      std::memcpy(&value, at, 4);
    at += bytes;
    return value;
  };
  address = index = 0;
  int base = rm;
  if (rm == 4) {
    uint8_t sib = *at++;
    int number = ((sib >> 3) & 7) | (extendsIndex ? 8 : 0);
    if (number != 4) // None.
      index = registerOf(number) << (sib >> 6);
    base = sib & 7;
  }
  if (mod == 0 && base == 5) {
    address = displacement(4);
    if (rm == 5) // From the next instruction on.
      address += reinterpret_cast<int64_t>(at);
    return;
  }
  address = registerOf(base | (extendsBase ? 8 : 0));
  if (mod > 0)
    address += displacement(mod == 1 ? 1 : 4);
}

bool Instruction::run() {
  if (*at++ != 0xc4)
    return false;
  uint8_t second = *at++, last = *at++;
  extendsReg = !(second & 0x80);
  extendsIndex = !(second & 0x40);
  extendsBase = !(second & 0x20);
  third = ~(last >> 3) & 15;
  prefix = last & 3;
  bool isWideOr256 = last & 0x84;
  if ((second & 31) != 2 || isWideOr256)
    return false;
  opcode = *at++;
  uint8_t modrm = *at++;
  mod = modrm >> 6;
  reg = ((modrm >> 3) & 7) | (extendsReg ? 8 : 0);
  rm = modrm & 7;
  bool isDone = false;
  if (opcode == 0x49)
    isDone = configuration();
  else if (opcode == 0x4b && mod != 3 && rm == 4)
    isDone = move();
  else if (opcode == 0x5c && mod == 3 && prefix == HasF3)
    isDone = dot(dotBf16);
  else if (opcode == 0x5e && mod == 3)
    isDone = byteProducts();
  if (isDone)
    registers[REG_RIP] = reinterpret_cast<greg_t>(at);
  return isDone;
}

bool Instruction::configuration() {
  if (mod == 3 && prefix == HasF2) { // TILEZERO
    Tile *tile = state.find(reg);
    if (tile)
      std::memset(tile->data, 0, sizeof tile->data);
    return tile;
  }
  if (mod == 3 && prefix == None && reg == 0 && rm == 0) { // TILERELEASE
    state.release();
    return true;
  }
  if (mod == 3 || prefix != None || reg != 0)
    return false;
  int64_t address, index; // LDTILECFG
  readMemory(address, index);
  return state.configure(reinterpret_cast<const uint8_t *>(address + index));
}

bool Instruction::move() {
  int64_t address, stride;
  readMemory(address, stride);
  Tile *tile = state.find(reg);
  if (!tile || (prefix != HasF2 && prefix != HasF3))
    return false;
  if (prefix == HasF2) // TILELOADD; else TILESTORED
    std::memset(tile->data, 0, sizeof tile->data);
  for (int row = 0; row < tile->rows; ++row) {
    auto *memory = reinterpret_cast<uint8_t *>(address + row * stride);
    if (prefix == HasF2)
      std::memcpy(tile->data[row], memory, tile->bytes);
    else
      std::memcpy(memory, tile->data[row], tile->bytes);
  }
  return true;
}

template <typename Dot> bool Instruction::dot(Dot body) {
  Tile *sum = state.find(reg), *a = state.find(rm | (extendsBase ? 8 : 0)),
       *b = state.find(third);
  bool fits = sum && a && b && sum != a && sum != b && a != b &&
              sum->rows == a->rows && sum->bytes == b->bytes &&
              a->bytes == 4 * b->rows && sum->bytes % 4 == 0;
  if (fits)
    body(*sum, *a, *b);
  return fits;
}

bool Instruction::byteProducts() {
  switch (prefix) {
  case HasF2:
    return dot(dotBytes<int8_t, int8_t>);
  case HasF3:
    return dot(dotBytes<int8_t, uint8_t>);
  case Has66:
    return dot(dotBytes<uint8_t, int8_t>);
  default:
    return dot(dotBytes<uint8_t, uint8_t>);
  }
}

static void onIllegalInstruction(int, siginfo_t *, void *context) {
  // They follow each other, and a signal takes longer than any of them.
  int done = 0;
  while (Instruction(static_cast<ucontext_t *>(context)).run())
    ++done;
  if (done == 0)
    std::signal(SIGILL, SIG_DFL); // It is illegal again.
}

void startTileEmulation() {
  struct sigaction action = {};
  action.sa_sigaction = onIllegalInstruction;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGILL, &action, nullptr);
}

#else

bool canEmulateTiles(std::string_view) { return false; }
void startTileEmulation() {}

#endif

} // namespace llmir::test
