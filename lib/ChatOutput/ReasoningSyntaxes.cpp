//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which family writes its reasoning how.
//
//===----------------------------------------------------------------------===//

#include "Syntax.h"

namespace llmir::chatoutput {

static ReasoningSyntax between(std::string_view name, Markers aliases,
                               std::string_view begin, std::string_view end,
                               Markers templateHas, Markers silent = {}) {
  ReasoningSyntax syntax;
  syntax.name = name;
  syntax.aliases = std::move(aliases);
  syntax.begin = begin;
  syntax.end = end;
  syntax.templateHas = std::move(templateHas);
  syntax.silent = std::move(silent);
  return syntax;
}

static ReasoningSyntax harmony() {
  ReasoningSyntax syntax;
  syntax.name = "openai_gptoss";
  syntax.aliases = {"openai", "gpt-oss", "harmony"};
  syntax.templateHas = {"<|channel|>", "<|message|>"};
  syntax.isHarmony = true;
  return syntax;
}

/// Granite 3.2 writes sentences, Granite 3.3 tags.
static ReasoningSyntax granite() {
  ReasoningSyntax syntax = between("granite", {}, "<think>", "</think>",
                                   {"<think></think>", "<response></response>"},
                                   {"<response>", "</response>"});
  syntax.otherBegins = {"Here is my thought process:",
                        "Here's my thought process:"};
  syntax.otherEnds = {"Here is my response:", "Here's my response:"};
  return syntax;
}

/// The templates do not begin the reasoning, the models always do.
static ReasoningSyntax deepSeekR1() {
  ReasoningSyntax syntax =
      between("deepseek_r1", {"step3"}, "<think>", "</think>", {});
  syntax.isOpenAtStart = true;
  return syntax;
}

const std::vector<ReasoningSyntax> &reasoningSyntaxes() {
  static const std::vector<ReasoningSyntax> all = {
      harmony(),
      between("gemma4", {}, "<|channel>thought", "<channel|>", {"<|channel>"}),
      between("mistral", {}, "[THINK]", "[/THINK]", {"[THINK]"}),
      between("seed_oss", {}, "<seed:think>", "</seed:think>", {"seed:think>"}),
      between("command_r7b", {}, "<|START_THINKING|>", "<|END_THINKING|>",
              {"<|START_THINKING|>"},
              {"<|START_RESPONSE|>", "<|END_RESPONSE|>"}),
      between("solar_open", {}, "<|think|>", "<|end|>",
              {"<|think|>", "<|begin|>"},
              {"<|begin|>assistant", "<|content|>", "<|end|>"}),
      between("apriel", {},
              "Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]",
              {"[BEGIN FINAL RESPONSE]"}, {"[END FINAL RESPONSE]"}),
      granite(),
      between("hunyuan_a13b", {}, "<think>", "</think>",
              {"<think>", "<answer>"}, {"<answer>", "</answer>"}),
      between("qwen3",
              {"glm45", "kimi_k2", "deepseek_v3", "ernie45", "olmo3",
               "minimax_m2", "nemotron_v3", "lfm2"},
              "<think>", "</think>", {"think>"}),
      deepSeekR1(),
  };
  return all;
}

} // namespace llmir::chatoutput
