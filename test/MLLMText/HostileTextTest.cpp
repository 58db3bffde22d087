// RUN: llmir-mllmtext-tests --gtest_filter='HostileTextTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parser of the MLLM text format on invalid text.
//
//===----------------------------------------------------------------------===//

#include "llmir/MLLMText/Text.h"

#include "llmir/Dialect/MLLM/MLLM.h"

#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <random>

using namespace mlir;
using namespace llmir::mllm;

namespace {

constexpr const char *kModel = R"(@main () -> () {
    graph.SubGraphOp @init <notype> {
        () -> () {
            tensor.CPU.register [source:"w"] () -> (%9:tensor<[4, 8], Float32, CPU>[@w])
            cf.ReturnOp () -> ()
        }
    }
    tensor.CPU.input () -> (%0:tensor<[1, seq], Int64, CPU>)
    graph.SubGraphOp @layer <CPU> <name="model.layer"> {
        (%x:tensor<[2, 8], Float32, CPU>[mllm.note:{a:1, b:[true, 2.5]}]) -> (%2:tensor<[2, 4], Float32, CPU>) {
            linalg.CPU.LinearOp <name="layer.fc"> [weight:@w] (%x:tensor<[2, 8], Float32, CPU>) -> (%1:tensor<[2, 4], Float32, CPU>[@sum])
            linalg.CPU.AddOp (%1:tensor<[2, 4], Float32, CPU>, %1:tensor<[2, 4], Float32, CPU>) -> (%2:tensor<[2, 4], Float32, CPU>)
            cf.ReturnOp (%2:tensor<[2, 4], Float32, CPU>) -> ()
        }
    }
    prog.fragment @step <CPU> <code> {
        prog.buffer [offset:4096] () -> (%3:memref<[8, 64], Float32>)
        prog.entry_point () -> ()
        prog.label [name:"layers.0"] () -> ()
        prog.barrier [if_split] () -> ()
        prog.jump_next_layer [label:"layers.0", limit:2] () -> ()
        prog.exit
    }
}
)";

constexpr const char *kDocument = R"(@main () -> (){
    graph.CallGraphOp @model (%453:tensor<[1, 128], kInt64, kCPU>) -> (%457:tensor<[1, 128, 99], kFp32, kCPU>)
    graph.SubGraphOp @model <kCPU>{
        (%453:tensor<[1, 128], kInt64, kCPU>) -> (%457:tensor<[1, 128, 99], kFp32, kCPU>){
            linalg.kCPU.LLMEmbeddingTokenOp(%453:tensor<[1, 128], kInt64, kCPU>) -> (%454:tensor<[1, 128, 16], kFp32, kCPU>)
            linalg.kCPU.RMSNormOp(%454:tensor<[1, 128, 16], kFp32, kCPU>) -> (%455:tensor<[1, 128, 16], kFp32, kCPU>)
            linalg.kCPU.AddOp(%454:tensor<[1, 128, 16], kFp32, kCPU>, %455:tensor<[1, 128, 16], kFp32, kCPU>) -> (%456:tensor<[1, 128, 16], kFp32, kCPU>)
            linalg.kCPU.LinearOp(%456:tensor<[1, 128, 16], kFp32, kCPU>) -> (%457:tensor<[1, 128, 99], kFp32, kCPU>)
            cf.ReturnOp(%457:tensor<[1, 128, 99], kFp32, kCPU>) -> ()
        }
    }
}
)";

class HostileTextTest : public testing::Test {
protected:
  HostileTextTest() { context.loadDialect<MLLMDialect, llm::LLMDialect>(); }

  OwningOpRef<ModuleOp> parse(StringRef text) {
    errors.clear();
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
        std::string where;
        llvm::raw_string_ostream(where) << diagnostic.getLocation();
        errors.push_back(where + ": " + diagnostic.str());
      }
      return success();
    });
    return parseText(text, "t", context);
  }
  std::string print(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    EXPECT_TRUE(succeeded(printText(module, stream)));
    return text;
  }
  /// The text is refused, and the first error contains `part`.
  void expectRefused(StringRef text, StringRef part) {
    EXPECT_FALSE(parse(text)) << text.take_front(200).str();
    ASSERT_FALSE(errors.empty());
    EXPECT_NE(errors[0].find(part.str()), std::string::npos) << errors[0];
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  std::vector<std::string> errors;
};

