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
  Full,     ///< The present spelling, with everything: lossless.
};

struct TextOptions {
  TextStyle style = TextStyle::Full;
  int64_t firstNumber = 0; ///< Of the first value, in trace order.
  /// Whether style Full says of ops that bear no layer's name where they stood
  /// in a file.
  bool fileLocations = false;
};

/// Prints an op, a module for example, with what it holds. An op inside a
/// module bears the numbers that the module's text gives it. Ops of all
/// dialects are printed in style Full; an op with several blocks in a region,
/// or with successors, is an error at the op, in both styles.
mlir::LogicalResult printText(mlir::Operation *op, llvm::raw_ostream &output,
                              const TextOptions &options = {});
/// Prints a region: "(inputs) -> (outputs){ … }" and its ops.
mlir::LogicalResult printText(mlir::Region &region, llvm::raw_ostream &output,
                              const TextOptions &options = {});
/// "%4" or "%input_tensor": how the module's text names the value.
std::string valueText(mlir::Value value, const TextOptions &options = {});
/// The number that one more value of the module around `op` would bear.
int64_t nextValueNumber(mlir::Operation *op);

/// Reads either spelling into a verified module. Input is hostile: its depth,
/// its names and its numbers have limits. Null after an error at its line and
/// column of `fileName`. What the documented spelling leaves out, parameters
/// above all, is added with a remark where it follows from the types, and is an
/// error that says what to write where it does not.
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
  unsigned regions;  ///< How many an op of the kind has.
  // How many values it has; -1: any number.
  int leastOperands, mostOperands, leastResults, mostResults;
  const char *needed; ///< Attributes that it must have, with blanks between.
};

/// All ops of the dialect, sorted by name.
llvm::ArrayRef<OpTextName> opTextNames();
/// Null for an op of another dialect.
const OpTextName *findOpTextName(llvm::StringRef name);

/// The types that the notation names; nullopt for others.
std::optional<::mllm::DataTypes> dataTypeOf(mlir::Type elementType);
mlir::Type elementType(mlir::MLIRContext &context, ::mllm::DataTypes type);
/// Reads either spelling.
std::optional<::mllm::DataTypes> parseDataType(llvm::StringRef name);
std::optional<::mllm::DeviceTypes> parseDevice(llvm::StringRef name);

/// Where a value of the type lies; kCPU unless the type says otherwise.
::mllm::DeviceTypes deviceTypeOf(mlir::Type type);
/// Where an op runs: its attribute `device`, else its first result's or
/// operand's device.
::mllm::DeviceTypes deviceTypeOf(mlir::Operation *op);

/// Names and metadata of values: an entry of a function's arg_attrs or of an
/// op's result attributes; empty where there is none.
mlir::DictionaryAttr getValueAttributes(mlir::Value value);
/// False where values of this kind carry none.
bool setValueAttributes(mlir::Value value, mlir::DictionaryAttr attributes);
/// Keys of these dictionaries that the notation shows as "%name" and
/// "[@symbol]".
constexpr const char *kValueNameKey = "mllm.name";
constexpr const char *kValueSymbolKey = "mllm.symbol";

} // namespace llmir::mllm

#endif // LLMIR_MLLMTEXT_TEXT_H
