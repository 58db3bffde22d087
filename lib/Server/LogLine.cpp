//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Server/LogLine.h"
#include "llmir/Server/ApiError.h"
#include "llmir/Support/MessageLine.h"

#include <cstdio>

namespace llmir {

/// "2026-01-31T23:59:59Z"
static std::string timeText(std::time_t now) {
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

static double rounded(double milliseconds) {
  char text[40];
  std::snprintf(text, sizeof text, "%.3f", milliseconds);
  return std::strtod(text, nullptr);
}

std::string logLine(const HttpLogEntry &entry, LogFormat format,
                    std::time_t now) {
  const std::string path = printable(entry.path, 200);
  if (format == LogFormat::Json) {
    Json object = {{"time", timeText(now)},
                   {"peer", entry.peer},
                   {"method", printable(entry.method)},
                   {"path", path},
                   {"status", entry.status},
                   {"ms", rounded(entry.milliseconds)},
                   {"bytes", entry.sentBytes},
                   {"client_left", entry.clientLeft}};
    for (const auto &[name, value] : entry.details)
      object[name] = value;
    return jsonText(object) + "\n";
  }
  char numbers[64];
  std::snprintf(numbers, sizeof numbers, " %d %.1f ms", entry.status,
                entry.milliseconds);
  std::string line = timeText(now) + " " + entry.peer + " " +
                     printable(entry.method) + " " + path + numbers;
  for (const auto &[name, value] : entry.details)
    line += " " + name + "=" + printable(value);
  if (entry.clientLeft)
    line += " client_left";
  return line + "\n";
}

std::string logLine(const std::string &message, LogFormat format,
                    std::time_t now) {
  if (format == LogFormat::Json)
    return jsonText({{"time", timeText(now)}, {"message", message}}) + "\n";
  return timeText(now) + " " + messageLine(message) + "\n";
}

} // namespace llmir
