//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lines of a server's log.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SERVER_LOGLINE_H
#define LLMIR_SERVER_LOGLINE_H

#include "llmir/Server/HttpExchange.h"

#include <ctime>
#include <string>

namespace llmir {

enum class LogFormat { Text, Json };

/// One line, with its end, about a request. Control characters and invalid
/// UTF-8 of the client are escaped.
std::string logLine(const HttpLogEntry &entry, LogFormat format,
                    std::time_t now);

/// One line about the server itself.
std::string logLine(const std::string &message, LogFormat format,
                    std::time_t now);

} // namespace llmir

#endif // LLMIR_SERVER_LOGLINE_H