TEST_F(HostileTextTest, TheModelItselfIsRead) {
  OwningOpRef<ModuleOp> module = parse(kModel);
  ASSERT_TRUE(module) << (errors.empty() ? "" : errors[0]);
  ASSERT_TRUE(parse(kDocument)) << (errors.empty() ? "" : errors[0]);
  OwningOpRef<ModuleOp> again = parse(print(*module));
  ASSERT_TRUE(again) << (errors.empty() ? "" : errors[0]);
  EXPECT_EQ(print(*again), print(*module));
}

TEST_F(HostileTextTest, ALinearLayerMaySplitItsColumns) {
  // SPEC: 342
  std::string line =
      "linalg.kCPU.LinearOp(%455:tensor<[1, 128, 1536], kFp32, kCPU>) -> "
      "(%456:tensor<[1, 128, 12, 128], kFp32, kCPU>)";
  OwningOpRef<ModuleOp> module = parse(
      "@main () -> (){\n    graph.SubGraphOp @q <kCPU>{\n"
      "        (%455:tensor<[1, 128, 1536], kFp32, kCPU>) -> "
      "(%456:tensor<[1, 128, 12, 128], kFp32, kCPU>){\n            " +
      line +
      "\n            cf.ReturnOp(%456:tensor<[1, 128, 12, 128], kFp32, kCPU>) "
      "-> ()\n        }\n    }\n}\n");
  ASSERT_TRUE(module) << (errors.empty() ? "" : errors[0]);
  std::string text;
  llvm::raw_string_ostream stream(text);
  ASSERT_TRUE(
      succeeded(printText(*module, stream, {TextStyle::Document, 455})));
  EXPECT_NE(text.find(line), std::string::npos) << text;
}

TEST_F(HostileTextTest, TenThousandMutationsEndInAModuleOrAnError) {
  std::mt19937 random(20);
  auto below = [&](size_t count) {
    return std::uniform_int_distribution<size_t>(0, count - 1)(random);
  };
  const char *const pieces[] = {"(",
                                ")",
                                "{",
                                "}",
                                "[",
                                "]",
                                "<",
                                ">",
                                ":",
                                ",",
                                "->",
                                "%",
                                "@",
                                "\"",
                                "mlir\"",
                                "op\"",
                                "-1",
                                "0",
                                "?",
                                "seq",
                                "1e999",
                                "99999999999999999999",
                                "\\",
                                "\n",
                                "kCPU",
                                "QNN",
                                "Float16",
                                "mlir\"f32\"",
                                "mlir\"tensor<4xf32>\"",
                                "mlir\"dense<1.0> : tensor<2xf32>\"",
                                "op\"builtin.module\" () -> () {",
                                "op\"mllm.cf.return\"",
                                "linalg.CPU.",
                                "prog.",
                                "init",
                                "tensor<[",
                                "[a:",
                                "\x80",
                                "i32[1, 2]"};
  int modules = 0;
  for (int i = 0; i < 10000; ++i) {
    std::string text = i % 2 ? kModel : kDocument;
    for (size_t changes = 1 + below(3); changes-- > 0 && !text.empty();) {
      size_t at = below(text.size());
      size_t length = std::min(below(40) + 1, text.size() - at);
      switch (below(5)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, text.substr(below(text.size()), length));
        break;
      case 2:
        text[at] = static_cast<char>(below(256));
        break;
      case 3:
        text.insert(at, pieces[below(std::size(pieces))]);
        break;
      case 4:
        text.resize(at);
        break;
      }
    }
    OwningOpRef<ModuleOp> module = parse(text);
    // Either a module that is valid, and reads back, or an error with a place.
    if (!module) {
      ASSERT_FALSE(errors.empty()) << text;
      continue;
    }
    ++modules;
    ASSERT_TRUE(succeeded(verify(*module))) << text;
    std::string printed = print(*module);
    OwningOpRef<ModuleOp> again = parse(printed);
    ASSERT_TRUE(again) << (errors.empty() ? "" : errors[0]) << printed;
    ASSERT_EQ(print(*again), printed);
  }
  EXPECT_GT(modules, 50);
}

TEST_F(HostileTextTest, DepthIsLimited) {
  std::string attributes(100000, '[');
  expectRefused("@main () -> () [a:" + attributes,
                "attributes nest more than 64 levels deep");
  std::string mlir(100000, '(');
  expectRefused("@main () -> () [a:mlir\"" + mlir + "\"] {}",
                "nests more than 64 levels deep");
  std::string minus(100000, '-');
  expectRefused("@main () -> () [a:mlir\"affine_map<(d0) -> (" + minus +
                    "d0)>\"] {}",
                "begins none of these");
  // Arrows close nothing, and a comment hides nothing.
  std::string arrows;
  for (int i = 0; i < 100000; ++i)
    arrows += "() -> (";
  expectRefused("@main () -> () [a:mlir\"" + arrows + "\"] {}",
                "nests more than 64 levels deep");
  expectRefused("@main () -> () [a:mlir\"// \\\"\\n" + mlir + "\"] {}",
                "begins none of these");
  std::string ops = "@main () -> () {";
  for (int i = 0; i < 1000; ++i)
    ops += "op\"builtin.module\" () -> () { () -> () {";
  expectRefused(ops, "ops nest more than 64 levels deep");
}

