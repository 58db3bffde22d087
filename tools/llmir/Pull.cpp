//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llmir pull: downloads a model from the Hugging Face Hub.
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "Console.h"

#include "llmir/Hub/Pull.h"
#include "llmir/Support/Json.h"
#include "llmir/Support/Text.h"

#include <algorithm>
#include <csignal>
#include <memory>

using namespace llmir;
using namespace llmir::cli;

namespace {

struct PullFlags {
  std::string model;
  int64_t connections = 8;
  int64_t retries = 5;
  bool dryRun = false;
  bool verify = false;
  bool json = false;
};

} // namespace

/// "cached", "12 % present" or "".
static std::string stateText(const hub::PlannedFile &file) {
  if (file.isCached)
    return "cached";
  if (file.presentBytes == 0)
    return "";
  const double part =
      static_cast<double>(file.presentBytes) /
      static_cast<double>(std::max<uint64_t>(file.entry.size, 1));
  return formatNumber(100 * part, 0) + " % present";
}

static std::string bytesText(uint64_t bytes) {
  return formatBytes(static_cast<double>(bytes));
}

/// The files with their sizes, one per line.
static std::string planText(const hub::PullPlan &plan) {
  size_t width = 0;
  for (const hub::PlannedFile &file : plan.files)
    width = std::max(width, printable(file.entry.path, 120).size());
  const uint64_t total = plan.totalBytes();
  std::string text = plan.reference.text() + " at " + plan.commit.substr(0, 8) +
                     ": " + std::to_string(plan.files.size()) +
                     (plan.files.size() == 1 ? " file, " : " files, ") +
                     bytesText(total) + ", of which " +
                     bytesText(total - plan.presentBytes()) +
                     " are to be downloaded\n";
  for (const hub::PlannedFile &file : plan.files) {
    const std::string name = printable(file.entry.path, 120);
    const std::string size = bytesText(file.entry.size);
    const std::string state = stateText(file);
    text += "  " + name + std::string(width - name.size() + 2, ' ') +
            std::string(size.size() < 8 ? 8 - size.size() : 0, ' ') + size +
            (state.empty() ? "" : "  " + state) + "\n";
  }
  return text;
}

static Json describePlan(const hub::PullPlan &plan) {
  Json files = Json::array();
  for (const hub::PlannedFile &file : plan.files)
    files.push_back({{"path", file.entry.path},
                     {"bytes", file.entry.size},
                     {"present_bytes", file.presentBytes},
                     {"hash", file.entry.hash}});
  return {{"model", plan.reference.text()},
          {"commit", plan.commit},
          {"files", std::move(files)},
          {"bytes", plan.totalBytes()},
          {"present_bytes", plan.presentBytes()},
          {"cache", plan.cache}};
}

static void printJson(const Json &object) {
  print(object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

static Outcome download(const PullFlags &flags, const hub::PullPlan &plan,
                        const hub::Settings &settings,
                        hub::PullOptions options) {
  ProgressBar bar;
  Stopwatch watch;
  const uint64_t total = std::max<uint64_t>(plan.totalBytes(), 1);
  const uint64_t before = plan.presentBytes();
  options.onProgress = [&](uint64_t present) {
    const double seconds = std::max(watch.milliseconds() / 1000, 0.001);
    const uint64_t received = present > before ? present - before : 0;
    bar.update(bytesText(present) + " of " + bytesText(total) + ", " +
                   formatBytes(static_cast<double>(received) / seconds) + "/s",
               static_cast<double>(present) / static_cast<double>(total));
  };
  options.onNote = [&](const std::string &message) {
    bar.hide();
    note(message);
  };
  Expected<hub::PullResult> result = hub::runPull(plan, settings, options);
  bar.hide();
  if (!result)
    return result.takeStatus();
  if (!flags.json) {
    print(result->path + "\n");
    return Status::ok();
  }
  Json object = describePlan(plan);
  object["path"] = result->path;
  object["downloaded_bytes"] = result->receivedBytes;
  object["seconds"] = watch.milliseconds() / 1000;
  printJson(object);
  return Status::ok();
}

static Outcome pull(const PullFlags &flags) {
  Expected<hub::ModelReference> reference =
      hub::ModelReference::parse(flags.model);
  if (!reference)
    return Outcome::usage(reference.status().cause(),
                          reference.status().advice());
  Expected<hub::Settings> settings = hub::Settings::fromEnvironment();
  if (!settings)
    return Outcome::ofFlags(settings.takeStatus());
  // A peer that closes its connection is an error of a request.
  std::signal(SIGPIPE, SIG_IGN);
  hub::PullOptions options;
  options.connections = static_cast<int>(flags.connections);
  options.retries = static_cast<int>(flags.retries);
  options.verifies = flags.verify;
  options.onNote = [](const std::string &message) { note(message); };
  Expected<hub::PullPlan> plan = hub::planPull(*reference, *settings, options);
  if (!plan)
    return plan.takeStatus();
  if (!flags.json)
    noteLines(planText(*plan));
  if (!flags.dryRun)
    return download(flags, *plan, *settings, options);
  if (flags.json)
    printJson(describePlan(*plan));
  return Status::ok();
}

void cli::addPullCommand(CommandLine &line) {
  auto flags = std::make_shared<PullFlags>();
  Command command = line.add(
      "pull", "Download a model from the Hugging Face Hub",
      "llmir pull HuggingFaceTB/SmolLM2-135M-Instruct\n"
      "  llmir pull Qwen/Qwen3-0.6B-GGUF:Q8_0 && llmir run "
      "Qwen/Qwen3-0.6B-GGUF:Q8_0 \"In the beginning\"\n"
      "The variables of the Hub's own client apply: HF_ENDPOINT, HF_TOKEN, "
      "HF_HOME, HF_HUB_CACHE, HF_HUB_OFFLINE.");
  command
      .addArgument("MODEL", flags->model,
                   "ORG/NAME[@REVISION][:FILE or quantization]")
      .required();
  addOption(command, "--connections", flags->connections,
            "requests at the same time", "N")
      .showDefault()
      .check(inRange(1, 64));
  addOption(command, "--retries", flags->retries,
            "how often a failed request is repeated without progress", "N")
      .showDefault()
      .check(inRange(0, 100));
  addFlag(command, "--verify", flags->verify,
          "check the hashes of files that are in the cache, too");
  addFlag(command, "--dry-run", flags->dryRun, "show what would be downloaded");
  addJsonFlag(command, flags->json);
  line.onRun(command, [flags] { return pull(*flags); });
}
