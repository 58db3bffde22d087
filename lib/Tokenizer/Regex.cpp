//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Regex.h"

#include "llmir/Support/Json.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <chrono>
#include <ctime>

namespace llmir {
namespace {

constexpr size_t maxPatternBytes = 1u << 16;
/// Step limit of one match attempt. Patterns of real files take a few steps per
/// character of the match.
constexpr uint32_t minMatchSteps = 10'000'000;
constexpr uint32_t stepsPerByte = 16;
/// A search looks for matches that begin within this many bytes, then checks
/// the clock: a pattern that scans the rest of the text at every position would
/// otherwise run for hours.
constexpr size_t searchWindow = 64;
constexpr double baseSeconds = 0.5, secondsPerMiB = 1.0;
constexpr size_t jitStackStart = 32u << 10, jitStackMax = 16u << 20;
constexpr uint32_t interpreterHeapKiB = 64u << 10;

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

// Unicode's White_Space. PCRE2's \s also includes U+180E.
constexpr const char *spaceRanges =
    "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}"
    "\\x{2029}\\x{202f}\\x{205f}\\x{3000}";
// PCRE2's \w excludes marks and connectors.
constexpr const char *wordSets = "\\p{L}\\p{M}\\p{Nd}\\p{Pc}";

Status unsupportedPattern(size_t offset, const std::string &what) {
  return Status(StatusCode::Unsupported,
                "the pattern has " + what + " at byte " +
                    std::to_string(offset),
                "use a tokenizer without it");
}

/// Rewrites constructs that the two dialects interpret differently.
class Translator {
public:
  Translator(std::string_view in, bool scriptNames)
      : in(in), scriptNames(scriptNames) {}

  Expected<std::string> run() {
    while (at < in.size()) {
      Status status = in[at] == '\\' ? escape() : plain();
      if (!status)
        return status;
    }
    return std::move(out);
  }

private:
  Status plain() {
    char c = in[at];
    if (inClass)
      return plainInClass(c);
    if (c == '[') {
      inClass = true;
      out += in[at++];
      // A leading ] is a member.
      if (at < in.size() && in[at] == '^')
        out += in[at++];
      if (at < in.size() && in[at] == ']') {
        out += "\\]";
        ++at;
      }
      return Status::ok();
    }
    if (c == '}' && at + 1 < in.size() && in[at + 1] == '+' && isInterval())
      return unsupportedPattern(at, "an interval followed by +");
    if (c == '{')
      intervalStart = at;
    out += c;
    ++at;
    return Status::ok();
  }

  Status plainInClass(char c) {
    if (c == '[' && in.substr(at, 2) != "[:")
      return unsupportedPattern(at, "a character class inside another");
    if (c == '[') {
      size_t end = in.find(":]", at);
      if (end == std::string_view::npos)
        return unsupportedPattern(at, "an unfinished [: :]");
      out.append(in.substr(at, end + 2 - at));
      at = end + 2;
      return Status::ok();
    }
    if (in.substr(at, 2) == "&&")
      return unsupportedPattern(at, "an intersection of character classes");
    if (c == ']')
      inClass = false;
    out += c;
    ++at;
    return Status::ok();
  }

  bool isInterval() const {
    std::string_view digits =
        in.substr(intervalStart + 1, at - intervalStart - 1);
    return !digits.empty() &&
           digits.find_first_not_of("0123456789,") == std::string_view::npos;
  }

  Status escape() {
    if (at + 1 >= in.size())
      return Status(StatusCode::InvalidFile,
                    "the pattern ends with a backslash");
    char c = in[at + 1];
    switch (c) {
    case 's':
      return emit(inClass ? spaceRanges : std::string("[") + spaceRanges + "]");
    case 'S':
      return emit(inClass ? std::string("\\P{Xsp}")
                          : std::string("[^") + spaceRanges + "]");
    case 'w':
      return emit(inClass ? wordSets : std::string("[") + wordSets + "]");
    case 'W':
      if (inClass)
        return unsupportedPattern(at, "\\W in a character class");
      return emit(std::string("[^") + wordSets + "]");
    case 'd':
      return emit("\\p{Nd}");
    case 'D':
      return emit("\\P{Nd}");
    case 'h':
    case 'H':
      return unsupportedPattern(at, "\\h");
    case 'u':
      return unicodeEscape();
    case 'p':
    case 'P':
      return property();
    default:
      out.append(in.substr(at, 2));
      at += 2;
      return Status::ok();
    }
  }