// The result of `init` is removed with it, also if registers follow the return.
TEST_F(HostileTextTest, RegistersMayComeBehindTheReturn) {
  OwningOpRef<ModuleOp> module =
      parse("@main () -> () { graph.SubGraphOp @init <notype> { () -> () { "
            "cf.ReturnOp () -> () "
            "tensor.CPU.register () -> (%0:tensor<[1], Float32, CPU>[@a]) } } "
            "}");
  ASSERT_TRUE(module) << (errors.empty() ? "" : errors[0]);
  EXPECT_TRUE(module->lookupSymbol("a"));
  EXPECT_FALSE(module->lookupSymbol("init"));
}

// A second `init` without registers is a subgraph, which has a name already.
TEST_F(HostileTextTest, OnlyASubgraphOfRegistersIsInit) {
  const std::string registers =
      "graph.SubGraphOp @init <notype> { () -> () { tensor.CPU.register () -> "
      "(%0:tensor<[1], Float32, CPU>[@a]) cf.ReturnOp () -> () } } ";
  const std::string empty = "graph.SubGraphOp @init <notype> { () -> () { "
                            "cf.ReturnOp () -> () } } ";
  OwningOpRef<ModuleOp> module =
      parse("@main () -> () { " + registers + empty + "}");
  ASSERT_TRUE(module) << (errors.empty() ? "" : errors[0]);
  EXPECT_TRUE(module->lookupSymbol("init"));
  EXPECT_TRUE(module->lookupSymbol("a"));
  expectRefused("@main () -> () { " + registers + empty + empty + "}",
                "redefinition of symbol named 'init'");
}

// A name that the notation cannot write after '%' is an attribute.
TEST_F(HostileTextTest, NamesOfValuesStandInAnyText) {
  for (std::string name :
       {"a b", "7", "x:tensor<[1], Float32, CPU>", "", "\"", "\xff"}) {
    OwningOpRef<ModuleOp> module =
        parse("@main () -> () { graph.SubGraphOp @f <CPU> { "
              "(%x:tensor<[1], Float32, CPU>) -> () { cf.ReturnOp () -> () } "
              "} }");
    ASSERT_TRUE(module);
    auto subgraph = *module->getOps<SubGraphOp>().begin();
    auto given = StringAttr::get(&context, name);
    subgraph.setArgAttr(0, kValueNameKey, given);
    std::string text;
    llvm::raw_string_ostream stream(text);
    ASSERT_TRUE(succeeded(printText(module->getOperation(), stream)));
    OwningOpRef<ModuleOp> again = parse(text);
    ASSERT_TRUE(again) << text;
    EXPECT_EQ(
        (*again->getOps<SubGraphOp>().begin()).getArgAttr(0, kValueNameKey),
        given)
        << text;
  }
}

TEST_F(HostileTextTest, SizesAreLimited) {
  std::string name(2000, 'a');
  expectRefused("@" + name + " () -> () {}", "longer than 1024 bytes");
  expectRefused("@main () -> () [a:99999999999999999999] {}",
                "99999999999999999999 does not fit 64 bits");
  expectRefused("@main () -> () [a:1e999] {}", "1e999 is not a finite number");
  std::string sizes = "1";
  for (int i = 0; i < 100; ++i)
    sizes += ", 1";
  expectRefused("@main () -> () { tensor.CPU.input () -> (%0:tensor<[" + sizes +
                    "], Float32, CPU>) }",
                "a tensor has more than 64 dimensions");
  std::string digits(100, '1');
  expectRefused("@main () -> () [a:" + digits + "] {}",
                "a number has more than 64 characters");
  expectRefused("@main () -> () { tensor.CPU.input () -> (%0:tensor<[-5], "
                "Float32, CPU>) }",
                "'-5' is not a size");
}

