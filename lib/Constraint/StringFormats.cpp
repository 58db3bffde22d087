//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StringFormats.h"

namespace llmir::constraint {

namespace {
struct Format {
  std::string_view name;
  std::string pattern;
};
} // namespace

/// With the days of each month, and February 29 of leap years (RFC 3339).
static std::string date() {
  return R"(([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01]))"
         R"(|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|)"
         R"(([0-9]{2}(0[48]|[2468][048]|[13579][26]))"
         R"(|([02468][048]|[13579][26])00)-02-29))";
}

static std::string time() {
  return R"(([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?)"
         R"((Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9]))";
}

/// RFC 3339, appendix A.
static std::string duration() {
  const std::string n = "[0-9]{1,9}";
  const std::string seconds = n + "S", minutes = n + "M(" + seconds + ")?";
  const std::string clock =
      "T(" + n + "H(" + minutes + ")?|" + minutes + "|" + seconds + ")";
  const std::string days = n + "D", months = n + "M(" + days + ")?";
  const std::string calendar =
      "(" + n + "Y(" + months + ")?|" + months + "|" + days + ")";
  return "P(" + n + "W|" + calendar + "(" + clock + ")?|" + clock + ")";
}

static std::string hostname() {
  const std::string label = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
  return label + R"((\.)" + label + "){0,3}";
}

static std::string email() {
  const std::string word = "[A-Za-z0-9_!#$%&'*+/=?^`{|}~-]{1,32}";
  return word + R"((\.)" + word + "){0,1}@" + hostname();
}

static std::string ipv4() {
  const std::string byte = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
  return byte + R"((\.)" + byte + "){3}";
}

/// Eight groups, or fewer around ::.
static std::string ipv6() {
  const std::string group = "[0-9A-Fa-f]{1,4}";
  std::string pattern = "(" + group + ":){7}" + group;
  for (int before = 0; before <= 6; ++before) {
    pattern += before == 0
                   ? "|:"
                   : "|(" + group + ":){" + std::to_string(before) + "}";
    pattern += "(:" +
               (before == 6 ? group
                            : "(" + group + "(:" + group + "){0," +
                                  std::to_string(5 - before) + "})?") +
               ")";
  }
  return pattern;
}

static std::string uuid() {
  return "[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}";
}

/// With a host (RFC 3986).
static std::string uri() {
  const std::string character =
      "([A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})";
  return "[a-z][a-z0-9+.-]{0,15}://" + hostname() + "(:[0-9]{1,5})?(/" +
         character + R"(*)*(\?()" + character + "|[/?])*)?(#(" + character +
         "|[/?])*)?";
}

static const Format *formats(size_t &count) {
  static const Format all[] = {{"date", date()},
                               {"time", time()},
                               {"date-time", date() + "T" + time()},
                               {"duration", duration()},
                               {"email", email()},
                               {"hostname", hostname()},
                               {"ipv4", ipv4()},
                               {"ipv6", ipv6()},
                               {"uuid", uuid()},
                               {"uri", uri()}};
  count = sizeof(all) / sizeof(all[0]);
  return all;
}

std::optional<std::string> patternOfFormat(std::string_view format) {
  size_t count = 0;
  const Format *all = formats(count);
  for (size_t i = 0; i < count; ++i)
    if (all[i].name == format)
      return all[i].pattern;
  return std::nullopt;
}

std::string knownFormats() {
  size_t count = 0;
  const Format *all = formats(count);
  std::string names;
  for (size_t i = 0; i < count; ++i)
    names += (i ? ", " : "") + std::string(all[i].name);
  return names;
}

} // namespace llmir::constraint
