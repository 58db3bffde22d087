// RUN: llmir-codegen-tests --gtest_filter='StateKernels*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels of layers that keep a state: the results of several steps equal those
// of whole sequences, and do not depend on the division into steps and workers.
//
//===----------------------------------------------------------------------===//

#include "KernelTest.h"

#include "llmir/ABI/StateRecord.h"
#include "llmir/Reference/Recurrence.h"

#include <algorithm>
#include <numeric>

using namespace llmir;
using namespace llmir::test;
using reference::ElementKind;
using reference::Tensor;

namespace {

constexpr int64_t kSequences = 3, kSlots = 5, kLayers = 2, kBudget = 16;
/// The slots and the tokens of the sequences.
constexpr int32_t kSlotOf[kSequences] = {3, 0, 4};
constexpr int64_t kTokens[kSequences] = {9, 4, 1};
/// The tokens of each sequence in each step.
using Steps = std::vector<std::array<int64_t, kSequences>>;
const Steps kInPieces = {{4, 1, 0}, {1, 3, 1}, {4, 0, 0}};
const Steps kAtOnce = {{9, 4, 1}};

/// The rows of one operand, of all tokens of each sequence.
using Rows = std::array<std::vector<float>, kSequences>;

Tensor tensorOf(const std::vector<float> &values, reference::Shape shape) {
  shape[0] =
      static_cast<int64_t>(values.size()) /
      reference::numElements(reference::Shape(shape.begin() + 1, shape.end()));
  return Tensor(ElementKind::F32, shape,
                std::vector<double>(values.begin(), values.end()));
}

class StateKernels : public KernelTest {
protected:
  Rows randomRows(int64_t columns, float low, float high) {
    Rows rows;
    for (int64_t s = 0; s < kSequences; ++s)
      rows[s] = random.values(kTokens[s] * columns, low, high);
    return rows;
  }

  /// The results of the sequences, computed in these steps in layer 1, with a
  /// state of zeros in the first one.
  Rows results(const Steps &steps, int64_t workers) {
    std::vector<float> states(kLayers * kSlots * record, 7.0f);
    for (int32_t slot : kSlotOf)
      std::fill_n(states.begin() + (kSlots + slot) * record, record, 0.0f);
    const std::vector<float> before = states;
    Rows result;
    std::array<int64_t, kSequences> done = {};
    for (const auto &counts : steps)
      runStep(counts, done, states, workers, result);
    for (int64_t slot = 0; slot < kLayers * kSlots; ++slot)
      if (slot < kSlots || std::find(std::begin(kSlotOf), std::end(kSlotOf),
                                     slot - kSlots) == std::end(kSlotOf))
        EXPECT_TRUE(std::equal(states.begin() + slot * record,
                               states.begin() + (slot + 1) * record,
                               before.begin() + slot * record))
            << "the state of slot " << slot << " has changed";
    return result;
  }

  void expectClose(const Rows &actual, int64_t sequence,
                   const Tensor &expected) {
    EXPECT_LE(normalizedError(actual[sequence], expected.toDoubles()), 1e-12)
        << "sequence " << sequence;
  }

  void expectIndependent() {
    const Rows once = results(kAtOnce, 1);
    for (int64_t workers : {1, 3}) {
      const Rows inPieces = results(kInPieces, workers);
      for (int64_t s = 0; s < kSequences; ++s)
        EXPECT_TRUE(sameBits(once[s], inPieces[s]))
            << "sequence " << s << ", " << workers << " workers";
    }
  }

  void expectCausalConv(int64_t taps) {
    const int64_t channels = 40, offset = 16;
    record = offset + std::max<int64_t>(tailFloats(taps, channels), 16);
    unsigned x = program.addBuffer(kBudget, channels);
    unsigned weight = program.addBuffer(taps, channels);
    out = program.addBuffer(kBudget, channels);
    program.setLayer(1);
    program.call<kernel::CausalConvOp>(program[x], program[weight],
                                       program[out], channels, taps, offset);
    ASSERT_NO_FATAL_FAILURE(load());
    const std::vector<float> factors = random.values(taps * channels);
    operands = {{x, randomRows(channels, -1, 1)}};
    constants = {{weight, factors}};
    const Rows actual = results(kAtOnce, 2);
    for (int64_t s = 0; s < kSequences; ++s) {
      Tensor tail(ElementKind::F32, {taps - 1, channels});
      expectClose(actual, s,
                  causalConv(tensorOf(operands[0].second[s], {0, channels}),
                             tensorOf(factors, {0, channels}), tail));
    }
    expectIndependent();
  }

  struct Recurrence {
    int64_t heads, keyHeads, keyDim, valueDim;
    bool delta, interleaved;
  };

