//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mllm/ir/DecoderGraph.h"

#include "llmir/Dialect/MLLM/ModelFacts.h"
#include "llmir/Support/FileWriter.h"
#include "mllm/ir/MLIR.h"

#include "mlir/IR/OwningOpRef.h"

#include "llvm/Support/raw_ostream.h"

namespace mllm::ir {

llmir::Status writeDecoder(IRContext &context, const DecoderSizes &sizes,
                           const std::string &path) {
  LLMIR_RETURN_IF_ERROR(llmir::Status(context.status()));
  llmir::mllm::ModelFacts facts;
  facts.architecture = sizes.architecture;
  facts.numLayers = sizes.numLayers;
  facts.numHeads = sizes.numHeads;
  facts.numKVHeads = sizes.numKVHeads;
  facts.headDim = sizes.headDim;
  facts.hiddenSize = sizes.hiddenSize;
  facts.intermediateSize = sizes.intermediateSize;
  facts.vocabSize = sizes.vocabSize;
  facts.contextLength = sizes.contextLength;
  for (int64_t size : {facts.numLayers, facts.numHeads, facts.numKVHeads,
                       facts.headDim, facts.hiddenSize, facts.intermediateSize,
                       facts.vocabSize, facts.contextLength})
    if (size < 1)
      return llmir::Status(llmir::StatusCode::InvalidArgument,
                           "a size of the decoder is " + std::to_string(size),
                           "specify all sizes, each at least 1");
  // The context's own module stays as it is.
  mlir::OwningOpRef<mlir::ModuleOp> module(getModule(context).clone());
  facts.write(*module);
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  stream << "\n";
  llmir::Expected<llmir::AtomicFile> file = llmir::AtomicFile::create(path);
  if (!file)
    return file.takeStatus();
  LLMIR_RETURN_IF_ERROR(file->write(text));
  return file->commit();
}

} // namespace mllm::ir
