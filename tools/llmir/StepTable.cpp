//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepTable.h"
#include "BenchTest.h"
#include "Console.h"

#include "llmir/Server/RequestReader.h"
#include "llmir/Support/MappedFile.h"
#include "llmir/Support/Sampler.h"

#include <algorithm>
#include <cmath>

using namespace llmir;
using namespace llmir::cli;

//===----------------------------------------------------------------------===//
// Interpolation
//===----------------------------------------------------------------------===//

namespace {
/// Between two points of a list: `below`, and the part of the way to the next.
struct Place {
  size_t below = 0;
  double part = 0;
};
} // namespace

static Place placeIn(const std::vector<int64_t> &list, double value) {
  Place place;
  if (list.size() < 2)
    return place;
  while (place.below + 2 < list.size() &&
         value > static_cast<double>(list[place.below + 1]))
    ++place.below;
  const auto first = static_cast<double>(list[place.below]);
  const auto second = static_cast<double>(list[place.below + 1]);
  place.part = (value - first) / (second - first);
  return place;
}

double StepTable::stepMilliseconds(double prompt, double decoding,
                                   double depth) const {
  const Place p = placeIn(prompts, prompt), s = placeIn(sequences, decoding),
              d = placeIn(depths, depth);
  double sum = 0;
  for (size_t corner = 0; corner < 8; ++corner) {
    double weight = 1;
    const auto index = [&](const Place &place, size_t bit) {
      const bool isAbove = corner & bit;
      weight *= isAbove ? place.part : 1 - place.part;
      return place.below + isAbove;
    };
    const size_t i = index(p, 1), j = index(s, 2), k = index(d, 4);
    if (weight != 0) // Otherwise the point may not exist.
      sum += weight * milliseconds[place(i, j, k)];
  }
  return std::max(sum, 0.0);
}

//===----------------------------------------------------------------------===//
// Measurement
//===----------------------------------------------------------------------===//

namespace {
/// Steps of sequences that all have the same number of tokens before.
class StepMeter {
public:
  StepMeter(Executor &executor, int64_t sequences, int64_t depth)
      : executor(executor), sequences(sequences), depth(depth) {
    SamplingParams params;
    params.temperature = 1;
    for (int64_t i = 0; i <= sequences; ++i)
      samplers.emplace_back(params);
  }
  ~StepMeter() {
    for (SequenceId id = 0; id <= sequences; ++id)
      if (executor.cache().hasSequence(id))
        (void)executor.cache().freeSequence(id);
  }

  Status prepare();
  /// Milliseconds.
  Expected<double> measure(int64_t prompt, int64_t decoding);

private:
  void add(SequenceId sequence, int64_t count, bool wantsLogits);
  Status runStep();

  Executor &executor;
  const int64_t sequences, depth;
  std::vector<Sampler> samplers;
  std::vector<std::vector<int32_t>> ids;
  std::vector<SequenceStep> batch;
  uint64_t random = 1;
};
} // namespace

void StepMeter::add(SequenceId sequence, int64_t count, bool wantsLogits) {
  std::vector<int32_t> &tokens = ids.emplace_back();
  for (int64_t i = 0; i < count; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    tokens.push_back(static_cast<int32_t>(
        (random >> 33) % static_cast<uint64_t>(executor.info().vocabSize)));
  }
  SequenceStep step;
  step.sequence = sequence;
  step.tokens = tokens;
  step.want = wantsLogits ? WantLogits::Last : WantLogits::None;
  batch.push_back(step);
}

Status StepMeter::runStep() {
  Expected<StepLogits> logits = executor.step(batch);
  if (logits)
    executor.forEach(logits->numRows, [&](int64_t row) {
      (void)samplers[static_cast<size_t>(row)].sample(logits->row(row));
    });
  batch.clear();
  ids.clear();
  return logits ? Status::ok() : logits.takeStatus();
}

/// Sequence number `sequences` is that of the prompt.
Status StepMeter::prepare() {
  for (SequenceId id = 0; id <= sequences; ++id) {
    LLMIR_RETURN_IF_ERROR(executor.cache().createSequence(id));
    for (int64_t done = 0; done < depth; done += executor.tokenBudget()) {
      add(id, std::min(executor.tokenBudget(), depth - done), false);
      LLMIR_RETURN_IF_ERROR(runStep());
    }
  }
  return Status::ok();
}

Expected<double> StepMeter::measure(int64_t prompt, int64_t decoding) {
  ids.reserve(static_cast<size_t>(decoding) + 1);
  for (SequenceId id = 0; id < decoding; ++id)
    add(id, 1, true);
  if (prompt > 0)
    add(sequences, prompt, true);
  const Stopwatch watch;
  LLMIR_RETURN_IF_ERROR(runStep());
  const double time = watch.milliseconds();
  for (SequenceId id = 0; id <= sequences; ++id)
    LLMIR_RETURN_IF_ERROR(executor.cache().truncate(id, depth));
  return time;
}

