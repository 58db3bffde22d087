//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Profile.h"
#include "Console.h"

#include "llmir/Support/FileWriter.h"
#include "llmir/Support/Json.h"

#include <algorithm>
#include <cstdio>
#include <tuple>
#include <vector>

using namespace llmir;
using namespace llmir::cli;

//===----------------------------------------------------------------------===//
// The trace file
//===----------------------------------------------------------------------===//

static std::string jsonText(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Chrome's format uses microseconds; decimals keep the clock's resolution.
void Profile::addSlice(int64_t track, std::string_view name, double startUs,
                       double endUs, const std::string &arguments) {
  char numbers[128];
  std::snprintf(numbers, sizeof numbers,
                R"(,"ph":"X","pid":1,"tid":%lld,"ts":%.3f,"dur":%.3f)",
                static_cast<long long>(track), startUs,
                std::max(endUs - startUs, 0.0));
  events += ",\n{\"name\":" + jsonText(name) + numbers;
  if (!arguments.empty())
    events += ",\"args\":{" + arguments + "}";
  events += "}";
}

void Profile::addName(const char *what, int64_t track,
                      const std::string &name) {
  events += std::string(",\n{\"name\":\"") + what +
            "\",\"ph\":\"M\",\"pid\":1,\"tid\":" + std::to_string(track) +
            ",\"args\":{\"name\":" + jsonText(name) + "}}";
}

/// Slices that contain others are opened and closed, so that the order in the
/// file defines the nesting if times are equal.
void Profile::open(int64_t track, std::string_view name, double us) {
  char numbers[96];
  std::snprintf(numbers, sizeof numbers,
                R"(,"ph":"B","pid":1,"tid":%lld,"ts":%.3f})",
                static_cast<long long>(track), us);
  events += ",\n{\"name\":" + jsonText(name) + numbers;
}

void Profile::close(int64_t track, double us) {
  char numbers[96];
  std::snprintf(numbers, sizeof numbers,
                R"({"ph":"E","pid":1,"tid":%lld,"ts":%.3f})",
                static_cast<long long>(track), us);
  events += std::string(",\n") + numbers;
}

void Profile::end(const Phase &phase) {
  addSlice(0, phase.name, phase.startMs * 1000, milliseconds() * 1000, {});
}

/// Writes one worker's events as nested slices.
class Profile::WorkerTrack {
public:
  WorkerTrack(Profile &profile, const Executor &executor, int64_t worker)
      : profile(profile), sites(executor.info().sites),
        trace(*executor.trace()), track(worker + 1),
        rate(trace.nanosecondsPerTick()) {
    auto begin = std::chrono::duration_cast<std::chrono::nanoseconds>(
        profile.start.time_since_epoch());
    offset = static_cast<double>(trace.startNanoseconds() - begin.count());
  }

  void add(const TraceEvent &event) {
    double now = microseconds(event.ticks);
    if (event.site == TraceEvent::stepBegins) {
      profile.open(track, stepName(event.layer), now);
    } else {
      enterLayer(event);
      if (event.site == TraceEvent::stepEnds)
        profile.close(track, now);
      else
        addSite(event, now);
    }
    last = now;
  }

private:
  double microseconds(uint64_t ticks) const {
    return (offset + static_cast<double>(ticks - trace.startTicks()) * rate) /
           1000;
  }

  const StepSite *siteOf(const TraceEvent &event) const {
    return event.site >= 0 && static_cast<size_t>(event.site) < sites.size()
               ? &sites[static_cast<size_t>(event.site)]
               : nullptr;
  }

  /// A layer lasts as long as consecutive events belong to it.
  void enterLayer(const TraceEvent &event) {
    const StepSite *site = siteOf(event);
    int32_t next = site && site->inLayerRun ? event.layer : -1;
    if (next == layer)
      return;
    if (layer >= 0)
      profile.close(track, last);
    layer = next;
    if (layer >= 0)
      profile.open(track, "layer " + std::to_string(layer), last);
  }

  void addSite(const TraceEvent &event, double now) {
    const StepSite *site = siteOf(event);
    std::string arguments = "\"layer\":" + std::to_string(event.layer);
    if (site && site->packedBytes)
      arguments += ",\"weight bytes\":" + std::to_string(site->packedBytes);
    profile.addSlice(track,
                     site ? site->name : "site " + std::to_string(event.site),
                     last, now, arguments);
  }

  std::string stepName(int32_t number) const {
    const TracedStep *step = trace.findStep(number);
    if (!step)
      return "step";
    return "step of " + std::to_string(step->tokens) + " tokens, " +
           std::to_string(step->sequences) + " sequences";
  }

  Profile &profile;
  const std::vector<StepSite> &sites;
  const StepTrace &trace;
  int64_t track;
  double rate, offset = 0; ///< Nanoseconds per tick, from the profile's start.
  double last = 0;         ///< Time of the preceding event in microseconds.
  int32_t layer = -1;      ///< The layer with an open slice.
};

void Profile::addSteps(const Executor &executor) {
  const StepTrace *trace = executor.trace();
  if (!trace)
    return;
  for (int64_t worker = 0; worker < trace->workers(); ++worker) {
    if (worker >= numNamedTracks)
      addName("thread_name", worker + 1, "worker " + std::to_string(worker));
    WorkerTrack track(*this, executor, worker);
    for (const TraceEvent &event : trace->events(worker))
      track.add(event);
  }
  numNamedTracks = std::max(numNamedTracks, trace->workers());
}

Status Profile::write(const std::string &path) const {
  return writeFileAtomically(
      path, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
            "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"tid\":0,"
            "\"args\":{\"name\":\"llmir\"}},\n"
            "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":0,"
            "\"args\":{\"name\":\"phases\"}}" +
                events + "\n]}\n");
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
/// The calls of one name.
struct KernelSum {
  std::string name;
  int64_t calls = 0;  ///< Of one worker.
  double seconds = 0; ///< Of all workers.
  StepCost cost;
};

/// The steps of one kind: prompts, or one token of each sequence.
struct StepKind {
  explicit StepKind(const char *name) : name(name) {}

  const char *name;
  int64_t steps = 0;
  double seconds = 0; ///< Of all workers.
  std::vector<KernelSum> kernels;
  StepCost cost;
  TracedStep largest;

  KernelSum &kernel(const std::string &name) {
    for (KernelSum &sum : kernels)
      if (sum.name == name)
        return sum;
    kernels.emplace_back().name = name;
    return kernels.back();
  }
};

class TableMaker {
public:
  explicit TableMaker(Executor &executor);
  std::string text(const MachineLimits &limits);

  StepKind kinds[2] = {StepKind("prompt"), StepKind("decoding")};

private:
  void add(int64_t worker, const TraceEvent &event);
  std::string text(const StepKind &kind, const MachineLimits &limits) const;

  Executor &executor;
  const StepTrace &trace;
  double secondsPerTick, kvBytesOfToken; ///< Per layer.
  StepKind *kind = nullptr;              ///< Of the current step.
  const TracedStep *step = nullptr;
  uint64_t last = 0, stepBegan = 0;
};
} // namespace

TableMaker::TableMaker(Executor &executor)
    : executor(executor), trace(*executor.trace()),
      secondsPerTick(trace.nanosecondsPerTick() * 1e-9) {
  const PagedKVCache &cache = executor.cache();
  kvBytesOfToken = static_cast<double>(cache.blockLayout().blockBytes()) /
                   static_cast<double>(cache.getBlockSize());
  for (int64_t worker = 0; worker < trace.workers(); ++worker)
    for (const TraceEvent &event : trace.events(worker))
      add(worker, event);
}

void TableMaker::add(int64_t worker, const TraceEvent &event) {
  const std::vector<StepSite> &sites = executor.info().sites;
  if (event.site == TraceEvent::stepBegins) {
    step = trace.findStep(event.layer);
    kind = !step ? nullptr : &kinds[step->tokens == step->sequences];
    stepBegan = event.ticks;
  } else if (kind && event.site == TraceEvent::stepEnds) {
    kind->seconds +=
        static_cast<double>(event.ticks - stepBegan) * secondsPerTick;
    if (worker == 0) {
      ++kind->steps;
      kind->cost += stepCost(executor.info(), step->tokens, step->logitRows);
      if (step->tokens >= kind->largest.tokens)
        kind->largest = *step;
    }
  } else if (kind && static_cast<size_t>(event.site) < sites.size()) {
    const StepSite &site = sites[static_cast<size_t>(event.site)];
    KernelSum &sum = kind->kernel(site.name);
    sum.seconds += static_cast<double>(event.ticks - last) * secondsPerTick;
    if (worker == 0) {
      ++sum.calls;
      sum.cost += siteCost(site, step->tokens, step->logitRows);
      if (site.kind == "paged_attention")
        sum.cost.kvBytes += kvBytesOfToken * static_cast<double>(step->keys);
    }
  }
  last = event.ticks;
}

static std::string line(std::string name,
                        std::initializer_list<std::string> cells) {
  if (name.size() > 40)
    name = name.substr(0, 37) + "...";
  std::string text = name + std::string(40 - name.size(), ' ');
  for (const std::string &cell : cells)
    text += std::string(cell.size() < 10 ? 10 - cell.size() : 1, ' ') + cell;
  return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
}

std::string TableMaker::text(const StepKind &kind,
                             const MachineLimits &limits) const {
  const auto workers = static_cast<double>(trace.workers());
  const auto steps = static_cast<double>(kind.steps);
  auto cells = [&](const std::string &name, double seconds, int64_t calls,
                   const StepCost &cost) {
    auto rate = [&](double amount) {
      return amount > 0 && seconds > 0 ? formatNumber(amount / seconds / 1e9, 1)
                                       : std::string();
    };
    double least = cost.leastSeconds(limits);
    return line(name, {calls ? std::to_string(calls) : std::string(),
                       formatNumber(1e3 * seconds / steps, 3),
                       formatNumber(100 * seconds * workers / kind.seconds, 1),
                       rate(cost.bytes()), rate(cost.allOperations()),
                       least > 0 && seconds > 0
                           ? formatNumber(100 * least / seconds, 0) + " %"
                           : std::string()});
  };
  std::vector<const KernelSum *> order;
  for (const KernelSum &sum : kind.kernels)
    order.push_back(&sum);
  std::sort(
      order.begin(), order.end(), [](const KernelSum *a, const KernelSum *b) {
        return std::tie(b->seconds, a->name) < std::tie(a->seconds, b->name);
      });
  std::string text =
      std::string(kind.name) + ": " + std::to_string(kind.steps) +
      " steps of up to " + std::to_string(kind.largest.tokens) +
      " tokens, up to " + std::to_string(kind.largest.keys) +
      " keys; means of " + std::to_string(trace.workers()) + " workers\n" +
      line("kernel",
           {"calls", "ms/step", "% of step", "GB/s", "Gop/s", "of limit"});
  StepCost all = kind.cost;
  for (const KernelSum *sum : order) {
    text += cells(sum->name, sum->seconds / workers, sum->calls, sum->cost);
    all.kvBytes += sum->cost.kvBytes;
  }
  return text + cells("whole step", kind.seconds / workers, 0, all);
}

std::string TableMaker::text(const MachineLimits &limits) {
  std::string text;
  for (const StepKind &kind : kinds)
    if (kind.steps > 0)
      text += this->text(kind, limits);
  text += describeLimits(limits);
  if (int64_t lost = trace.numLost())
    text += "; the first " + std::to_string(lost) +
            " events were overwritten by later ones";
  return text + "\n";
}

std::string cli::describeLimits(const MachineLimits &limits) {
  std::string text = "limits:";
  if (limits.read.bytesPerSecond > 0)
    text += " reads " + formatNumber(limits.read.bytesPerSecond / 1e9, 1) +
            " GB/s (" + limits.read.reader + ")";
  for (int unit = 0; unit < numDotUnits; ++unit)
    if (limits.units[unit].opsPerSecond > 0)
      text += std::string(text.back() == ':' ? " " : ", ") +
              dotUnitName(static_cast<DotUnit>(unit)) + " " +
              formatNumber(limits.units[unit].opsPerSecond / 1e9, 0) +
              " Gop/s (" + limits.units[unit].instruction + ")";
  return text;
}

std::string cli::profileTable(Executor &executor, const MachineLimits &limits) {
  return executor.trace() ? TableMaker(executor).text(limits) : std::string();
}

StepCost cli::tracedNeeds(Executor &executor) {
  StepCost sum;
  if (executor.trace())
    for (const StepKind &kind : TableMaker(executor).kinds)
      sum += kind.cost;
  return sum;
}