TEST_F(HostileTextTest, ErrorsNameLineAndColumn) {
  expectRefused("@main () -> () {\n  linalg.CPU.Nothing () -> ()\n}",
                "loc(\"t\":2:3): 'linalg.CPU.Nothing' is not an op of this "
                "notation");
  expectRefused(
      "@main () -> () {\n  cf.ReturnOp (%1:tensor<[1], Float32, CPU>) "
      "-> ()\n}",
      "loc(\"t\":2:16): %1 is used before its definition");
  expectRefused("@main", "the text ends where '(' after the module's name "
                         "should stand");
  expectRefused("@main () -> () {} }",
                "'}' stands where the end of the text should stand");
  expectRefused("@main () -> () [a:\"x] {}\n", "a text ends at the end of its "
                                               "line");
  expectRefused("@main () -> () { tensor.CPU.input () -> (%0:tensor<[1], Int3, "
                "CPU>) }",
                "'Int3' stands where the type of elements");
  expectRefused(
      "@main () -> () { tensor.CPU.input () -> (%0:tensor<[1], Int64, "
      "TPU>) }",
      "'TPU' stands where a device");
  expectRefused("@main () -> () { op\"nobody.knows\" () -> () }",
                "no dialect of this program has an op 'nobody.knows'");
  expectRefused(
      "@main () -> () { tensor.QNN.input () -> (%0:tensor<[1], Int64, "
      "CPU>) }",
      "the op is said to run on kQNN, and its values lie on kCPU");
  expectRefused("@main () -> () [a:1, a:2] {}",
                "the attribute 'a' stands here twice");
  expectRefused("@main () -> () { tensor.CPU.register () -> (%0:tensor<[4], "
                "Float32, CPU>) }",
                "a parameter has no name");
  // SPEC: 345
  expectRefused(
      "@main () -> () { tensor.CPU.input () -> (%0:tensor<[1], Int64, CPU>) "
      "tensor.CPU.input () -> (%0:tensor<[1], Int64, CPU>) }",
      "%0 is defined twice in its scope");
}

// The module's name is not a symbol of the module: a subgraph may have it too.
TEST_F(HostileTextTest, ASubgraphMayBeNamedAsTheModule) {
  const std::string calls =
      "    graph.CallGraphOp @main (%0:tensor<[2], kFp32, kCPU>) -> "
      "(%1:tensor<[2], kFp32, kCPU>)\n"
      "    graph.SubGraphOp @main <kCPU>{\n"
      "        (%0:tensor<[2], kFp32, kCPU>) -> (%1:tensor<[2], kFp32, "
      "kCPU>){\n"
      "            linalg.kCPU.AddOp(%0:tensor<[2], kFp32, kCPU>, "
      "%0:tensor<[2], kFp32, kCPU>) -> (%1:tensor<[2], kFp32, kCPU>)\n"
      "            cf.ReturnOp(%1:tensor<[2], kFp32, kCPU>) -> ()\n"
      "        }\n    }\n}\n";
  OwningOpRef<ModuleOp> module = parse("@main () -> (){\n" + calls);
  ASSERT_TRUE(module) << errors[0];
  EXPECT_FALSE(module->getSymName());
  EXPECT_TRUE(isa<SubGraphOp>(module->lookupSymbol("main")));
  std::string text;
  llvm::raw_string_ostream stream(text);
  ASSERT_TRUE(succeeded(printText(*module, stream, {TextStyle::Document})));
  EXPECT_EQ(text, "@main () -> (){\n" + calls);
  // The same if the module is explicitly named @main.
  module = parse("@main () -> () [sym_name:\"main\"] {\n" + calls);
  ASSERT_TRUE(module) << errors[0];
  EXPECT_EQ(module->getSymName(), StringRef("main"));
  OwningOpRef<ModuleOp> again = parse(print(*module));
  ASSERT_TRUE(again) << errors[0];
  EXPECT_EQ(again->getSymName(), StringRef("main"));
  // Two names are one too many.
  for (const char *name : {"main", "a"})
    expectRefused("@" + std::string(name) + " () -> () [sym_name:\"b\"] {}",
                  "the module is @" + std::string(name) +
                      ", and its attribute sym_name says otherwise; leave it "
                      "out");
}

