//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Errno.h"

#include <cerrno>
#include <system_error>

namespace llmir {

static StatusCode codeOf(int error) {
  switch (error) {
  case ENOENT:
  case ENOTDIR:
    return StatusCode::NotFound;
  case ENOSPC:
  case EDQUOT:
  case EFBIG:
  case ENOMEM:
  case EMFILE:
  case ENFILE:
    return StatusCode::ResourceExhausted;
  case ENAMETOOLONG:
  case ELOOP:
    return StatusCode::InvalidArgument;
  default:
    return StatusCode::IoError;
  }
}

static const char *adviceFor(int error) {
  switch (error) {
  case ENOENT:
  case ENOTDIR:
    return "check the path";
  case EACCES:
  case EPERM:
    return "check the permissions of the file and its directory";
  case EROFS:
    return "the file system is read-only: choose another place";
  case ENOSPC:
  case EDQUOT:
    return "free some space, or choose another place";
  case EFBIG:
    return "the file system or a limit (ulimit -f) allows no larger file";
  case ENOMEM:
    return "free some memory, or raise the limit on address space (ulimit -v)";
  case EMFILE:
  case ENFILE:
    return "raise the limit on open files (ulimit -n)";
  default:
    return "";
  }
}

Status systemError(int error, const std::string &what,
                   const std::string &path) {
  return Status(codeOf(error),
                what + " '" + path +
                    "': " + std::generic_category().message(error),
                adviceFor(error));
}

} // namespace llmir
