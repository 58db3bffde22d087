//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/LoadGenerator/LoadRun.h"

#include <algorithm>
#include <chrono>
#include <memory>

using namespace llmir;

using Clock = std::chrono::steady_clock;

namespace {

/// Seconds since its construction.
class RunClock {
public:
  double now() const {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }
  Clock::time_point at(double seconds) const {
    return start + std::chrono::duration_cast<Clock::duration>(
                       std::chrono::duration<double>(seconds));
  }

private:
  const Clock::time_point start = Clock::now();
};

/// One conversation: its requests, one after the other.
class Talk final : public HttpListener {
public:
  Talk(const Conversation &turns, LoadApi api, const RunClock &clock,
       std::vector<Talk *> &ended)
      : turns(turns), api(api), clock(clock), ended(ended) {}

  bool hasMore() const { return numSent < turns.size(); }
  /// Begins the next request: its body.
  std::string begin(const LoadTarget &target);
  /// The record of the request that has ended, once.
  AnswerRecord finish();

  Status onBytes(long status, std::string_view bytes) override {
    return reader->take(status, bytes, clock.now());
  }
  void onEnd(HttpEnd given) override {
    end = std::move(given);
    ended.push_back(this);
  }

private:
  const Conversation &turns;
  const LoadApi api;
  const RunClock &clock;
  std::vector<Talk *> &ended;
  size_t numSent = 0;
  Json said; ///< So far: the prompt, or the messages.
  std::unique_ptr<AnswerReader> reader;
  HttpEnd end;
};

class Runner {
public:
  Runner(StreamClient &client, const LoadTarget &target, LoadApi api,
         const Load &load, const std::function<void(int64_t)> &onEnd)
      : client(client), target(target), api(api), load(load), onEnd(onEnd) {}
  Expected<LoadResult> run();

private:
  Status sendNext(Talk &talk);
  Status startArrived();
  Status finishEnded();
  bool hasRoom() const {
    return load.maxConcurrency == 0 || numRunning < load.maxConcurrency;
  }

  StreamClient &client;
  const LoadTarget &target;
  const LoadApi api;
  const Load &load;
  const std::function<void(int64_t)> &onEnd;
  const RunClock clock;
  std::vector<std::unique_ptr<Talk>> talks; ///< Those that were started.
  std::vector<Talk *> ended;                ///< Since the last look.
  int64_t numRunning = 0;
  LoadResult result;
};

} // namespace

static Json message(const char *role, Json content) {
  return {{"role", role}, {"content", std::move(content)}};
}

std::string Talk::begin(const LoadTarget &target) {
  const Turn &turn = turns[numSent++];
  if (api == LoadApi::Chat) {
    if (turn.content.is_array())
      said = turn.content;
    else
      said.push_back(message("user", turn.content));
  } else if (said.is_null()) {
    said = turn.content;
  } else {
    said.get_ref<std::string &>() +=
        " " + turn.content.get_ref<const std::string &>();
  }
  std::string body = requestBody(target, api, said, turn.maxTokens);
  reader = std::make_unique<AnswerReader>(api, clock.now());
  return body;
}

AnswerRecord Talk::finish() {
  AnswerRecord record = reader->finish(end);
  reader.reset();
  if (!record.hasSucceeded() || !hasMore()) {
    numSent = turns.size();
    said = nullptr; // Its memory is not needed any longer.
  } else if (api == LoadApi::Chat) {
    said.push_back(message("assistant", record.text));
  } else {
    said.get_ref<std::string &>() += record.text;
  }
  return record;
}

Status Runner::sendNext(Talk &talk) {
  return client.start({target.url(), talk.begin(target)}, talk);
}

/// Starts the conversations that have arrived, as far as there is room.
Status Runner::startArrived() {
  while (talks.size() < load.conversations.size() && hasRoom() &&
         load.arrivals[talks.size()] <= clock.now()) {
    const Conversation &turns = load.conversations[talks.size()];
    talks.push_back(std::make_unique<Talk>(turns, api, clock, ended));
    result.peakConcurrency = std::max(result.peakConcurrency, ++numRunning);
    LLMIR_RETURN_IF_ERROR(sendNext(*talks.back()));
  }
  return Status::ok();
}

Status Runner::finishEnded() {
  const std::vector<Talk *> all = std::exchange(ended, {});
  for (Talk *talk : all) {
    result.records.push_back(talk->finish());
    onEnd(static_cast<int64_t>(result.records.size()));
    if (talk->hasMore())
      LLMIR_RETURN_IF_ERROR(sendNext(*talk));
    else
      --numRunning;
  }
  return Status::ok();
}

Expected<LoadResult> Runner::run() {
  for (;;) {
    LLMIR_RETURN_IF_ERROR(startArrived());
    const bool waits = talks.size() < load.conversations.size() && hasRoom();
    if (!waits && numRunning == 0)
      break;
    LLMIR_RETURN_IF_ERROR(
        client.poll(waits ? clock.at(load.arrivals[talks.size()])
                          : Clock::time_point::max()));
    LLMIR_RETURN_IF_ERROR(finishEnded());
  }
  result.duration = clock.now();
  return std::move(result);
}

Expected<LoadResult> llmir::runLoad(StreamClient &client,
                                    const LoadTarget &target, const Load &load,
                                    const std::function<void(int64_t)> &onEnd) {
  const Expected<LoadApi> api = target.api();
  if (!api)
    return Status(api.status());
  return Runner(client, target, *api, load, onEnd).run();
}
