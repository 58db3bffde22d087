//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The MLLM text format: printed, and parsed back.
//
//   @main () -> (){
//       graph.CallGraphOp @model (%453:tensor<[1, 128], kInt64, kCPU>) -> (…)
//
// docs/MLLMText.md describes it. Two spellings are read: the documented
// one (`kFp32`, `linalg.kCPU.LinearOp(`) and the present one (`Float32`,
// `linalg.CPU.LinearOp <name="…"> [key:value] (`).
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_MLLMTEXT_TEXT_H
#define LLMIR_MLLMTEXT_TEXT_H

#include "llmir/Dialect/MLLM/TensorTypes.h"
#include "mllm/Types.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Support/LLVM.h"

#include <string>

namespace llmir::mllm {

enum class TextStyle {
  Document, ///< As MLLM's documentation: no attributes, no parameters.
  Full,     ///< The current spelling, lossless.
};

struct TextOptions {
  TextStyle style = TextStyle::Full;
  int64_t firstNumber = 0; ///< Number of the first value, in trace order.
  /// Whether style Full prints file locations of ops that are not named after a
  /// layer.
  bool fileLocations = false;
};

/// Prints an op and its regions. An op within a module is printed with the
/// numbering of the module. Ops of all dialects are printed in style Full; an
/// op with successors or with several blocks in a region is an error at the op,
/// in both styles.
mlir::LogicalResult printText(mlir::Operation *op, llvm::raw_ostream &output,
                              const TextOptions &options = {});
/// Prints a region: "(inputs) -> (outputs){ … }" and its ops.
mlir::LogicalResult printText(mlir::Region &region, llvm::raw_ostream &output,
                              const TextOptions &options = {});
/// The name of the value in the text of the module: "%4" or "%input_tensor".
std::string valueText(mlir::Value value, const TextOptions &options = {});
/// The number of the next value of the module around `op`.
int64_t nextValueNumber(mlir::Operation *op);

/// Reads either spelling into a verified module. Input is not trusted: nesting,
/// names and numbers are limited. Returns null after an error at its line and
/// column of `fileName`. What the documented spelling omits, mainly parameters,
/// is added with a remark if it can be inferred from the types; otherwise, the
/// error describes what is missing.
mlir::OwningOpRef<mlir::ModuleOp> parseText(llvm::StringRef text,
                                            llvm::StringRef fileName,
                                            mlir::MLIRContext &context);

/// Declares --mlir-to-mllm (with --mllm-style and --mllm-first-number) and
/// --mllm-to-mlir for mlirTranslateMain.
void registerTextTranslations();

//===----------------------------------------------------------------------===//
// Names of ops and types, for the printer, the parser and the node API
//===----------------------------------------------------------------------===//

/// What the text format calls an op of the mllm dialect.
struct OpTextName {
  const char *name;  ///< "mllm.linalg.linear".
  const char *level; ///< "linalg"; "program" is printed "prog".
  const char *cls;   ///< "LinearOp".
  unsigned regions;  ///< Number of regions of the op.
  // Minimum and maximum numbers of values; -1: unlimited.
  int leastOperands, mostOperands, leastResults, mostResults;
  const char *needed; ///< Required attributes, separated by blanks.
};

/// All ops of the dialect, sorted by name.
llvm::ArrayRef<OpTextName> opTextNames();
/// Returns null for ops of other dialects.
const OpTextName *findOpTextName(llvm::StringRef name);

/// The type of the text format; nullopt for other types.
std::optional<::mllm::DataTypes> dataTypeOf(mlir::Type elementType);
mlir::Type elementType(mlir::MLIRContext &context, ::mllm::DataTypes type);
/// Reads either spelling.
std::optional<::mllm::DataTypes> parseDataType(llvm::StringRef name);
std::optional<::mllm::DeviceTypes> parseDevice(llvm::StringRef name);

/// The device of a value of the type; kCPU by default.
::mllm::DeviceTypes deviceTypeOf(mlir::Type type);
/// The device of an op: its attribute `device`, otherwise the device of its
/// first result or operand.
::mllm::DeviceTypes deviceTypeOf(mlir::Operation *op);

/// Names and metadata of values: an element of a function's arg_attrs or of an
/// op's result attributes; empty if there are none.
mlir::DictionaryAttr getValueAttributes(mlir::Value value);
/// Returns false for values that cannot have attributes.
bool setValueAttributes(mlir::Value value, mlir::DictionaryAttr attributes);
/// Keys of these dictionaries that the text format prints as "%name" and
/// "[@symbol]".
constexpr const char *kValueNameKey = "mllm.name";
constexpr const char *kValueSymbolKey = "mllm.symbol";

} // namespace llmir::mllm

#endif // LLMIR_MLLMTEXT_TEXT_H
