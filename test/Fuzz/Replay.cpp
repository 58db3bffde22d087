//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llmir-replay: the targets of the fuzzer without the fuzzer.
//
//   llmir-replay                 the names of the targets
//   llmir-replay TARGET|all N    runs the seeds and N damaged ones
//   llmir-replay TARGET FILE...  runs the files
//   llmir-replay TARGET --seeds DIRECTORY
//                                writes the seeds, and beside the directory,
//                                as DIRECTORY.dict, the words in them
//
//===----------------------------------------------------------------------===//

#include "../Mutate.h"
#include "../ProcessorTime.h"
#include "Target.h"

#include "llmir/Support/MappedFile.h"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

using namespace llmir;
using namespace llmir::fuzz;

/// Runs the target on the input, which is in `crash` when it does not return.
static double run(const Target &target, std::string_view input) {
  write("crash", input);
  const double start = test::cpuSeconds();
  target.run(input);
  const double seconds = test::cpuSeconds() - start;
  expect(seconds < test::timeLimit, "an input takes less than its time");
  return seconds;
}

static bool isOfWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' ||
         c == '-';
}

/// The words of the seeds, and values that are seldom valid in place of others.
static std::vector<std::string> wordsOf(const std::vector<std::string> &seeds) {
  std::set<std::string> words = {
      "null", "true", "0",   "-1", "1e999", "9007199254740993", "[]",
      "{}",   "\"\"", "[1]", "",   "1.5",   "[null]",           "{\"a\":1}"};
  for (const std::string &seed : seeds)
    for (size_t at = 0; at < seed.size();) {
      size_t end = at;
      while (end < seed.size() && isOfWord(seed[end]))
        ++end;
      if (end > at && end - at <= 48)
        words.insert(seed.substr(at, end - at));
      at = end + 1;
    }
  return {words.begin(), words.end()};
}

/// Puts other words in place of some, with or without the quotes around them.
static std::string exchangeWords(std::string bytes,
                                 const std::vector<std::string> &words,
                                 std::mt19937 &random) {
  for (size_t times = 1 + random() % 2; times > 0 && !bytes.empty(); --times) {
    size_t begin = random() % bytes.size();
    while (begin < bytes.size() && !isOfWord(bytes[begin]))
      ++begin;
    while (begin > 0 && isOfWord(bytes[begin - 1]))
      --begin;
    size_t end = begin;
    while (end < bytes.size() && isOfWord(bytes[end]))
      ++end;
    const bool isQuoted = begin > 0 && end < bytes.size() &&
                          bytes[begin - 1] == '"' && bytes[end] == '"';
    if (isQuoted && random() % 2) {
      --begin;
      ++end;
    }
    bytes.replace(begin, end - begin, words[random() % words.size()]);
  }
  return bytes;
}

static void replay(const Target &target, int damaged) {
  std::mt19937 random(1);
  const std::vector<std::string> seeds = target.seeds();
  const std::vector<std::string> words = wordsOf(seeds);
  double slowest = 0;
  for (const std::string &seed : seeds) {
    expect(seed.size() < (64u << 10), "seeds are small");
    slowest = std::max(slowest, run(target, seed));
  }
  for (int i = 0; i < damaged; ++i) {
    const std::string &seed = seeds[static_cast<size_t>(i) % seeds.size()];
    std::string input;
    if (random() % 2 == 0)
      input = test::mutate(seed, seed.size(), random);
    else if (target.change)
      input = target.change(seed, static_cast<unsigned>(random()));
    else
      input = exchangeWords(seed, words, random);
    slowest = std::max(slowest, run(target, input));
  }
  std::printf("%s: %zu seeds, %d damaged, at most %.3f s\n", target.name,
              seeds.size(), damaged, slowest);
  std::fflush(stdout);
}

/// The words of the seeds, which libFuzzer inserts.
static void writeDictionary(const std::vector<std::string> &seeds,
                            const std::string &path) {
  auto isLetter = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
  };
  std::set<std::string> words;
  for (const std::string &seed : seeds)
    for (size_t at = 0; at < seed.size();) {
      size_t end = at;
      while (end < seed.size() && isLetter(seed[end]))
        ++end;
      if (end - at >= 3 && end - at <= 48)
        words.insert(seed.substr(at, end - at));
      at = end + 1;
    }
  std::ofstream stream(path);
  for (const std::string &word : words)
    stream << '"' << word << "\"\n";
}

static int writeSeeds(const Target &target, const std::string &folder) {
  std::filesystem::create_directories(folder);
  const std::vector<std::string> seeds = target.seeds();
  for (size_t i = 0; i < seeds.size(); ++i)
    std::ofstream(folder + "/seed-" + std::to_string(i), std::ios::binary)
        << seeds[i];
  writeDictionary(seeds, folder + ".dict");
  return 0;
}

int main(int count, char **arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  if (words.empty()) {
    for (const Target &target : targets())
      std::printf("%-18s %s\n", target.name, target.input);
    return 0;
  }
  const Target *target = findTarget(words[0]);
  if (!target && words[0] != "all") {
    std::fprintf(stderr, "llmir-replay: no target '%s'\n", words[0].c_str());
    return 2;
  }
  if (words.size() == 3 && words[1] == "--seeds" && target)
    return writeSeeds(*target, words[2]);
  if (words.size() == 2 &&
      words[1].find_first_not_of("0123456789") == std::string::npos) {
    for (const Target &each : targets())
      if (!target || target == &each)
        replay(each, std::atoi(words[1].c_str()));
    return 0;
  }
  for (size_t i = 1; target && i < words.size(); ++i) {
    Expected<MappedFile> file = MappedFile::open(words[i]);
    if (!file) {
      std::fprintf(stderr, "llmir-replay: %s\n",
                   file.status().message().c_str());
      return 1;
    }
    std::printf("%s: %.3f s\n", words[i].c_str(), run(*target, file->text()));
  }
  return 0;
}
