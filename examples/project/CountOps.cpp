//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pass plugin that counts the ops of a module by name:
//
//   llmir-opt --load-pass-plugin=CountOps.so \
//     --pass-pipeline='builtin.module(count-ops)' model.mlir
//
// docs/AddingAPass.md and docs/AddingADialect.md show more.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

#include <map>

using namespace mlir;

namespace {

struct CountOps : PassWrapper<CountOps, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CountOps)

  StringRef getArgument() const override { return "count-ops"; }
  StringRef getDescription() const override { return "Count ops by name"; }

  void runOnOperation() override {
    std::map<std::string, int> counts;
    getOperation().walk(
        [&](Operation *op) { ++counts[op->getName().getStringRef().str()]; });
    for (const auto &[name, count] : counts)
      llvm::errs() << name << ": " << count << "\n";
    markAllAnalysesPreserved();
  }
};

} // namespace

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "CountOps", "1",
          [] { PassRegistration<CountOps>(); }};
}
