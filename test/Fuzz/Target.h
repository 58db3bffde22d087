//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Readers of files and requests that are not trusted, as functions of bytes.
// The fuzzer (llmir-fuzz, with -DLLMIR_FUZZ=ON) and the replay of seeds
// (llmir-replay) share them.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_FUZZ_TARGET_H
#define LLMIR_TEST_FUZZ_TARGET_H

#include <string>
#include <string_view>
#include <vector>

namespace llmir {
class Status;
class Tokenizer;
namespace test {
struct GGUFImage;
}
} // namespace llmir

namespace llmir::fuzz {

struct Target {
  const char *name;
  /// What the input is.
  const char *input;
  /// Reads the input as the programs do. Any status is right; a crash, a report
  /// of a sanitizer or an expect() that does not hold is a finding.
  void (*run)(std::string_view input);
  /// Valid inputs, of a few KB at most.
  std::vector<std::string> (*seeds)();
  /// A seed after a change that suits its form, by a random number; null: words
  /// are exchanged.
  std::string (*change)(const std::string &seed, unsigned number) = nullptr;
};

/// Seeds that are made from lists of names.
std::vector<std::string> familyConfigs();
std::vector<std::string> architectureFiles(const test::GGUFImage &llama);
std::vector<std::string> templatesOfAllNames();
std::vector<std::string> tokenizersOfAllStages();
/// A token for each of some characters; its vocabulary is that of handmade
/// models.
Tokenizer smallTokenizer();
/// The characters that a tokenizer.model replaces.
std::string smallCharsmap();

std::vector<Target> checkpointTargets();
std::vector<Target> folderTargets();
std::vector<Target> tokenizerTargets();
std::vector<Target> artifactTargets();
std::vector<Target> textTargets();
std::vector<Target> chatOutputTargets();
std::vector<Target> constraintTargets();
std::vector<Target> clientTargets();
std::vector<Target> serverTargets();
std::vector<Target> requestLineTargets();
/// In builds with the compiler.
std::vector<Target> programTargets();

/// All targets, in the order of the documentation.
const std::vector<Target> &targets();
/// Null if there is no target of this name.
const Target *findTarget(std::string_view name);

/// Aborts with the words unless the condition holds.
void expect(bool condition, const char *words);

/// A failure is told in one line, which is not empty.
void checkStatus(const Status &status);

/// The path of a file with these contents, in a directory of this process that
/// is removed at its end. The next file of this name replaces it.
std::string write(const std::string &name, std::string_view contents);

} // namespace llmir::fuzz

#endif // LLMIR_TEST_FUZZ_TARGET_H
