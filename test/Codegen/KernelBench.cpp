//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measures one matmul kernel on one thread, compared with the limits of the
// machine:
//
//   llmir-kernel-bench FORMAT ROWS COLUMNS TOKENS… [--level NAME]
//                      [--activations N] [--add] [--quantize] [--asm FILE]
//
// FORMAT is a name of IntegerFormat ("int4:g32:f16"), or that of a block format
// ("q4_k"). A small matrix stays in the caches; a large one is read from
// memory. --activations is the group size of int8 activations (default 32; 0:
// one group per row; -1: f32). --add adds another row to each row of results,
// as a residual. --quantize measures quantize_rows instead. --asm writes the
// measured image.
//
//===----------------------------------------------------------------------===//

#include "../../tools/llmir/MachinePeak.h"
#include "../../tools/llmir/MemoryBandwidth.h"
#include "KernelHarness.h"

#include "llmir/Artifact/CpuFeatures.h"
#include "llmir/Runtime/WorkerTeam.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

using namespace llmir;
using namespace llmir::test;

namespace {

struct Options {
  IntegerMatrixLayout layout = {{}, 0, 0};
  std::vector<int64_t> tokens;
  int64_t activations = 32;
  bool add = false, quantize = false;
  std::string level = {}, assembly = {};
};

bool parse(int argc, char **argv, Options &options) {
  std::vector<std::string> words(argv + 1, argv + argc), plain;
  for (size_t i = 0; i < words.size(); ++i) {
    bool hasValue = i + 1 < words.size();
    if (words[i] == "--quantize")
      options.quantize = true;
    else if (words[i] == "--add")
      options.add = true;
    else if (words[i] == "--level" && hasValue)
      options.level = words[++i];
    else if (words[i] == "--asm" && hasValue)
      options.assembly = words[++i];
    else if (words[i] == "--activations" && hasValue)
      options.activations = std::stoll(words[++i]);
    else
      plain.push_back(words[i]);
  }
  if (plain.size() < 4)
    return false;
  auto format = IntegerFormat::fromName(plain[0]);
  if (auto blocks = tensorFormatFromName(plain[0]))
    format = IntegerFormat::ofBlocks(*blocks);
  if (!format)
    return false;
  options.layout = {*format, std::stoll(plain[1]), std::stoll(plain[2])};
  for (size_t i = 3; i < plain.size(); ++i)
    options.tokens.push_back(std::stoll(plain[i]));
  return true;
}

/// Arbitrary integers, which are also small f16 and bf16 values.
std::vector<uint8_t> someWeights(const IntegerMatrixLayout &layout) {
  Random random(1);
  std::vector<uint8_t> bytes(layout.bytes());
  for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    uint32_t word = random.bits() & 0x2fff2fff;
    std::memcpy(&bytes[i], &word, 4);
  }
  return bytes;
}

/// The best mean time of a step in seconds, over about half a second of short
/// rounds: other processes disturb only some of them.
double secondsPerStep(LoadedProgram &program, int64_t tokens) {
  using Clock = std::chrono::steady_clock;
  StepInputs inputs;
  inputs.numTokens = tokens;
  auto timed = [&](int64_t steps) {
    Clock::time_point start = Clock::now();
    for (int64_t i = 0; i < steps; ++i)
      program.run(inputs, 1);
    std::chrono::duration<double> passed = Clock::now() - start;
    return passed.count() / static_cast<double>(steps);
  };
  double best = timed(1);
  int64_t steps =
      std::clamp<int64_t>(static_cast<int64_t>(0.005 / best), 1, 1 << 20);
  for (int round = 0; round < 100; ++round)
    best = std::min(best, timed(steps));
  return best;
}

struct Limits {
  double bytesPerSecond = 0, opsPerSecond = 0;
};

Limits measureLimits(const std::string &level) {
  auto team = WorkerTeam::create(1);
  if (!team)
    return {};
  Limits limits;
  auto reader = cli::MemoryReader::create(**team, int64_t(256) << 20);
  if (reader)
    limits.bytesPerSecond = (*reader)->measure(0.1).bytesPerSecond;
  limits.opsPerSecond =
      cli::measurePeak(**team, cli::DotUnit::Int8, level, 0.2).opsPerSecond;
  return limits;
}

/// A program with the kernel that the options select.
struct BenchProgram {
  const Options &options;
  const IntegerMatrixLayout &layout = options.layout;
  int64_t columns = layout.columns;
  int64_t tokens =
      *std::max_element(options.tokens.begin(), options.tokens.end());
  int64_t group = options.activations == 0 ? columns : options.activations;
  int64_t segment =
      group < 0 ? 0 : commonSegment(columns, layout.format.group, group);
  QuantizedRowLayout row =
      QuantizedRowLayout::forWeights(layout, std::max<int64_t>(segment, 1));
  KernelProgram program = {};
  unsigned x = program.addBuffer(tokens, columns);
  unsigned bytes = segment ? program.addBuffer(tokens, row.words()) : x;
  unsigned y = program.addBuffer(tokens, layout.rows);

