//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Error handling outside the compiler: a status code, one line of cause, one
// line of advice. No exception leaves a library.
//
//   Expected<Checkpoint> ckpt = Checkpoint::open(path);
//   if (!ckpt)
//     return ckpt.takeStatus();
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_STATUS_H
#define LLMIR_SUPPORT_STATUS_H

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace llmir {

/// The kind of failure; statusCodeName gives stable names for programs.
enum class StatusCode {
  Ok,
  InvalidArgument,       ///< A flag or parameter is wrong.
  NotFound,              ///< A file, tensor or key is missing.
  InvalidFile,           ///< A file's content breaks its format.
  Unsupported,           ///< Well-formed, but not something LLMIR can do.
  OutOfRange,            ///< A limit was exceeded (a budget, a size).
  ContextLengthExceeded, ///< A prompt is longer than the context.
  ResourceExhausted,     ///< Out of memory, disk space or KV blocks.
  IncompatibleTarget,    ///< An artifact for another CPU or version.
  IoError,               ///< The operating system reported an error.
  Internal,              ///< A bug in LLMIR.
};

/// The code's stable name, for example "invalid_file".
const char *statusCodeName(StatusCode code);

/// Success, or a code with a cause and advice. Cheap to move.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode code, std::string cause, std::string advice = {})
      : errorCode(code), causeText(std::move(cause)),
        adviceText(std::move(advice)) {
    assert(code != StatusCode::Ok && "a failure needs a failing code");
  }

  static Status ok() { return Status(); }
  bool isOk() const { return errorCode == StatusCode::Ok; }
  explicit operator bool() const { return isOk(); }

  StatusCode code() const { return errorCode; }
  /// What is wrong, naming the file and the field; no trailing newline.
  const std::string &cause() const { return causeText; }
  /// What the user can do; may be empty.
  const std::string &advice() const { return adviceText; }
  /// "cause; advice" on one line.
  std::string message() const;

  /// The same failure with "context: " before the cause.
  Status withContext(const std::string &context) &&;

private:
  StatusCode errorCode = StatusCode::Ok;
  std::string causeText;
  std::string adviceText;
};

/// A value, or the Status explaining why there is none.
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : storage(std::move(value)) {}
  Expected(Status status) : failure(std::move(status)) {
    assert(!failure.isOk() && "an Expected without value needs a failure");
  }

  explicit operator bool() const { return storage.has_value(); }
  T &operator*() { return *storage; }
  const T &operator*() const { return *storage; }
  T *operator->() { return &*storage; }
  const T *operator->() const { return &*storage; }

  const Status &status() const { return failure; }
  Status takeStatus() { return std::move(failure); }

private:
  std::optional<T> storage;
  Status failure;
};

/// Returns from the enclosing function if `expr` (a Status) is a failure.
#define LLMIR_RETURN_IF_ERROR(expr)                                            \
  do {                                                                         \
    if (::llmir::Status llmirStatus = (expr); !llmirStatus.isOk())             \
      return llmirStatus;                                                      \
  } while (false)

} // namespace llmir

#endif // LLMIR_SUPPORT_STATUS_H
