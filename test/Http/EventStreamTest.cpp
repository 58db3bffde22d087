// RUN: llmir-http-tests --gtest_filter='EventStream.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Http/EventStream.h"

#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

using namespace llmir;

namespace {
using Events = std::vector<std::pair<std::string, std::string>>;
} // namespace

/// The events of a stream that arrives in these pieces.
static Events eventsOf(const std::vector<std::string_view> &pieces) {
  EventStreamParser parser;
  Events events;
  for (std::string_view piece : pieces)
    EXPECT_TRUE(parser.take(piece, [&](const ServerSentEvent &event) {
      events.emplace_back(event.name, event.data);
    }));
  return events;
}

TEST(EventStream, ReadsEvents) {
  EXPECT_EQ(eventsOf({"data: 1\n\ndata: 2\n\n"}),
            (Events{{"", "1"}, {"", "2"}}));
  EXPECT_EQ(eventsOf({"event: end\ndata: {\"a\": 1}\n\n"}),
            (Events{{"end", "{\"a\": 1}"}}));
  EXPECT_EQ(eventsOf({"data:a\ndata: b\ndata:  c\n\n"}),
            (Events{{"", "a\nb\n c"}}));
  EXPECT_EQ(eventsOf({"data\n\ndata:\ndata:\n\n"}),
            (Events{{"", ""}, {"", "\n"}}));
}

TEST(EventStream, DropsWhatIsNoEvent) {
  EXPECT_EQ(eventsOf({": a comment\n\nid: 1\nretry: 2\nother: 3\n\n"}),
            (Events{}));
  // A name without data is not an event, and not that of the next one.
  EXPECT_EQ(eventsOf({"event: a\n\ndata: 1\n\n"}), (Events{{"", "1"}}));
  // Nor is an event that the end cuts off.
  EXPECT_EQ(eventsOf({"data: 1\n\ndata: 2\n"}), (Events{{"", "1"}}));
  EXPECT_EQ(eventsOf({"\xEF\xBB\xBF"
                      "data: 1\n\n"}),
            (Events{{"", "1"}}));
}

TEST(EventStream, TakesPiecesThatAreCutAnywhere) {
  const Events expected = {{"x", "a\nb"}, {"", "\xC3\xA4"}, {"", "c"}};
  for (const char *end : {"\n", "\r\n", "\r"}) {
    std::string stream;
    for (const char *line : {": c", "event: x", "data: a", "data: b", "",
                             "data: \xC3\xA4", "", "", "data: c", ""})
      stream += std::string(line) + end;
    for (size_t first = 0; first <= stream.size(); ++first)
      for (size_t second = first; second <= stream.size(); ++second) {
        const std::string_view whole = stream;
        EXPECT_EQ(eventsOf({whole.substr(0, first),
                            whole.substr(first, second - first),
                            whole.substr(second)}),
                  expected)
            << first << " " << second;
      }
  }
}

TEST(EventStream, LimitsAnEvent) {
  const auto ignore = [](const ServerSentEvent &) {};
  EventStreamParser line(10);
  EXPECT_TRUE(line.take("data: 1234\n\n", ignore)); // Exactly ten bytes.
  EXPECT_TRUE(line.take("data: ", ignore));
  EXPECT_EQ(line.take("12345", ignore).message(),
            "the answer has an event of more than 10 bytes");
  EventStreamParser data(10);
  EXPECT_TRUE(data.take("data:12\ndata:34\n", ignore));
  EXPECT_FALSE(data.take("data:56\n", ignore));
}
