//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One compilation: a model carried from stage to stage. llmirCompile() of
// llmir-c/Compiler.h is a thin wrapper around it.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DRIVER_COMPILATION_H
#define LLMIR_DRIVER_COMPILATION_H

#include "llmir/Artifact/ArtifactInfo.h"
#include "llmir/Checkpoint/Checkpoint.h"
#include "llmir/Codegen/CPULevel.h"
#include "llmir/Dialect/MLLM/Transforms/QuantizationRecipe.h"
#include "llmir/Driver/Stages.h"
#include "llmir/Packing/PackWeights.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir {
class PassManager;
}

namespace llmir {

class Artifact;
class TaskPool;

/// What to compile and to what.
struct CompilationOptions {
  /// Hugging Face folder or GGUF file; with `program` the artifact whose
  /// weights, cache, limits and tokenizer the program uses.
  std::string model;
  /// The text of a program to begin with, instead of a checkpoint; then
  /// quantization, KV type, context and budget are those of the artifact.
  std::string program;
  std::string output;              ///< The .llmir file; empty with form.
  std::string target = "native";   ///< As targetsFromNames() reads it.
  mllm::QuantizationRecipe recipe; ///< How weights are quantized; empty: not.
  std::string kv = "auto";         ///< "auto", "f32", "f16", "bf16".
  int64_t contextLength = 0;       ///< 0 = the model's own.
  int64_t tokenBudget = 512;
  int64_t maxLogitRows = 64;
  /// Tokens in a block of the KV cache: those that attention takes at once, so
  /// that it reads the cache in the order in which it lies.
  int64_t kvBlockSize = 64;
  std::optional<Form> form; ///< Written instead of an artifact …
  std::string formOutput;   ///< … to this file; empty or "-" = stdout.
  std::optional<Stage> stopAfter;
  /// Gets a sentence and the share done, from 0 to 1; may be empty.
  std::function<void(const char *, double)> progress;
};

class Compilation {
public:
  explicit Compilation(CompilationOptions options);
  ~Compilation();

  /// Fails (InvalidArgument) where an option cannot be, whatever the model is.
  /// run() begins with it.
  Status checkOptions();
  /// Runs the stages up to the artifact, the form or stopAfter. `report` says
  /// what was reached, one line per stage.
  Status run(std::string &report);

private:
  Status runStage(Stage stage);
  Status readCheckpoint();
  Status trace();
  Status applyRecipe();
  Status lowerToStep();
  Status optimize();
  Status lower();
  Status generateCode();
  Status writeArtifact();
  Status writeWeights(ArtifactWriter &writer) const;

  // The same from a program's text (ProgramInput.cpp).
  bool fromProgram() const { return !options.program.empty(); }
  Status readBase();
  Status parseProgramFile();
  Status checkProgram();

  void resolveKVFormat();
  /// Runs a pipeline; a failure carries the first diagnostic.
  Status runPasses(const std::function<void(mlir::PassManager &)> &build);
  Status runPasses(mlir::ModuleOp module,
                   const std::function<void(mlir::PassManager &)> &build);
  /// Notes of the stage for the report.
  void note(const std::string &text) { notes = text; }
  bool wants(Form form) const { return options.form == form; }
  Status writeForm(const std::string &bytes) const;
  std::string moduleText();

  /// Reads the weights' places and the arena's size from the program.
  void readProgram();
  /// The info of the artifact under way; needs what lower() finds.
  ArtifactInfo makeInfo() const;
  ArtifactInfo infoOfCheckpoint() const;
  /// Bytes of the weights that the program reads, from their begin.
  int64_t weightBytes() const;
  Status checkFormHasOneLevel() const;
  /// Makes code of kernels that are lowered for the level: an image with the
  /// note (CodeNote.h) in `images`, or the form that is asked for.
  Status generateCode(mlir::ModuleOp kernels, const CPULevel &level,
                      const std::vector<uint8_t> &note);
  /// Fills `tokenizer`.
  Status readTokenizer();

  CompilationOptions options;
  std::vector<const CPULevel *> levels; ///< One image for each.
  KVFormat kvFormat = KVFormat::F32;
  std::optional<Checkpoint> checkpoint;
  std::shared_ptr<const Artifact> base; ///< With a program: whose weights.
  std::vector<uint8_t> tokenizer; ///< As stored; empty: the model has none.
  std::unique_ptr<TaskPool> pool; ///< Of the context, which goes first.
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string programText;
  std::vector<PackJob> jobs;
  std::vector<StepSite> sites;
  int64_t arenaBytes = 0, workerBytes = 0, logitsRowStride = 0;
  /// The kernels of each level, and their images.
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> lowered;
  std::vector<std::vector<uint8_t>> images;
  uint64_t imageBytes = 0; ///< Of all images.
  std::string notes;
};

} // namespace llmir

#endif // LLMIR_DRIVER_COMPILATION_H