// MLIR's own parser ends the process for such an array, and so did an attribute
// that is compared as a word and is none.
TEST_F(HostileTextTest, AttributesThatEndedTheProcessAreRefused) {
  auto interpolate = [](const std::string &attributes) {
    const std::string x = "%0:tensor<[1, 3, 4, 4], Float32, CPU>";
    const std::string y = "%1:tensor<[1, 3, 8, 8], Float32, CPU>";
    return "@main () -> () { tensor.CPU.input () -> (" + x +
           ") linalg.CPU.InterpolateOp [" + attributes + "] (" + x + ") -> (" +
           y + ") }";
  };
  ASSERT_TRUE(parse(interpolate("mode:\"nearest\", size:i64[8, 8]")))
      << errors[0];
  expectRefused(interpolate("mode:\"nearest\", size:mlir\"array<index: 1>\""),
                "array<…> holds numbers of type i1, i8, i16, i32, i64, f32 or "
                "f64, not 'index'");
  expectRefused(interpolate("mode:1, size:i64[8, 8]"),
                "one of the words nearest");
  for (const char *place :
       {"<loc=mlir\"loc(fused<array<index: 1>>[\\\"a\\\"])\">",
        "<properties=mlir\"{a = array<index: 1>}\">",
        "[a:[mlir\"array<index: 1>\"]]"})
    expectRefused("@main () -> () { tensor.CPU.input " + std::string(place) +
                      " () -> (%0:tensor<[1], Float32, CPU>) }",
                  "array<…> holds numbers of type");
  expectRefused("@main () -> () { tensor.CPU.input () -> "
                "(%0:mlir\"tensor<4xf32, array<index: 1>>\") }",
                "array<…> holds numbers of type");
}

// Every op with its required operands, and each of its attributes of each kind.
TEST_F(HostileTextTest, AttributesOfAnyKindEndInAModuleOrAnError) {
  const char *const values[] = {"1",
                                "-1",
                                "9223372036854775807",
                                "2.5",
                                "true",
                                "\"text\"",
                                "@main",
                                "[]",
                                "[1, \"a\"]",
                                "i64[1, 2]",
                                "i32[-1]",
                                "{a:1}",
                                "mlir\"unit\"",
                                "mlir\"f32\"",
                                "mlir\"dense<1> : tensor<2xi32>\"",
                                "mlir\"5 : i8\"",
                                "mlir\"array<f64: 1.0>\"",
                                "mlir\"#mllm<comparison less>\""};
  for (const OpTextName &each : opTextNames()) {
    OperationName name(each.name, &context);
    std::string operands, results;
    std::string level = each.level;
    for (int i = 0; i < each.leastOperands; ++i)
      operands +=
          std::string(i ? ", " : "") + "%0:tensor<[1, 4], Float32, CPU>";
    for (int i = 0; i < each.leastResults; ++i)
      results += (i ? ", %" : "%") + std::to_string(i + 1) +
                 ":tensor<[1, 4], Float32, CPU>";
    for (StringAttr attribute : name.getRegisteredInfo()->getAttributeNames())
      for (const char *value : values) {
        std::string attributes = attribute.str() + ":" + value;
        for (StringRef needed : llvm::split(each.needed, ' '))
          if (!needed.empty() && needed != attribute)
            attributes += ", " + needed.str() + ":" + value;
        std::string text = "@main () -> () { tensor.CPU.input () -> "
                           "(%0:tensor<[1, 4], Float32, CPU>) op\"" +
                           std::string(each.name) + "\" [" + attributes +
                           "] (" + operands + ") -> (" + results + ") }";
        if (!parse(text)) {
          EXPECT_FALSE(errors.empty()) << text;
        }
      }
  }
}

// SPEC: 346
TEST_F(HostileTextTest, EveryMentionOfAValueHasItsType) {
  expectRefused("@main () -> (){\n"
                "  graph.SubGraphOp @f <kCPU>{\n"
                "    (%1:tensor<[2], kFp32, kCPU>) -> (%2:tensor<[2], kFp32, "
                "kCPU>){\n"
                "      linalg.kCPU.NegOp(%1) -> (%2:tensor<[2], kFp32, "
                "kCPU>)\n"
                "    }\n  }\n}",
                "':'");
  expectRefused(
      "@main () -> (){\n"
      "  graph.SubGraphOp @f <kCPU>{\n"
      "    (%1:tensor<[2], kFp32, kCPU>) -> (%2:tensor<[2], kFp32, kCPU>){\n"
      "      linalg.kCPU.AddOp(%1:tensor<[2], kFp32, kCPU>, %1:tensor<[3], "
      "kFp32, kCPU>) -> (%2:tensor<[2], kFp32, kCPU>)\n"
      "    }\n  }\n}",
      "loc(\"t\":4:54): %1 is of type 'tensor<2xf32>', and is mentioned with "
      "type 'tensor<3xf32>'");
  expectRefused(
      "@main () -> (){\n"
      "  graph.SubGraphOp @f <kCPU>{\n"
      "    (%1:tensor<[2], kFp32, kCPU>) -> (%2:tensor<[3], kFp32, kCPU>){\n"
      "      cf.ReturnOp(%1:tensor<[2], kFp32, kCPU>) -> ()\n"
      "    }\n  }\n}",
      "the header of the region says 'tensor<3xf32>', and its last op returns "
      "'tensor<2xf32>'");
}

} // namespace