  void build();
  /// Random inputs; for quantized rows arbitrary bytes and small scales.
  void fill(LoadedProgram &loaded) const;
};

void BenchProgram::build() {
  if (options.quantize) {
    program.call<kernel::QuantizeRowsOp>(program[x], program[bytes], columns,
                                         group, row.segment, row.padded);
    return program.finish();
  }
  std::string weights = program.addPacked(layout, someWeights(layout));
  auto addOperands = [](mlir::OpBuilder &b, mlir::Location loc,
                        mlir::ValueRange x) -> mlir::Value {
    return mlir::arith::AddFOp::create(b, loc, x[0], x[1]);
  };
  std::vector<unsigned> inputs;
  if (options.add)
    inputs.push_back(program.addBuffer(tokens, layout.rows));
  std::string format = layout.format.name();
  auto linear = program.call<kernel::LinearOp>(
      program.weight(weights), /*bias=*/mlir::Value(), program[bytes],
      program[inputs], program[y], llvm::StringRef(format), layout.rows,
      columns, program.sizeOrNone(segment));
  if (options.add)
    KernelProgram::setBody(linear.getBody(), 2, addOperands);
  program.finish();
}

void BenchProgram::fill(LoadedProgram &loaded) const {
  Random random(2);
  loaded.setRows(x, random.values(tokens * columns));
  if (!segment || options.quantize)
    return;
  std::vector<float> words(tokens * row.words(), 0.01f);
  for (int64_t t = 0; t < tokens; ++t)
    for (int64_t i = 0; i < row.scalesAt(); ++i) {
      uint32_t word = random.bits() & 0x3f3f3f3f;
      std::memcpy(&words[t * row.words() + i], &word, 4);
    }
  loaded.setRows(bytes, words);
}

void printTime(const Options &options, const Limits &limits, int64_t tokens,
               double seconds) {
  const IntegerMatrixLayout &layout = options.layout;
  auto values = static_cast<double>(tokens * layout.columns);
  std::printf("%4lld tokens %9.1f us", static_cast<long long>(tokens),
              seconds * 1e6);
  if (options.quantize) {
    std::printf(" %6.2f ns per 16 values\n", seconds * 1e9 / values * 16);
    return;
  }
  double rate = static_cast<double>(layout.bytes()) / seconds;
  double ops = 2.0 * static_cast<double>(layout.rows) * values / seconds;
  std::printf(" %6.1f GB/s %5.1f %% %6.3f Tops %5.1f %%\n", rate * 1e-9,
              100 * rate / limits.bytesPerSecond, ops * 1e-12,
              100 * ops / limits.opsPerSecond);
}

bool writeImage(const KernelProgram &program, const CPULevel &level,
                const std::string &path) {
  auto image = program.compile(level);
  std::FILE *file = image ? std::fopen(path.c_str(), "wb") : nullptr;
  if (!file)
    return false;
  bool isWritten =
      std::fwrite(image->data(), 1, image->size(), file) == image->size();
  return std::fclose(file) == 0 && isWritten;
}

int fail(const std::string &message) {
  std::fprintf(stderr, "llmir-kernel-bench: %s\n", message.c_str());
  return 1;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  if (!parse(argc, argv, options))
    return fail("expected FORMAT ROWS COLUMNS TOKENS…; see the top of "
                "KernelBench.cpp");
  if (options.level.empty())
    options.level = CpuFeatures::host().level();
  const CPULevel *level = findCPULevel(options.level);
  if (!level)
    return fail("unknown level \"" + options.level + "\"");
  BenchProgram bench{options};
  bench.build();
  if (!options.assembly.empty() &&
      !writeImage(bench.program, *level, options.assembly))
    return fail("cannot write the image to " + options.assembly);
  auto start = std::chrono::steady_clock::now();
  auto loaded = bench.program.load(*level);
  if (!loaded)
    return fail(loaded.takeStatus().message());
  std::chrono::duration<double> compiled =
      std::chrono::steady_clock::now() - start;
  bench.fill(*loaded);
  Limits limits = measureLimits(options.level);
  std::printf("%s %lld x %lld at %s, compiled in %.2f s; limits %.1f GB/s, "
              "%.2f Tops\n",
              options.layout.format.name().c_str(),
              static_cast<long long>(options.layout.rows),
              static_cast<long long>(options.layout.columns),
              options.level.c_str(), compiled.count(),
              limits.bytesPerSecond * 1e-9, limits.opsPerSecond * 1e-12);
  for (int64_t tokens : options.tokens)
    printTime(options, limits, tokens, secondsPerStep(*loaded, tokens));
  return 0;
}