  Status emit(const std::string &text) {
    out += text;
    at += 2;
    return Status::ok();
  }

  /// Parses \uHHHH.
  Status unicodeEscape() {
    std::string_view digits = in.substr(at + 2, 4);
    if (digits.size() != 4 ||
        digits.find_first_not_of("0123456789abcdefABCDEF") !=
            std::string_view::npos)
      return Status(StatusCode::InvalidFile,
                    "\\u needs four hexadecimal digits at byte " +
                        std::to_string(at));
    out += "\\x{" + std::string(digits) + "}";
    at += 6;
    return Status::ok();
  }

  /// \p{Han} is the script; PCRE2 by default uses the script extensions.
  Status property() {
    out.append(in.substr(at, 2));
    at += 2;
    if (at >= in.size() || in[at] != '{')
      return Status::ok();
    size_t end = in.find('}', at);
    if (end == std::string_view::npos)
      return Status(StatusCode::InvalidFile,
                    "unfinished \\p{ at byte " + std::to_string(at));
    std::string_view name = in.substr(at + 1, end - at - 1);
    bool negated = !name.empty() && name[0] == '^';
    std::string_view bare = negated ? name.substr(1) : name;
    bool isScript = scriptNames && bare.size() > 2 && bare != "Any" &&
                    bare.find_first_of("=:&") == std::string_view::npos;
    out += negated ? "{^" : "{";
    out += isScript ? "sc:" : "";
    out.append(bare);
    out += '}';
    at = end + 1;
    return Status::ok();
  }

  std::string_view in;
  bool scriptNames;
  std::string out;
  size_t at = 0;
  size_t intervalStart = 0;
  bool inClass = false;
};

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

std::string errorText(int code) {
  PCRE2_UCHAR buffer[128] = {};
  pcre2_get_error_message(code, buffer, sizeof buffer);
  return reinterpret_cast<const char *>(buffer);
}

Expected<pcre2_code *> compileTranslated(const std::string &pattern) {
  struct ContextDeleter {
    void operator()(pcre2_compile_context *c) const {
      pcre2_compile_context_free(c);
    }
  };
  std::unique_ptr<pcre2_compile_context, ContextDeleter> context(
      pcre2_compile_context_create(nullptr));
  if (!context)
    return Status(StatusCode::ResourceExhausted, "out of memory for a pattern");
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  pcre2_set_parens_nest_limit(context.get(), 100);
  int error = 0;
  size_t offset = 0;
  // Oniguruma's ^ and $ match at every line.
  uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE |
                     PCRE2_NEVER_BACKSLASH_C | PCRE2_USE_OFFSET_LIMIT;
  pcre2_code *code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()),
                    pattern.size(), options, &error, &offset, context.get());
  if (!code)
    return Status(StatusCode::InvalidFile,
                  "the pattern does not compile: " + errorText(error) +
                      " at byte " + std::to_string(offset) + " of '" +
                      printable(pattern) + "'");
  // If just-in-time compilation is not available, pcre2_match interprets.
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
  return code;
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

/// The scratch space of one thread, created once.
struct MatchScratch {
  pcre2_match_context *context = pcre2_match_context_create(nullptr);
  pcre2_match_data *data = pcre2_match_data_create(1, nullptr);
  pcre2_jit_stack *stack =
      pcre2_jit_stack_create(jitStackStart, jitStackMax, nullptr);

  MatchScratch() {
    if (context && stack)
      pcre2_jit_stack_assign(context, nullptr, stack);
    if (context)
      pcre2_set_heap_limit(context, interpreterHeapKiB);
  }
  ~MatchScratch() {
    pcre2_jit_stack_free(stack);
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
  }
  MatchScratch(const MatchScratch &) = delete;
  MatchScratch &operator=(const MatchScratch &) = delete;
};

/// Limits the time of one partition.
class Deadline {
public:
  explicit Deadline(size_t bytes)
      : end(now() + baseSeconds + secondsPerMiB * double(bytes) / (1 << 20)) {}
  /// To be asked after each match. While several fit into a tick of the clock,
  /// only some of them read it, since many matches take less time than that.
  bool hasPassed() {
    if (unread > 0) {
      --unread;
      return false;
    }
    const double time = now();
    unread = time == last ? 7 : 0;
    last = time;
    return time > end;
  }

private:
  /// The clock must be fast; it need not be exact.
  static double now() {
#ifdef CLOCK_MONOTONIC_COARSE
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
#else
    using Clock = std::chrono::steady_clock;
    return std::chrono::duration<double>(Clock::now().time_since_epoch())
        .count();
#endif
  }

