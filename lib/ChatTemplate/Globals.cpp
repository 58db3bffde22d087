//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions that every template can call.
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <ctime>
#include <sys/time.h>

namespace llmir::chat {

/// The sandbox's limit for ranges.
constexpr int64_t kMaxRange = 100'000;

/// Bounds of ranges, so that no element overflows.
constexpr int64_t kMaxBound = int64_t(1) << 53;

static Value range(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("range", arguments, {"", "", ""}, 1);
  int64_t start = bound.has(1) ? bound.integer(0) : 0;
  int64_t stop = bound.has(1) ? bound.integer(1) : bound.integer(0);
  int64_t step = bound.integerOr(2, 1);
  if (step == 0)
    raise(ErrorKind::Value, "range() arg 3 must not be zero");
  for (int64_t value : {start, stop, step})
    if (value > kMaxBound || value < -kMaxBound)
      raise(ErrorKind::Overflow, "the bounds of a range are too large");
  int64_t size = 0;
  if (step > 0 && start < stop)
    size = (stop - start - 1) / step + 1;
  else if (step < 0 && stop < start)
    size = (start - stop - 1) / -step + 1;
  if (size > kMaxRange)
    raise(ErrorKind::Overflow,
          "Range too big. The sandbox blocks ranges larger than " +
              std::to_string(kMaxRange) + ".");
  return interpreter.heap.make<Range>(0, start, stop, step, size);
}

/// dict(…): of a mapping or of pairs, and of keywords.
static Value dict(Interpreter &interpreter, CallArguments &arguments) {
  Heap &heap = interpreter.heap;
  Value result = heap.make<Dict>(0);
  Dict &entries = result.as<Dict>();
  if (arguments.positional.size() > 1)
    raise(ErrorKind::Type, "dict expected at most 1 argument");
  if (!arguments.positional.empty()) {
    const Value &source = arguments.positional[0];
    if (source.isUndefined())
      failUndefined(source);
    if (source.is(Kind::Dict)) {
      for (const auto &[key, value] : source.as<Dict>().entries)
        dictSet(heap, entries, key, value);
    } else {
      Cursor cursor(heap, source);
      for (Value item; cursor.next(item);) {
        Values pair = collect(heap, item);
        if (pair.size() != 2)
          raise(ErrorKind::Value,
                "dictionary update sequence element has length " +
                    std::to_string(pair.size()) + "; 2 is required");
        dictSet(heap, entries, pair[0], pair[1]);
      }
    }
  }
  for (const auto &[name, value] : arguments.keywords)
    dictSet(heap, entries, makeStr(heap, name), value);
  return result;
}

static Value makeNamespace(Interpreter &interpreter, CallArguments &arguments) {
  return interpreter.heap.make<Namespace>(0, dict(interpreter, arguments));
}

static Value makeCycler(Interpreter &interpreter, CallArguments &arguments) {
  if (arguments.positional.empty() || !arguments.keywords.empty())
    raise(ErrorKind::Runtime, "at least one item has to be provided");
  return interpreter.heap.make<Cycler>(
      0, makeTuple(interpreter.heap, arguments.positional));
}

static Value makeJoiner(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("joiner", arguments, {"sep"}, 0);
  return interpreter.heap.make<Joiner>(
      0, bound.valueOr(0, makeStr(interpreter.heap, ", ")));
}

static Value raiseException(Interpreter &interpreter,
                            CallArguments &arguments) {
  Bound bound("raise_exception", arguments, {"message"}, 1);
  raise(ErrorKind::Runtime, toText(interpreter.heap, bound[0]));
}

static Value lipsum(Interpreter &, CallArguments &) {
  raise(ErrorKind::Unsupported, "lipsum() is not supported");
}

//===----------------------------------------------------------------------===//
// The clock
//===----------------------------------------------------------------------===//

/// The time and microseconds: SOURCE_DATE_EPOCH, in UTC, or now, in local time.
static std::tm currentTime(long &microseconds) {
  std::tm result = {};
  if (const char *fixed = std::getenv("SOURCE_DATE_EPOCH"); fixed && *fixed) {
    char *end = nullptr;
    errno = 0;
    long long seconds = std::strtoll(fixed, &end, 10);
    auto time = static_cast<std::time_t>(seconds);
    if (*end || errno || !gmtime_r(&time, &result))
      raise(ErrorKind::Value, "SOURCE_DATE_EPOCH is '" + std::string(fixed) +
                                  "'; expected seconds since 1970");
    microseconds = 0;
    return result;
  }
  timeval now = {};
  gettimeofday(&now, nullptr);
  localtime_r(&now.tv_sec, &result);
  microseconds = now.tv_usec;
  return result;
}

/// Replaces what Python replaces itself: a time without zone has none to show.
static std::string expandFormat(const std::string &format, long microseconds) {
  std::string result;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 == format.size()) {
      result += format[i];
      continue;
    }
    char letter = format[++i];
    if (letter == 'f') {
      std::string digits = std::to_string(microseconds);
      result += std::string(6 - digits.size(), '0') + digits;
    } else if (letter != 'z' && letter != 'Z') {
      (result += '%') += letter;
    }
  }
  return result;
}

static Value strftimeNow(Interpreter &interpreter, CallArguments &arguments) {
  Bound bound("strftime_now", arguments, {"format"}, 1);
  if (bound.text(0).size() > 4096)
    raise(ErrorKind::Limit, "the format of a time is too long");
  interpreter.heap.step(100 + bound.text(0).size() * 16);
  long microseconds = 0;
  std::tm time = currentTime(microseconds);
  std::string format = expandFormat(bound.text(0), microseconds);
  if (format.empty())
    return makeStr(interpreter.heap, "");
  // As in Python, a format whose text is 256 times as long has no text.
  std::string text(format.size() * 256 + 1024, '\0');
  text.resize(std::strftime(text.data(), text.size(), format.c_str(), &time));
  return makeStr(interpreter.heap, std::move(text));
}

void Interpreter::defineGlobals(Context &globals) {
  constexpr std::pair<const char *, Builtin> functions[] = {
      {"range", range},
      {"dict", dict},
      {"lipsum", lipsum},
      {"cycler", makeCycler},
      {"joiner", makeJoiner},
      {"namespace", makeNamespace},
      {"raise_exception", raiseException},
      {"strftime_now", strftimeNow},
  };
  for (auto [name, function] : functions)
    globals.variables[name] = heap.make<Function>(0, name, function);
}

} // namespace llmir::chat
