//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The `llmir` command. It links only the small libraries; the compiler is
// loaded when a MODEL is not an artifact.
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "Console.h"

#include <exception>
#include <new>

int main(int argc, char **argv) {
  using namespace llmir;
  try {
    cli::CommandLine line;
    cli::addPullCommand(line);
    cli::addRunCommand(line);
    cli::addServeCommand(line);
    cli::addBatchCommand(line);
    cli::addCompileCommand(line);
    cli::addEmbedCommand(line);
    cli::addTokenizeCommand(line);
    cli::addInspectCommand(line);
    cli::addExportCommand(line);
    cli::addConvertCommand(line);
    cli::addDoctorCommand(line);
    cli::addPerplexityCommand(line);
    cli::addChatCommand(line);
    cli::addBenchCommand(line);
    cli::addCacheCommand(line);
    return line.run(argc, argv);
  } catch (const std::bad_alloc &) {
    cli::printFailure(Status(StatusCode::ResourceExhausted, "not enough memory",
                             "close other programs or use a smaller model"));
    return 1;
  } catch (const std::exception &error) {
    cli::printFailure(Status(StatusCode::Internal, error.what()));
    return 1;
  }
}
