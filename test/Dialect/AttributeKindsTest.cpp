// RUN: llmir-attribute-kinds-tests
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attributes of wrong kinds under every inherent name of every op of the `llm`
// and `mllm` dialects, in generic form, as properties and as attributes. Each
// text must end in an error, or in an op that has the attribute; an assertion
// or a crash ends the test, and the stack dump names the text.
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/MLLM.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <map>

using namespace mlir;

namespace {

/// One attribute of each kind, and values that do not fit C++'s integers.
constexpr const char *kValues[] = {
    "17 : i64",
    "-1 : i64",
    "9223372036854775807 : i64",
    "-9223372036854775808 : i64",
    "1 : i32",
    "3 : i8",
    "340282366920938463463374607431768211455 : i128",
    "5 : si64",
    "18446744073709551615 : ui64",
    "7 : index",
    "true",
    "1.5 : f32",
    "0x7FF0000000000000 : f64",
    "\"text\"",
    "\"\"",
    "[]",
    "[1, \"a\"]",
    "[unit, [2.0 : f32]]",
    "[\"a\", \"a\"]",
    "[@nobody]",
    "unit",
    "dense<1> : tensor<2xi32>",
    "dense<1.0> : tensor<2x2xf32>",
    "dense<> : tensor<0xi64>",
    "array<i64: 1, -2>",
    "array<i32: 1, 2, 3>",
    ("array<i64: 9223372036854775807, 9223372036854775807, "
     "9223372036854775807, 9223372036854775807>"),
    "array<i64>",
    "array<f64: 1.0>",
    "f32",
    "tensor<4xf32>",
    "() -> ()",
    "{a = 1}",
    "@nobody",
    "@nobody::@nothing",
    "affine_map<(d0) -> (d0)>",
    "#mllm.range<1, 2>",
};

/// Valid ops of both dialects; together, all of them.
constexpr const char *kFiles[] = {
    "LLM/IR/ops.mlir",       "LLM/IR/nn-ops.mlir",
    "LLM/IR/cache-ops.mlir", "LLM/IR/collective-ops.mlir",
    "LLM/IR/fused-ops.mlir", "LLM/IR/moe-ops.mlir",
    "LLM/IR/quant-ops.mlir", "LLM/IR/state-ops.mlir",
    "MLLM/ops.mlir",         "MLLM/attention.mlir",
    "MLLM/elementwise.mlir", "MLLM/index.mlir",
    "MLLM/kernels.mlir",     "MLLM/kernels-state.mlir",
    "MLLM/nn.mlir",          "MLLM/program.mlir",
    "MLLM/shape.mlir",       "MLLM/signal.mlir",
    "MLLM/state.mlir",       "MLLM/values-and-control.mlir",
    "MLLM/vision.mlir",
};

bool isOurs(Operation *op) {
  return isa_and_nonnull<llm::LLMDialect, llmir::mllm::MLLMDialect>(
      op->getDialect());
}

/// The positions of an op's properties and attributes in the generic form.
struct Place {
  size_t properties, propertiesEnd; ///< "<{…}>" with the blank before it.
  size_t attributes, attributesEnd; ///< "{…}", likewise.
};

/// The end of the bracketed text at `at`.
size_t skipBrackets(StringRef text, size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '"') {
      for (++at; text[at] != '"'; ++at)
        at += text[at] == '\\';
    } else if (StringRef("([{").contains(text[at])) {
      ++depth;
    } else if (StringRef(")]}").contains(text[at]) && --depth == 0) {
      return at + 1;
    }
  }
  return at;
}

/// Of the op whose name's opening quote is at `at`.
Place findPlace(StringRef text, size_t at) {
  size_t next = skipBrackets(text, text.find('(', at)); // The operands.
  auto follows = [&](StringRef start) {
    return text.substr(next).starts_with(start);
  };
  if (follows("["))
    next = skipBrackets(text, next);
  Place place;
  place.properties = next;
  if (follows(" <{"))
    next = skipBrackets(text, next + 2) + 1;
  place.propertiesEnd = next;
  if (follows(" ({"))
    next = skipBrackets(text, next + 1);
  place.attributes = next;
  if (follows(" {"))
    next = skipBrackets(text, next + 1);
  place.attributesEnd = next;
  return place;
}

std::string printed(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

/// "{a = 1, b}" with the value of one name exchanged.
std::string dictionaryWith(DictionaryAttr all, StringRef name,
                           StringRef value) {
  std::string text = "{";
  auto append = [&](StringRef key, StringRef what) {
    text += (text.size() > 1 ? ", " : "") + key.str() + " = " + what.str();
  };
  append(name, value);
  for (NamedAttribute each : all)
    if (each.getName() != name)
      append(each.getName(), printed(each.getValue()));
  return text + "}";
}

class AttributeKindsTest : public testing::Test {
protected:
  AttributeKindsTest() {
    context
        .loadDialect<llm::LLMDialect, llmir::mllm::MLLMDialect,
                     arith::ArithDialect, func::FuncDialect, math::MathDialect,
                     scf::SCFDialect, tensor::TensorDialect>();
    llvm::sys::PrintStackTraceOnErrorSignal("llmir-attribute-kinds-tests");
    llvm::EnablePrettyStackTrace();
  }

  OwningOpRef<ModuleOp> parse(const std::string &text) {
    numErrors = 0;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      numErrors += diagnostic.getSeverity() == DiagnosticSeverity::Error;
      return success();
    });
    llvm::PrettyStackTraceString trace(text.c_str());
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(text, ParserConfig(&context));
    // What is valid must not surprise the folders and canonicalizers.
    if (module) {
      OwningOpRef<ModuleOp> copy = module->clone();
      PassManager passes(&context);
      passes.addPass(createCanonicalizerPass());
      (void)passes.run(*copy);
    }
    return module;
  }

  void tryModule(ModuleOp module);
  void tryOp(const std::string &text, size_t place, Operation *op,
             unsigned index);

  MLIRContext context{MLIRContext::Threading::DISABLED};
  int numErrors = 0;
  int64_t numTexts = 0, numTaken = 0;
  llvm::StringSet<> seenOps;
  std::map<std::string, int> seenSets; ///< By op and the names it has.
};

