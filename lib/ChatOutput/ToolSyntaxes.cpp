//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which family writes its calls how: from the models' chat templates, and from
// the names that vLLM gives to its parsers.
//
//===----------------------------------------------------------------------===//

#include "Syntax.h"

namespace llmir::chatoutput {

using Role = FieldForm::Role;

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

static const JsonForm json = {""}, jsonInToolCall = {"</tool_call>"},
                      jsonInToolCalls = {"</tool_calls>"},
                      jsonInCapitals = {"</TOOLCALL>"},
                      jsonInLongCat = {"</longcat_tool_call>"},
                      jsonInAction = {"<|END_ACTION|>"},
                      jsonInPlugin = {"<|action_end|>"}, jsonInFence = {"```"};

/// TYPE<sep>NAME, and the arguments in a code block.
static const FieldForm deepSeekV3 = {
    Role::Ignored,
    {{"<｜tool▁sep｜>", Role::Name}, {"```json", Role::Arguments}},
    "<｜tool▁call▁end｜>"};
static const FieldForm deepSeekV31 = {
    Role::Name, {{"<｜tool▁sep｜>", Role::Arguments}}, "<｜tool▁call▁end｜>"};
static const FieldForm kimi = {
    Role::Name,
    {{"<|tool_call_argument_begin|>", Role::Arguments}},
    "<|tool_call_end|>",
    Notation::Json,
    /*braceBeginsArguments=*/false,
    /*idHasName=*/true};
static const FieldForm mistral = {
    Role::Name,
    {{"[CALL_ID]", Role::Id}, {"[ARGS]", Role::Arguments}},
    "",
    Notation::Json,
    /*braceBeginsArguments=*/true};
static const FieldForm solar = {Role::Id,
                                {{"<|tool_call:name|>", Role::Name},
                                 {"<|tool_call:args|>", Role::Arguments}},
                                "<|tool_call:end|>"};
static const FieldForm gemma4 = {Role::Name,
                                 {},
                                 "<tool_call|>",
                                 Notation::Gemma,
                                 /*braceBeginsArguments=*/true};
static const FieldForm functionGemma = {Role::Name,
                                        {},
                                        "<end_function_call>",
                                        Notation::Gemma,
                                        /*braceBeginsArguments=*/true};

static const TagForm qwenCoder = {
    "<function=",  {">"},          "<parameter=",    {">"}, "", "</parameter>",
    "</function>", "</tool_call>", /*hasLines=*/true};
static const TagForm seed = {
    "<function=",     {">"},         "<parameter=",       {">"}, "",
    "</parameter>",   "</function>", "</seed:tool_call>",
    /*hasLines=*/true};
static const TagForm glm = {"",
                            {"\n"},
                            "<arg_key>",
                            {"</arg_key>"},
                            "<arg_value>",
                            "</arg_value>",
                            "</tool_call>",
                            ""};
static const TagForm miniMax = {
    "<invoke name=\"", {"\">"},     "<parameter name=\"",   {"\">"}, "",
    "</parameter>",    "</invoke>", "</minimax:tool_call>",
    /*hasLines=*/true};
static const TagForm deepSeekV32 = {
    "<｜DSML｜invoke name=\"",
    {"\">"},
    "<｜DSML｜parameter name=\"",
    {"\" string=\"true\">", "\" string=\"false\">", "\">"},
    "",
    "</｜DSML｜parameter>",
    "</｜DSML｜invoke>",
    "</｜DSML｜function_calls>"};

static const PythonForm python = {""}, pythonLlama4 = {"<|python_end|>"},
                        pythonLfm = {"<|tool_call_end|>"},
                        pythonOlmo = {"</function_calls>"};

//===----------------------------------------------------------------------===//
// Families
//===----------------------------------------------------------------------===//

static ToolSyntax named(std::string_view name, Markers aliases, Markers begins,
                        Markers templateHas) {
  ToolSyntax syntax;
  syntax.name = name;
  syntax.aliases = std::move(aliases);
  syntax.begins = std::move(begins);
  syntax.templateHas = std::move(templateHas);
  return syntax;
}

static ToolSyntax with(ToolSyntax syntax, const JsonForm &form) {
  syntax.json = &form;
  return syntax;
}
static ToolSyntax with(ToolSyntax syntax, const FieldForm &form,
                       Markers silent = {}) {
  syntax.fields = &form;
  syntax.silent = std::move(silent);
  return syntax;
}
static ToolSyntax with(ToolSyntax syntax, const TagForm &form) {
  syntax.tags = &form;
  return syntax;
}
static ToolSyntax with(ToolSyntax syntax, const PythonForm &form) {
  syntax.python = &form;
  return syntax;
}

static ToolSyntax harmony() {
  ToolSyntax syntax = named("openai", {"gpt-oss", "harmony"}, {},
                            {"<|channel|>", "<|message|>"});
  syntax.isHarmony = true;
  return syntax;
}

static ToolSyntax unmarked(ToolSyntax syntax) {
  syntax.isUnmarked = true;
  return syntax;
}

/// The markers are special tokens, which no reasoning has in its text.
static ToolSyntax endsReasoning(ToolSyntax syntax) {
  syntax.endsReasoning = true;
  return syntax;
}

/// A block may also hold JSON.
static ToolSyntax orJson(ToolSyntax syntax, const JsonForm &form) {
  syntax.json = &form;
  return syntax;
}

static ToolSyntax qwen3Coder() {
  ToolSyntax syntax = named("qwen3_coder", {"qwen3_xml"}, {"<tool_call>"},
                            {"<tool_call>", "<function="});
  syntax.nameBegins = {"<function="};
  return orJson(with(std::move(syntax), qwenCoder), jsonInToolCall);
}

const std::vector<ToolSyntax> &toolSyntaxes() {
  static const std::vector<ToolSyntax> all = {
      harmony(),
      with(named("gemma4", {}, {"<|tool_call>call:"}, {"<|tool_call>call:"}),
           gemma4),
      with(named("functiongemma", {}, {"<start_function_call>call:"},
                 {"<start_function_call>"}),
           functionGemma),
      with(named("deepseek_v32", {}, {"<｜DSML｜function_calls>"},
                 {"｜DSML｜", "function_calls"}),
           deepSeekV32),
      endsReasoning(with(named("deepseek_v3", {}, {"<｜tool▁call▁begin｜>"},
                               {"<｜tool▁calls▁begin｜>", "```json"}),
                         deepSeekV3,
                         {"<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"})),
      endsReasoning(with(named("deepseek_v31", {}, {"<｜tool▁call▁begin｜>"},
                               {"<｜tool▁calls▁begin｜>"}),
                         deepSeekV31,
                         {"<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"})),
      endsReasoning(
          with(named("kimi_k2", {}, {"<|tool_call_begin|>"},
                     {"<|tool_call_argument_begin|>"}),
               kimi,
               {"<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"})),
      endsReasoning(with(named("solar_open", {}, {"<|tool_call:begin|>"},
                               {"<|tool_call:begin|>"}),
                         solar, {"<|tool_calls|>", "<|calls|>"})),
      with(named("minimax_m2", {}, {"<minimax:tool_call>"},
                 {"<minimax:tool_call>"}),
           miniMax),
      with(named("seed_oss", {}, {"<seed:tool_call>"}, {"<seed:tool_call>"}),
           seed),
      qwen3Coder(),
      with(named("glm45", {"glm47"}, {"<tool_call>"},
                 {"<tool_call>", "<arg_key>"}),
           glm),
      with(named("lfm2", {}, {"<|tool_call_start|>"}, {"<|tool_call_start|>"}),
           pythonLfm),
      endsReasoning(
          orJson(with(named("mistral", {}, {"[TOOL_CALLS]"}, {"[TOOL_CALLS]"}),
                      mistral),
                 json)),
      with(named("granite", {}, {"<|tool_call|>", "<tool_call>"},
                 {"<|tool_call|>"}),
           json),
      with(named("nemotron_json", {}, {"<TOOLCALL>"}, {"<TOOLCALL>"}),
           jsonInCapitals),
      with(named("jamba", {"apriel", "hunyuan_a13b"}, {"<tool_calls>"},
                 {"<tool_calls>"}),
           jsonInToolCalls),
      with(named("longcat", {}, {"<longcat_tool_call>"},
                 {"<longcat_tool_call>"}),
           jsonInLongCat),
      with(named("hermes", {"granite4", "qwen25"}, {"<tool_call>"},
                 {"<tool_call>"}),
           jsonInToolCall),
      with(named("phi4_mini_json", {"phi4", "functools"}, {"functools"},
                 {"functools"}),
           json),
      with(
          named("internlm", {}, {"<|action_start|><|plugin|>"}, {"<|plugin|>"}),
          jsonInPlugin),
      with(named("command_r7b", {}, {"<|START_ACTION|>"}, {"<|START_ACTION|>"}),
           jsonInAction),
      with(named("command_r", {}, {"Action:\n```json", "Action: ```json"},
                 {"Action:", "```json"}),
           jsonInFence),
      with(named("gigachat3", {},
                 {"function call<|role_sep|>", "<|function_call|>"},
                 {"'role': 'function call'"}),
           json),
      with(named("olmo3", {}, {"<function_calls>"}, {"<function_calls>"}),
           pythonOlmo),
      unmarked(with(named("llama4_pythonic", {}, {"<|python_start|>"},
                          {"<|header_start|>"}),
                    pythonLlama4)),
      unmarked(with(named("llama3_json", {"llama4_json"}, {"<|python_tag|>"},
                          {"Environment: ipython"}),
                    json)),
      unmarked(with(named("pythonic", {}, {}, {}), python)),
  };
  return all;
}

} // namespace llmir::chatoutput
