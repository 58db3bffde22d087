//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles a model stage by stage. llmirCompile() of llmir-c/Compiler.h is a
// thin wrapper.
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

/// The input, the output and the options of a compilation.
struct CompilationOptions {
  /// Hugging Face model directory or GGUF file; with `program`, the artifact
  /// whose weights, cache, limits and tokenizer the program uses.
  std::string model;
  /// The text of a program to compile instead of a checkpoint; quantization, KV
  /// type, context and budget are then those of the artifact.
  std::string program;
  /// The text of a traced model to compile instead of the trace of the
  /// checkpoint's family; the checkpoint provides its parameters and tokenizer.
  std::string graph;
  std::string output;              ///< The .llmir file; empty if `form` is set.
  std::string target = "native";   ///< A list for targetsFromNames().
  mllm::QuantizationRecipe recipe; ///< Quantization recipe; empty: none.
  std::string kv = "auto";         ///< "auto", "f32", "f16", "bf16".
  int64_t contextLength = 0;       ///< 0 = the model's own.
  /// Maximum tokens of a step. By default 512, or the context if a step must
  /// have whole sequences.
  std::optional<int64_t> tokenBudget;
  int64_t maxLogitRows = 64;
  /// Tokens per block of the KV cache. The default is the number of keys that
  /// attention processes at once, so that it reads the cache in memory order.
  int64_t kvBlockSize = 64;
  std::optional<Form> form; ///< Written instead of an artifact …
  std::string formOutput;   ///< … to this file; empty or "-" = stdout.
  std::optional<Stage> stopAfter;
  /// Receives a status message and the completed fraction, from 0 to 1; may be
  /// empty.
  std::function<void(const char *, double)> progress;
};

class Compilation {
public:
  explicit Compilation(CompilationOptions options);
  ~Compilation();

  /// Fails (InvalidArgument) if an option is invalid independent of the model.
  /// Called by run().
  Status checkOptions();
  /// Runs the stages up to the artifact, the form or stopAfter. `report`
  /// receives the results, one line per stage.
  Status run(std::string &report);

private:
  Status runStage(Stage stage);
  Status readCheckpoint();
  Status trace();
  /// The model as its family traces it, or the text of a traced one.
  Expected<mlir::OwningOpRef<mlir::ModuleOp>> readModel();
  Expected<mlir::OwningOpRef<mlir::ModuleOp>> readGraph();
  Status applyRecipe();
  Status lowerToStep();
  Status optimize();
  Status lower();
  Status generateCode();
  Status writeArtifact();
  Status writeWeights(ArtifactWriter &writer) const;

  // Compiles the text of a program (ProgramInput.cpp).
  bool fromProgram() const { return !options.program.empty(); }
  Status readBase();
  Status parseProgramFile();
  Status checkProgram();

  void resolveKVFormat();
  /// Runs a pipeline; an error contains the first diagnostic.
  Status runPasses(const std::function<void(mlir::PassManager &)> &build);
  Status runPasses(mlir::ModuleOp module,
                   const std::function<void(mlir::PassManager &)> &build);
  /// Reports the results of the stage.
  void note(const std::string &text) { notes = text; }
  bool wants(Form form) const { return options.form == form; }
  Status writeForm(const std::string &bytes) const;
  std::string moduleText();

  /// Derives what depends on whether a step must have whole sequences.
  void readStep();
  /// Reads the offsets of weights and the size of the arena from the program.
  void readProgram();
  /// The metadata of the artifact; requires the results of lower().
  ArtifactInfo makeInfo() const;
  ArtifactInfo infoOfCheckpoint() const;
  /// Size of the prefix of the weight section that the program reads.
  int64_t weightBytes() const;
  Status checkFormHasOneLevel() const;
  /// Generates code from kernels lowered for the level: an image with the note
  /// (CodeNote.h) in `images`, or the requested form.
  Status generateCode(mlir::ModuleOp kernels, const CPULevel &level,
                      const std::vector<uint8_t> &note);
  /// Fills `tokenizer` and `chatTemplates`.
  Status readTokenizer();
  Status readChatTemplates();

  CompilationOptions options;
  std::vector<const CPULevel *> levels; ///< One image per target.
  KVFormat kvFormat = KVFormat::F32;
  int64_t tokenBudget = 0;
  bool wholeSequences = false;  ///< See ArtifactInfo.
  std::vector<int64_t> windows; ///< See ArtifactInfo; of the traced model.
  /// The states of layers of the traced model.
  int64_t stateLayers = 0, stateRecordBytes = 0;
  std::optional<Checkpoint> checkpoint;
  ModelConfig config; ///< Of the checkpoint, or of the graph.
  std::shared_ptr<const Artifact>
      base; ///< With a program: the artifact with the weights.
  /// As stored; empty if the model has none.
  std::vector<uint8_t> tokenizer, chatTemplates;
  std::unique_ptr<TaskPool> pool; ///< Of the context, which is destroyed first.
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string programText;
  std::vector<PackJob> jobs;
  std::vector<StepSite> sites;
  int64_t arenaBytes = 0, workerBytes = 0, logitsRowStride = 0;
  /// The kernels of each level, and their images.
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> lowered;
  std::vector<std::vector<uint8_t>> images;
  uint64_t imageBytes = 0; ///< Total of all images.
  std::string notes;
};

} // namespace llmir

#endif // LLMIR_DRIVER_COMPILATION_H
