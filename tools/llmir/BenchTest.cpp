//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BenchTest.h"
#include "Console.h"

#include <algorithm>
#include <cmath>

using namespace llmir;
using namespace llmir::cli;

std::string BenchTest::name() const {
  std::string text =
      prompt ? "pp" + std::to_string(prompt) : "tg" + std::to_string(tokens);
  if (sequences > 1)
    text += " x " + std::to_string(sequences);
  return depth ? text + " @ d" + std::to_string(depth) : text;
}

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

double cli::quantile(std::vector<double> values, double q) {
  if (values.empty())
    return std::nan("");
  std::sort(values.begin(), values.end());
  double at = q * static_cast<double>(values.size() - 1);
  auto below = static_cast<size_t>(at);
  size_t above = std::min(below + 1, values.size() - 1);
  double part = at - static_cast<double>(below);
  return values[below] * (1 - part) + values[above] * part;
}

double BenchResult::median() const { return quantile(rates, 0.5); }

double BenchResult::spread() const {
  return (quantile(rates, 0.75) - quantile(rates, 0.25)) / 2;
}

double BenchResult::share() const {
  std::vector<double> shares;
  for (size_t i = 0; i < rates.size(); ++i)
    shares.push_back(cost.leastSeconds(limits[i]) * rates[i] / test.count());
  return quantile(shares, 0.5);
}

MachineLimits BenchResult::medianLimits() const {
  MachineLimits middle = limits.front(); // For its names.
  std::vector<double> values(limits.size());
  auto medianOf = [&](auto &&number) {
    std::transform(limits.begin(), limits.end(), values.begin(), number);
    return quantile(values, 0.5);
  };
  middle.read.bytesPerSecond =
      medianOf([](const MachineLimits &l) { return l.read.bytesPerSecond; });
  for (int unit = 0; unit < numDotUnits; ++unit)
    middle.units[unit].opsPerSecond = medianOf(
        [unit](const MachineLimits &l) { return l.units[unit].opsPerSecond; });
  return middle;
}

bool BenchResult::isBoundByReading() const {
  MachineLimits middle = medianLimits();
  return cost.readSeconds(middle) >= cost.computeSeconds(middle);
}