  void expectLinearAttention(const Recurrence &c) {
    const int64_t offset = 32;
    record = offset + matrixFloats(c.heads, c.keyDim, c.valueDim);
    const int64_t keys = c.keyHeads * c.keyDim, values = c.heads * c.valueDim;
    unsigned q = program.addBuffer(kBudget, keys);
    unsigned k = program.addBuffer(kBudget, keys);
    unsigned v = program.addBuffer(kBudget, values);
    unsigned decay = program.addBuffer(kBudget, c.heads);
    unsigned beta = program.addBuffer(kBudget, c.heads);
    out = program.addBuffer(kBudget, values);
    program.setLayer(1);
    program.call<kernel::LinearAttentionOp>(
        program[q], program[k], program[v], program[decay],
        c.delta ? program[beta] : mlir::Value(), program[out], c.heads,
        c.keyHeads, c.keyDim, c.valueDim, c.interleaved, offset);
    ASSERT_NO_FATAL_FAILURE(load());
    operands = {{q, randomRows(keys, -0.3f, 0.3f)},
                {k, randomRows(keys, -0.3f, 0.3f)},
                {v, randomRows(values, -1, 1)},
                {decay, randomRows(c.heads, 0.5f, 1)},
                {beta, randomRows(c.heads, 0, 1)}};
    const Rows actual = results(kAtOnce, 2);
    for (int64_t s = 0; s < kSequences; ++s) {
      auto given = [&](int operand, reference::Shape shape) {
        return tensorOf(operands[operand].second[s], shape);
      };
      const Tensor queries = given(0, {0, c.keyHeads, c.keyDim});
      const Tensor ofKeys = given(1, {0, c.keyHeads, c.keyDim});
      const Tensor ofValues = given(2, {0, c.heads, c.valueDim});
      const Tensor decays = given(3, {0, c.heads});
      const Tensor betas = given(4, {0, c.heads});
      Tensor matrices(ElementKind::F32, {c.heads, c.keyDim, c.valueDim});
      expectClose(actual, s,
                  linearAttention({queries, ofKeys, ofValues, decays,
                                   c.delta ? &betas : nullptr, c.interleaved},
                                  matrices));
    }
    expectIndependent();
  }

  Random random{11};
  std::vector<std::pair<unsigned, Rows>> operands; ///< By buffer.
  std::vector<std::pair<unsigned, std::vector<float>>> constants;
  unsigned out = 0;
  int64_t record = 0; ///< Floats.

private:
  void runStep(const std::array<int64_t, kSequences> &counts,
               std::array<int64_t, kSequences> &done,
               std::vector<float> &states, int64_t workers, Rows &result) {
    StepInputs inputs;
    inputs.queryOffsets = {0};
    loaded->clearArena();
    for (const auto &[buffer, values] : constants)
      loaded->setRows(buffer, values);
    for (int64_t s = 0; s < kSequences; ++s) {
      if (counts[s] == 0)
        continue;
      for (const auto &[buffer, rows] : operands) {
        const int64_t columns = rows[s].size() / kTokens[s];
        for (int64_t t = 0; t < counts[s]; ++t)
          loaded->setRow(buffer, inputs.numTokens + t,
                         &rows[s][(done[s] + t) * columns]);
      }
      inputs.numTokens += counts[s];
      done[s] += counts[s];
      inputs.queryOffsets.push_back(static_cast<int32_t>(inputs.numTokens));
      inputs.seqLens.push_back(static_cast<int32_t>(done[s]));
      inputs.stateSlots.push_back(kSlotOf[s]);
    }
    inputs.states = reinterpret_cast<uint8_t *>(states.data());
    inputs.stateBytes = states.size() * 4;
    inputs.stateSlotStride = record * 4;
    inputs.stateLayerStride = kSlots * record * 4;
    loaded->run(inputs, workers);
    expectZeroPadding(out, inputs.numTokens);
    const std::vector<float> rows = loaded->rows(out, inputs.numTokens);
    const int64_t columns = rows.size() / inputs.numTokens;
    int64_t token = 0;
    for (int64_t s = 0; s < kSequences; ++s) {
      result[s].insert(result[s].end(), rows.begin() + token * columns,
                       rows.begin() + (token + counts[s]) * columns);
      token += counts[s];
    }
  }
};

} // namespace

TEST_P(StateKernels, CausalConvOfOneTap) { expectCausalConv(1); }
TEST_P(StateKernels, CausalConvOfThreeTaps) { expectCausalConv(3); }
TEST_P(StateKernels, CausalConvOfFourTaps) { expectCausalConv(4); }

TEST_P(StateKernels, DeltaRule) {
  expectLinearAttention({4, 2, 16, 16, true, false});
}
TEST_P(StateKernels, DeltaRuleOfOddSizes) {
  expectLinearAttention({3, 1, 8, 10, true, false});
}
TEST_P(StateKernels, InterleavedHeads) {
  expectLinearAttention({6, 3, 10, 24, false, true});
}

LLMIR_TEST_ALL_LEVELS(StateKernels);
