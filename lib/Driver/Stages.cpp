//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Driver/Stages.h"

namespace llmir {

namespace {
struct StageRow {
  Stage stage;
  const char *name, *sentence;
};
struct FormRow {
  Form form;
  const char *name;
  Stage stage;
};
} // namespace

static constexpr StageRow stageTable[] = {
#define LLMIR_STAGE(Enum, name, doc) {Stage::Enum, name, doc},
#include "llmir/Driver/Stages.def"
};

static constexpr FormRow formTable[] = {
#define LLMIR_FORM(Enum, name, stage, doc) {Form::Enum, name, Stage::stage},
#include "llmir/Driver/Stages.def"
};

const char *stageName(Stage stage) {
  return stageTable[static_cast<int>(stage)].name;
}

const char *stageSentence(Stage stage) {
  return stageTable[static_cast<int>(stage)].sentence;
}

std::optional<Stage> stageFromName(std::string_view name) {
  for (const StageRow &row : stageTable)
    if (row.name == name)
      return row.stage;
  return std::nullopt;
}

std::optional<Form> formFromName(std::string_view name) {
  for (const FormRow &row : formTable)
    if (row.name == name)
      return row.form;
  return std::nullopt;
}

Stage stageOfForm(Form form) { return formTable[static_cast<int>(form)].stage; }

/// The names of a table's rows, separated by commas.
template <typename Table> static std::string joinNames(const Table &table) {
  std::string names;
  for (const auto &row : table)
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

std::string allStageNames() { return joinNames(stageTable); }
std::string allFormNames() { return joinNames(formTable); }

} // namespace llmir
