//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linking of the modules of several contexts.
//
//===----------------------------------------------------------------------===//

#include "mllm/ir/Link.h"

#include "IRContextImpl.h"

#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Dialect/MLLM/Transforms/Passes.h"
#include "llmir/MLLMText/Text.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace mllm::ir {

/// Copies a module to another MLIRContext through bytecode, since types and
/// attributes belong to a context. Returns null, with diagnostics, if `context`
/// does not have a dialect.
static OwningOpRef<mlir::ModuleOp> copyInto(MLIRContext &context,
                                            IRContextImpl &other) {
  context.appendDialectRegistry(other.context().getDialectRegistry());
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  if (failed(writeBytecodeToFile(other.module(), stream)))
    return {};
  return parseSourceString<mlir::ModuleOp>(bytes, &context);
}

/// Appends a module and its nested modules to `whole`, without their names,
/// which may not be unique.
static void addModule(mlir::ModuleOp whole, OwningOpRef<mlir::ModuleOp> added) {
  auto append = [&](mlir::ModuleOp module) {
    module.removeSymNameAttr();
    whole.getBody()->push_back(module);
  };
  for (auto inner : llvm::to_vector(added->getOps<mlir::ModuleOp>())) {
    inner->remove();
    append(inner);
  }
  append(added.release());
}

/// A name of two values, or of a value and an op; empty if there is none.
static std::string doubledValueSymbol(mlir::ModuleOp module) {
  llvm::StringSet<> seen;
  for (Operation &op : *module.getBody())
    if (auto name =
            op.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()))
      seen.insert(name.getValue());
  std::string doubled;
  auto look = [&](ValueRange values) {
    for (Value value : values)
      if (auto name = dyn_cast_or_null<StringAttr>(
              llmir::mllm::getValueAttributes(value).get(
                  llmir::mllm::kValueSymbolKey));
          name && !seen.insert(name.getValue()).second)
        doubled = name.getValue().str();
  };
  module.walk([&](Operation *op) {
    look(op->getResults());
    for (mlir::Region &region : op->getRegions())
      for (Block &block : region)
        look(block.getArguments());
  });
  return doubled;
}

/// Looks up the elements of a parameter in each context in turn.
static void joinParameters(IRContextImpl &impl,
                           const std::vector<IRContext::ptr_t> &others) {
  auto sources = std::vector{impl.parameter};
  for (const IRContext::ptr_t &other : others)
    sources.push_back(other->impl().parameter);
  llvm::erase_if(sources, [](const auto &source) { return !source; });
  if (sources.empty())
    return;
  impl.parameter = [sources](StringRef name) {
    auto found = sources.front()(name);
    for (size_t i = 1; i < sources.size(); ++i) {
      if (found || found.status().code() != llmir::StatusCode::NotFound)
        break;
      found = sources[i](name);
    }
    return found;
  };
}

bool link(IRContext &context, const std::vector<IRContext::ptr_t> &others) {
  IRContextImpl &impl = context.impl();
  OwningOpRef<mlir::ModuleOp> whole = impl.module().clone();
  for (const IRContext::ptr_t &other : others) {
    if (!other || other.get() == &context)
      return impl.fail("a context is linked with others, not with itself or "
                       "with null");
    OwningOpRef<mlir::ModuleOp> added;
    std::string errors = llmir::errorsOf(impl.context(), [&] {
      added = copyInto(impl.context(), other->impl());
      return success(bool(added));
    });
    if (!errors.empty())
      return impl.fail("a module cannot be copied for linking: " + errors);
    addModule(*whole, std::move(added));
  }
  PassManager passes(&impl.context());
  passes.addPass(llmir::mllm::createLinkModules());
  std::string errors =
      llmir::errorsOf(impl.context(), [&] { return passes.run(*whole); });
  if (!errors.empty())
    return impl.fail("the modules cannot be linked: " + errors);
  if (std::string name = doubledValueSymbol(*whole); !name.empty())
    return impl.fail("the modules cannot be linked: two values, or a value and "
                     "an op, are @" +
                         name,
                     "names of symbols are unique; choose another");
  impl.forgetOps();
  Block *body = impl.module().getBody();
  body->clear();
  body->getOperations().splice(body->end(), whole->getBody()->getOperations());
  impl.module()->setAttrs(whole.get()->getAttrDictionary());
  joinParameters(impl, others);
  return true;
}

} // namespace mllm::ir