Status StepTable::measure(Executor &executor, int64_t repetitions,
                          const std::function<void(double)> &progress) {
  const ArtifactInfo &info = executor.info();
  model = info.modelName;
  threads = executor.threads();
  vocabulary = info.vocabSize;
  contextLength = executor.contextLength();
  tokenBudget = executor.tokenBudget();
  logitRows = executor.maxLogitRows();
  blockSize = info.kvBlockSize;
  blocks = executor.cache().blocks().numBlocks();
  milliseconds.assign(prompts.size() * sequences.size() * depths.size(), 0);
  LLMIR_RETURN_IF_ERROR(check());
  if (!executor.cache().states().isEmpty())
    return Status(StatusCode::Unsupported,
                  "layers of '" + model +
                      "' keep a state, so that a step cannot be repeated",
                  "use a model with attention only");
  size_t done = 0;
  for (size_t d = 0; d < depths.size(); ++d) {
    StepMeter meter(executor, sequences.back(), depths[d]);
    LLMIR_RETURN_IF_ERROR(meter.prepare());
    for (size_t p = 0; p < prompts.size(); ++p)
      for (size_t s = 0; s < sequences.size(); ++s, ++done) {
        std::vector<double> times;
        const bool isEmpty = prompts[p] + sequences[s] == 0;
        for (int64_t i = 0; !isEmpty && i <= repetitions; ++i) {
          Expected<double> time = meter.measure(prompts[p], sequences[s]);
          if (!time)
            return time.takeStatus();
          if (i > 0) // The first one warms up.
            times.push_back(*time);
        }
        milliseconds[place(p, s, d)] = isEmpty ? 0 : quantile(times, 0.5);
        progress(static_cast<double>(done) /
                 static_cast<double>(milliseconds.size()));
      }
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

static bool ascends(const std::vector<int64_t> &list) {
  return !list.empty() && list.front() == 0 &&
         std::adjacent_find(list.begin(), list.end(), std::greater_equal<>()) ==
             list.end();
}

Status StepTable::check() const {
  const auto refuse = [](const std::string &cause) {
    return Status(StatusCode::OutOfRange, "the table of steps: " + cause,
                  "give other -p, -s or -d");
  };
  if (!ascends(prompts) || !ascends(sequences) || !ascends(depths))
    return refuse("lists do not ascend from 0");
  if (prompts.size() < 2 || sequences.size() < 2)
    return refuse("it has no prompts, or no sequences that decode");
  if (prompts.back() > contextLength - depths.back())
    return refuse("a prompt of " + std::to_string(prompts.back()) + " after " +
                  std::to_string(depths.back()) +
                  " tokens does not fit into the context of " +
                  std::to_string(contextLength));
  if (prompts.back() > tokenBudget - sequences.back() ||
      sequences.back() >= logitRows)
    return refuse(std::to_string(prompts.back()) + " tokens of prompts and " +
                  std::to_string(sequences.back()) +
                  " sequences do not fit into a step of " +
                  std::to_string(tokenBudget) + " tokens and " +
                  std::to_string(logitRows) + " rows of logits");
  return Status::ok();
}

Json StepTable::toJson() const {
  return {{"model", model},
          {"threads", threads},
          {"vocabulary", vocabulary},
          {"context_length", contextLength},
          {"token_budget", tokenBudget},
          {"logit_rows", logitRows},
          {"block_size", blockSize},
          {"blocks", blocks},
          {"prompts", prompts},
          {"sequences", sequences},
          {"depths", depths},
          {"milliseconds", milliseconds}};
}

static Status readList(const JsonReader &reader, const char *key,
                       std::vector<int64_t> &list) {
  Expected<const Json *> array = reader.array(key);
  if (!array)
    return array.takeStatus();
  for (const Json &value : **array) {
    if (!value.is_number_integer() || value < 0 || value > INT32_MAX)
      return reader.unexpected(key, "integers from 0");
    list.push_back(value.get<int64_t>());
  }
  return Status::ok();
}

Expected<StepTable> StepTable::read(const std::string &path) {
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.takeStatus();
  Expected<Json> json = parseJson(file->text(), path);
  if (!json)
    return json.takeStatus();
  Expected<JsonReader> reader = JsonReader::of(*json, path);
  if (!reader)
    return reader.takeStatus();
  StepTable table;
  LLMIR_ASSIGN_OR_RETURN(table.model, reader->string("model"));
  const std::pair<const char *, int64_t *> numbers[] = {
      {"threads", &table.threads},
      {"vocabulary", &table.vocabulary},
      {"context_length", &table.contextLength},
      {"token_budget", &table.tokenBudget},
      {"logit_rows", &table.logitRows},
      {"block_size", &table.blockSize},
      {"blocks", &table.blocks}};
  for (const auto &[key, number] : numbers)
    LLMIR_ASSIGN_OR_RETURN(*number, reader->integer(key, 1, INT32_MAX));
  LLMIR_RETURN_IF_ERROR(readList(*reader, "prompts", table.prompts));
  LLMIR_RETURN_IF_ERROR(readList(*reader, "sequences", table.sequences));
  LLMIR_RETURN_IF_ERROR(readList(*reader, "depths", table.depths));
  LLMIR_RETURN_IF_ERROR(table.check().withContext(path));
  Expected<const Json *> times = reader->array("milliseconds");
  if (!times)
    return times.takeStatus();
  for (const Json &time : **times) {
    if (!time.is_number() || !(time >= 0))
      return reader->unexpected("milliseconds", "numbers from 0");
    table.milliseconds.push_back(time.get<double>());
  }
  if (table.milliseconds.size() !=
      table.prompts.size() * table.sequences.size() * table.depths.size())
    return reader->unexpected("milliseconds",
                              "a number for each point of the grid");
  return table;
}
