//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads one JSON object {"text": …} per line and writes the result of the
// tokenizer of a directory makes of it: for comparing with other
// implementations (differential.mjs).
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/Json.h"
#include "llmir/Tokenizer/Tokenizer.h"

#include <algorithm>
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

int main(int argc, char **argv) {
  if (argc != 2) {
    std::cerr << "usage: llmir-tokenizer-probe DIR\n";
    return 2;
  }
  Expected<Tokenizer> tokenizer = Tokenizer::fromFolder(argv[1]);
  if (!tokenizer) {
    std::cerr << tokenizer.status().message() << '\n';
    return 1;
  }
  for (std::string line; std::getline(std::cin, line);) {
    Expected<Json> result = describe(*tokenizer, line);
    if (!result) {
      std::cerr << result.status().message() << '\n';
      return 1;
    }
    std::cout << result->dump() << '\n';
  }
  return 0;
}