  double end, last = 0;
  int unread = 0;
};

size_t nextCharacter(std::string_view text, size_t at) {
  do
    ++at;
  while (at < text.size() && (static_cast<uint8_t>(text[at]) & 0xc0) == 0x80);
  return at;
}

} // namespace

Expected<Regex> Regex::compile(std::string_view pattern) {
  if (pattern.size() > maxPatternBytes)
    return Status(StatusCode::Unsupported, "a pattern of " +
                                               std::to_string(pattern.size()) +
                                               " bytes; the limit is " +
                                               std::to_string(maxPatternBytes));
  Status failure;
  // Names longer than two letters are almost always scripts, otherwise
  // properties.
  for (bool scriptNames : {true, false}) {
    Expected<std::string> translated = Translator(pattern, scriptNames).run();
    if (!translated)
      return translated.takeStatus();
    Expected<pcre2_code *> code = compileTranslated(*translated);
    if (code) {
      Regex regex;
      regex.code = std::shared_ptr<const void>(*code, [](const void *p) {
        pcre2_code_free(static_cast<pcre2_code *>(const_cast<void *>(p)));
      });
      regex.source = std::string(pattern);
      return regex;
    }
    failure = code.takeStatus();
  }
  return failure;
}

Status Regex::partition(std::string_view text,
                        std::vector<TextRange> &ranges) const {
  thread_local MatchScratch scratch;
  if (!scratch.context || !scratch.data)
    return Status(StatusCode::ResourceExhausted,
                  "out of memory while matching a pattern");
  const auto *compiled = static_cast<const pcre2_code *>(code.get());
  auto subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  uint64_t steps =
      std::max<uint64_t>(minMatchSteps, uint64_t(stepsPerByte) * text.size());
  pcre2_set_match_limit(
      scratch.context,
      static_cast<uint32_t>(std::min<uint64_t>(steps, UINT32_MAX)));
  Deadline deadline(text.size());

  size_t last = 0;      // End of the last match.
  size_t from = 0;      // Start of the next search.
  bool matched = false; // Whether there was any match.
  while (from <= text.size()) {
    size_t limit = std::min(text.size(), from + searchWindow);
    pcre2_set_offset_limit(scratch.context, limit);
    int rc = pcre2_match(compiled, subject, text.size(), from,
                         PCRE2_NO_UTF_CHECK, scratch.data, scratch.context);
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT)
      rc = pcre2_match(compiled, subject, text.size(), from,
                       PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, scratch.data,
                       scratch.context);
    if (deadline.hasPassed() || (rc < 0 && rc != PCRE2_ERROR_NOMATCH))
      return Status(StatusCode::OutOfRange,
                    "the tokenizer's pattern '" + printable(source) +
                        "' costs too much on a text of " +
                        std::to_string(text.size()) + " bytes (" +
                        (rc < 0 && rc != PCRE2_ERROR_NOMATCH ? errorText(rc)
                                                             : "time limit") +
                        ")",
                    "shorten the text or use another tokenizer");
    if (rc == PCRE2_ERROR_NOMATCH) {
      if (limit == text.size())
        break;
      from = nextCharacter(text, limit);
      continue;
    }
    const size_t *bounds = pcre2_get_ovector_pointer(scratch.data);
    size_t begin = bounds[0], end = bounds[1];
    // Ignore an empty match directly after a match.
    if (begin == end && begin == last && matched) {
      from = nextCharacter(text, begin);
      continue;
    }
    if (begin < last || end < begin) {
      // \K and look-behind assertions can yield a match before its start.
      return Status(StatusCode::Unsupported,
                    "the pattern '" + printable(source) +
                        "' matches before the position at which it was tried");
    }
    if (begin > last)
      ranges.push_back(
          {static_cast<uint32_t>(last), static_cast<uint32_t>(begin), false});
    ranges.push_back(
        {static_cast<uint32_t>(begin), static_cast<uint32_t>(end), true});
    matched = true;
    last = end;
    from = begin == end ? nextCharacter(text, end) : end;
  }
  if (last < text.size())
    ranges.push_back({static_cast<uint32_t>(last),
                      static_cast<uint32_t>(text.size()), false});
  return Status::ok();
}

} // namespace llmir
