//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SubGraphs.h"

#include "llmir/Dialect/MLLM/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

#include <map>

using namespace mlir;

namespace llmir::mllm {

#define GEN_PASS_DEF_EXTRACTSYMBOLS
#include "llmir/Dialect/MLLM/Transforms/Passes.h.inc"

namespace {
/// The table entry of a symbol.
struct SymbolRow {
  std::string kind;
  int64_t uses = 0;
  llvm::SetVector<StringAttr> users; ///< Subgraphs, in module order.
};

struct ExtractSymbolsPass : impl::ExtractSymbolsBase<ExtractSymbolsPass> {
  using ExtractSymbolsBase::ExtractSymbolsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    module->removeAttr(kAttribute);
    std::map<std::string, SymbolRow> rows;
    for (Operation &op : *module.getBody())
      if (auto name =
              op.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()))
        rows[name.str()].kind = kindOf(op);
    module.walk([&](Operation *op) {
      op->getAttrDictionary().walk([&](SymbolRefAttr symbol) {
        auto row = rows.find(symbol.getRootReference().str());
        if (row == rows.end())
          return;
        ++row->second.uses;
        if (auto user = op->getParentOfType<SubGraphOp>())
          row->second.users.insert(user.getSymNameAttr());
      });
    });
    writeTable(module, rows);
  }

private:
  static constexpr StringLiteral kAttribute = "mllm.symbols";

  static std::string kindOf(Operation &op) {
    if (isa<SubGraphOp>(op))
      return "subgraph";
    if (isa<RegisterOp>(op))
      return "parameter";
    return op.getName().getStringRef().str();
  }

  void writeTable(ModuleOp module,
                  const std::map<std::string, SymbolRow> &rows) {
    Builder b(&getContext());
    SmallVector<NamedAttribute> table;
    for (const auto &[name, row] : rows) {
      SmallVector<Attribute> users(row.users.begin(), row.users.end());
      table.push_back(b.getNamedAttr(
          name, b.getDictionaryAttr(
                    {b.getNamedAttr("kind", b.getStringAttr(row.kind)),
                     b.getNamedAttr("users", b.getArrayAttr(users)),
                     b.getNamedAttr("uses", b.getI64IntegerAttr(row.uses))})));
    }
    module->setAttr(kAttribute, b.getDictionaryAttr(table));
    numSymbols += static_cast<int64_t>(table.size());
  }
};
} // namespace

} // namespace llmir::mllm
