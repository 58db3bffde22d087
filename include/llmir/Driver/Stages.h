//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The stages and forms of Stages.def as enums with names.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DRIVER_STAGES_H
#define LLMIR_DRIVER_STAGES_H

#include <optional>
#include <string>
#include <string_view>

namespace llmir {

enum class Stage {
#define LLMIR_STAGE(Enum, name, doc) Enum,
#include "llmir/Driver/Stages.def"
};

/// A form of the model that `--emit` writes.
enum class Form {
#define LLMIR_FORM(Enum, name, stage, doc) Enum,
#include "llmir/Driver/Stages.def"
};

const char *stageName(Stage stage);
/// A description of the stage: not capitalized, without a period.
const char *stageSentence(Stage stage);
std::optional<Stage> stageFromName(std::string_view name);
/// "checkpoint, frontend, …", for messages.
std::string allStageNames();

std::optional<Form> formFromName(std::string_view name);
/// The stage that produces the form.
Stage stageOfForm(Form form);
std::string allFormNames();

} // namespace llmir

#endif // LLMIR_DRIVER_STAGES_H