/// The mean of two measurements.
static MachineLimits mean(const MachineLimits &a, const MachineLimits &b) {
  MachineLimits between = a;
  if (b.read.bytesPerSecond > a.read.bytesPerSecond)
    between.read.reader = b.read.reader;
  between.read.bytesPerSecond =
      (a.read.bytesPerSecond + b.read.bytesPerSecond) / 2;
  for (int unit = 0; unit < numDotUnits; ++unit)
    between.units[unit].opsPerSecond =
        (a.units[unit].opsPerSecond + b.units[unit].opsPerSecond) / 2;
  return between;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

BenchRunner::BenchRunner(Executor &executor, LimitMeter &meter, int64_t chunk,
                         int64_t repetitions)
    : executor(executor), meter(meter),
      chunk(chunk > 0 ? std::min(chunk, executor.tokenBudget())
                      : executor.tokenBudget()),
      repetitions(repetitions) {}

int32_t BenchRunner::nextToken() {
  random = random * 6364136223846793005u + 1442695040888963407u;
  return static_cast<int32_t>((random >> 33) %
                              static_cast<uint64_t>(executor.info().vocabSize));
}

Status BenchRunner::feed(SequenceId sequence, int64_t count) {
  for (int64_t done = 0; done < count; done += chunk) {
    ids.resize(static_cast<size_t>(std::min(chunk, count - done)));
    for (int32_t &id : ids)
      id = nextToken();
    SequenceStep step;
    step.sequence = sequence;
    step.tokens = ids;
    step.want = done + chunk >= count ? WantLogits::Last : WantLogits::None;
    Expected<StepLogits> logits =
        executor.step(Span<const SequenceStep>(&step, 1));
    if (!logits)
      return logits.takeStatus();
  }
  return Status::ok();
}

Status BenchRunner::decode(int64_t sequences) {
  ids.resize(static_cast<size_t>(sequences));
  batch.resize(static_cast<size_t>(sequences));
  for (size_t s = 0; s < batch.size(); ++s) {
    ids[s] = nextToken();
    batch[s].sequence = static_cast<SequenceId>(s);
    batch[s].tokens = Span<const int32_t>(&ids[s], 1);
    batch[s].want = WantLogits::Last;
  }
  return executor.step(batch).takeStatus();
}

Status BenchRunner::prepare(const BenchTest &test) {
  for (SequenceId sequence = 0; sequence < test.sequences; ++sequence) {
    LLMIR_RETURN_IF_ERROR(executor.cache().createSequence(sequence));
    LLMIR_RETURN_IF_ERROR(feed(sequence, test.depth));
  }
  return Status::ok();
}

Status BenchRunner::finish(const BenchTest &test) {
  Status first;
  for (SequenceId sequence = 0; sequence < test.sequences; ++sequence)
    if (executor.cache().hasSequence(sequence)) {
      Status freed = executor.cache().freeSequence(sequence);
      if (first && !freed)
        first = std::move(freed);
    }
  return first;
}

/// Removes the tokens after the first `depth`; layers that keep a state, or
/// only a window that begins later, cannot go back, and compute those again.
Status BenchRunner::goBack(SequenceId sequence, int64_t depth) {
  PagedKVCache &cache = executor.cache();
  Status cut = cache.truncate(sequence, depth);
  if (cut.code() != StatusCode::Unsupported)
    return cut;
  LLMIR_RETURN_IF_ERROR(cache.truncate(sequence, 0));
  return feed(sequence, depth);
}

/// Seconds; does not change the lengths of the sequences.
Expected<double> BenchRunner::repeat(const BenchTest &test) {
  // Measurements in between may have evicted code and small models from the
  // caches.
  LLMIR_RETURN_IF_ERROR(decode(test.sequences));
  auto cut = [&] {
    Status status;
    for (SequenceId s = 0; status && s < test.sequences; ++s)
      status = goBack(s, test.depth);
    return status;
  };
  LLMIR_RETURN_IF_ERROR(cut());
  Stopwatch watch;
  if (test.prompt)
    LLMIR_RETURN_IF_ERROR(feed(0, test.prompt));
  for (int64_t token = 0; token < test.tokens; ++token)
    LLMIR_RETURN_IF_ERROR(decode(test.sequences));
  double seconds = watch.milliseconds() / 1000;
  LLMIR_RETURN_IF_ERROR(cut());
  return seconds;
}

Status BenchRunner::repeatOnce(const BenchTest &test) {
  Status status = prepare(test);
  if (status)
    status = repeat(test).takeStatus();
  Status freed = finish(test);
  return status ? std::move(freed) : std::move(status);
}

/// Prompts are counted without the output projection, which only one token
/// needs.
StepCost BenchRunner::cost(const BenchTest &test) const {
  const PagedKVCache &cache = executor.cache();
  const double kvBytesOfToken =
      static_cast<double>(cache.blockLayout().blockBytes()) *
      static_cast<double>(cache.getNumLayers()) /
      static_cast<double>(cache.getBlockSize());
  // Read once in each step, however many tokens it has.
  const double stateBytesOfSequence =
      static_cast<double>(executor.info().stateLayers) *
      static_cast<double>(executor.info().stateRecordBytes);
  StepCost sum;
  const auto depth = static_cast<double>(test.depth);
  for (int64_t done = 0; done < test.prompt; done += chunk) {
    int64_t tokens = std::min(chunk, test.prompt - done);
    sum += stepCost(executor.info(), tokens, 0);
    sum.kvBytes += kvBytesOfToken * (depth + static_cast<double>(done));
    sum.stateBytes += stateBytesOfSequence;
  }
  if (test.tokens) {
    const auto tokens = static_cast<double>(test.tokens);
    sum += stepCost(executor.info(), test.sequences, test.sequences)
               .scaled(tokens);
    sum.kvBytes += kvBytesOfToken * static_cast<double>(test.sequences) *
                   tokens * (depth + (tokens + 1) / 2);
    sum.stateBytes +=
        stateBytesOfSequence * static_cast<double>(test.sequences) * tokens;
  }
  return sum;
}

Expected<BenchResult>
BenchRunner::run(const BenchTest &test,
                 const std::function<void(int64_t)> &progress) {
  BenchResult result;
  result.test = test;
  result.threads = executor.threads();
  result.placement = executor.placement();
  result.level = executor.level();
  result.cost = cost(test);
  result.sizeClass = meter.reader().sizeClass();

  progress(0);
  Status status = prepare(test);
  if (status)
    status = repeat(test).takeStatus(); // Warm up.
  MachineLimits before = meter.measure(result.cost);
  for (int64_t i = 0; status && i < repetitions; ++i) {
    progress(i + 1);
    Expected<double> seconds = repeat(test);
    if (!seconds) {
      status = seconds.takeStatus();
      break;
    }
    MachineLimits after = meter.measure(result.cost);
    result.rates.push_back(test.count() / *seconds);
    result.limits.push_back(mean(before, after));
    before = after;
  }
  Status freed = finish(test);
  if (!status)
    return status;
  if (!freed)
    return freed;
  return result;
}
