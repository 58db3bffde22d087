//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads one JSON object {"text": …} per line and writes the result of the
// tokenizer of a directory, to compare it with other implementations
// (differential.mjs).
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/Json.h"
#include "llmir/Support/MappedFile.h"
#include "llmir/Tokenizer/Tokenizer.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <iostream>

using namespace llmir;

static Expected<Json> describe(const Tokenizer &tokenizer,
                               const std::string &line) {
  Expected<Json> input = parseJson(line, "stdin");
  if (!input)
    return input.takeStatus();
  Expected<std::string> text = JsonReader(*input, "stdin").string("text");
  if (!text)
    return text.takeStatus();
  EncodeOptions plainOptions;
  plainOptions.addSpecialTokens = false;
  Expected<std::vector<int32_t>> ids = tokenizer.encode(*text);
  if (!ids)
    return ids.takeStatus();
  Expected<std::vector<int32_t>> plain = tokenizer.encode(*text, plainOptions);
  if (!plain)
    return plain.takeStatus();
  std::vector<int32_t> reversed(plain->rbegin(), plain->rend());
  return Json{{"ids", *ids},
              {"plain", *plain},
              {"decoded", tokenizer.decode(*plain)},
              {"skipped", tokenizer.decode(*ids, true)},
              {"reversed", tokenizer.decode(reversed)}};
}

/// Encodes a file again and again for a while; the fastest run counts.
static Expected<Json> measure(const Tokenizer &tokenizer,
                              const std::string &path, double seconds) {
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.takeStatus();
  // Of the processor, since other programs may be running.
  auto now = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
  const double start = now();
  double best = 0;
  size_t count = 0;
  for (int run = 0; run < 2 || now() - start < seconds; ++run) {
    const double begin = now();
    Expected<std::vector<int32_t>> ids = tokenizer.encode(file->text());
    const double taken = now() - begin;
    if (!ids)
      return ids.takeStatus();
    best = run == 0 ? taken : std::min(best, taken);
    count = ids->size();
  }
  return Json{
      {"bytes", file->text().size()}, {"ids", count}, {"seconds", best}};
}

static int fail(const Status &status) {
  std::cerr << status.message() << '\n';
  return 1;
}

int main(int argc, char **argv) {
  const bool measures = argc == 5 && std::string(argv[2]) == "--time";
  if (argc != 2 && !measures) {
    std::cerr << "usage: llmir-tokenizer-probe DIR [--time FILE SECONDS]\n";
    return 2;
  }
  Expected<Tokenizer> tokenizer = Tokenizer::fromFolder(argv[1]);
  if (!tokenizer)
    return fail(tokenizer.status());
  if (measures) {
    Expected<Json> result =
        measure(*tokenizer, argv[3], std::strtod(argv[4], nullptr));
    if (!result)
      return fail(result.status());
    std::cout << result->dump() << '\n';
    return 0;
  }
  for (std::string line; std::getline(std::cin, line);) {
    Expected<Json> result = describe(*tokenizer, line);
    if (!result)
      return fail(result.status());
    std::cout << result->dump() << '\n';
  }
  return 0;
}