Operation *opNumber(ModuleOp module, unsigned index) {
  Operation *found = nullptr;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (index-- == 0) {
      found = op;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return found;
}

/// All values under all names of one op, `index` in the walk over the module
/// that `text` shows.
void AttributeKindsTest::tryOp(const std::string &text, size_t start,
                               Operation *op, unsigned index) {
  Place place = findPlace(text, start);
  auto properties =
      dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute());
  if (!properties)
    properties = DictionaryAttr::get(&context);
  for (StringAttr name : op->getName().getAttributeNames())
    for (const char *value : kValues)
      for (bool asProperties : {true, false}) {
        std::string changed = text;
        std::string all = dictionaryWith(properties, name, value);
        if (asProperties) {
          changed.replace(place.properties,
                          place.propertiesEnd - place.properties,
                          " <" + all + ">");
        } else {
          changed.replace(place.attributes,
                          place.attributesEnd - place.attributes, " " + all);
          changed.erase(place.properties,
                        place.propertiesEnd - place.properties);
        }
        ++numTexts;
        OwningOpRef<ModuleOp> read = parse(changed);
        if (!read) {
          EXPECT_GT(numErrors, 0) << changed;
          continue;
        }
        ++numTaken;
        Operation *taken = opNumber(*read, index);
        ASSERT_EQ(taken->getName(), op->getName());
        Attribute wanted = parseAttribute(value, &context);
        EXPECT_EQ(taken->getAttr(name), wanted)
            << "silently dropped: " << name.str() << " = " << value << " of "
            << op->getName().getStringRef().str();
      }
}

/// Every op of a module, once for each set of optional attributes that it has.
void AttributeKindsTest::tryModule(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, OpPrintingFlags().printGenericOpForm().useLocalScope());
  ASSERT_TRUE(parse(text)) << text;
  llvm::StringMap<size_t>
      ends; // The position to continue the search for an op's name.
  unsigned index = 0;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    unsigned here = index++;
    std::string quoted = "\"" + op->getName().getStringRef().str() + "\"(";
    size_t place = text.find(quoted, ends[quoted]);
    EXPECT_NE(place, std::string::npos) << quoted;
    ends[quoted] = place + 1;
    if (!isOurs(op))
      return;
    seenOps.insert(op->getName().getStringRef());
    std::string set = quoted;
    for (NamedAttribute each : op->getAttrs())
      set += " " + each.getName().str();
    if (seenSets[set]++ == 0 && seenSets[quoted]++ < 2)
      tryOp(text, place, op, here);
  });
}

/// The module reduced to one of its functions, if that is valid.
OwningOpRef<ModuleOp> withOnly(ModuleOp module, Operation *function) {
  OwningOpRef<ModuleOp> alone = module.clone();
  SmallVector<Operation *> others;
  for (auto [op, copy] : llvm::zip_equal(*module.getBody(), *alone->getBody()))
    if (&op != function && isa<FunctionOpInterface>(op))
      others.push_back(&copy);
  for (Operation *other : others)
    other->erase();
  return alone;
}

TEST_F(AttributeKindsTest, EndInAnErrorOrInTheAttribute) {
  for (const char *file : kFiles) {
    std::string path = std::string(LLMIR_SOURCE_DIR "/test/Dialect/") + file;
    auto buffer = llvm::MemoryBuffer::getFile(path);
    ASSERT_TRUE(buffer) << path;
    SmallVector<StringRef> chunks;
    (*buffer)->getBuffer().split(chunks, "// -----");
    for (StringRef chunk : chunks) {
      OwningOpRef<ModuleOp> module = parse(chunk.str());
      ASSERT_TRUE(module) << path;
      for (Operation &op : *module->getBody()) {
        if (!isa<FunctionOpInterface>(op))
          continue;
        OwningOpRef<ModuleOp> alone = withOnly(*module, &op);
        std::string text;
        llvm::raw_string_ostream stream(text);
        alone->print(stream, OpPrintingFlags().printGenericOpForm());
        tryModule(parse(text) ? *alone : *module);
      }
      OwningOpRef<ModuleOp> rest = withOnly(*module, nullptr);
      std::string text;
      llvm::raw_string_ostream stream(text);
      rest->print(stream, OpPrintingFlags().printGenericOpForm());
      tryModule(parse(text) ? *rest : *module);
    }
  }
  for (RegisteredOperationName name : context.getRegisteredOperations())
    if (isa<llm::LLMDialect, llmir::mllm::MLLMDialect>(name.getDialect())) {
      EXPECT_TRUE(seenOps.contains(name.getStringRef()))
          << name.getStringRef().str() << " is in none of the files";
    }
  RecordProperty("texts", std::to_string(numTexts));
  RecordProperty("taken", std::to_string(numTaken));
  EXPECT_GT(numTexts, 10000);
  EXPECT_GT(numTaken, 100);
}

} // namespace
