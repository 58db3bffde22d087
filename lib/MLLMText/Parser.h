//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parser of the MLLM text format. Recursion is limited to nested
// constructs, at most kMaxDepth deep.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_MLLMTEXT_PARSER_H
#define LLMIR_LIB_MLLMTEXT_PARSER_H

#include "Lexer.h"

#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/MLLMText/Text.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/StringMap.h"

namespace llmir::mllm {

class TextParser {
public:
  static constexpr int kMaxDepth = 64;

  TextParser(llvm::StringRef text, llvm::StringRef fileName,
             mlir::MLIRContext &context);

  mlir::OwningOpRef<mlir::ModuleOp> parse();

private:
  using LogicalResult = mlir::LogicalResult;
  using ParseResult = mlir::ParseResult;

  /// The part of an op before its operands.
  struct Head {
    const char *start = nullptr;
    std::string name; ///< "mllm.linalg.linear"
    std::optional<::mllm::DeviceTypes> device;
    std::optional<std::string> symbol;
    std::optional<program::FragmentKind> kind;
    llvm::SmallVector<std::string> kernels; ///< Of an instruction.
    mlir::LocationAttr location;
    mlir::Attribute properties;
    mlir::NamedAttrList attributes;
    bool hasBrackets = false; ///< Whether there are attributes in the text.
  };
  /// A use or definition of a value: "%4:tensor<…>[@symbol][key:value]".
  struct Mention {
    const char *start = nullptr;
    std::string name;
    mlir::Type type;
    std::optional<std::string> symbol;
    mlir::NamedAttrList attributes;
  };
  struct Scope {
    llvm::StringMap<mlir::Value> values;
    bool isIsolated;
  };

  // Tokens.
  void advance() { token = lexer.next(); }
  bool is(Token::Kind kind) const { return token.kind == kind; }
  bool isSign(char sign) const {
    return token.kind == Token::Sign && token.text[0] == sign;
  }
  bool consumeSign(char sign) {
    bool found = isSign(sign);
    if (found)
      advance();
    return found;
  }
  LogicalResult expectSign(char sign, const char *where);
  LogicalResult expectArrow(const char *where);
  mlir::InFlightDiagnostic error(const char *place);
  /// Reports an unexpected token, or the error of the lexer.
  LogicalResult unexpected(const llvm::Twine &wanted);
  /// Runs an MLIR parser on `text`, all of which it must consume, and reports
  /// its errors at `place`.
  LogicalResult parseMLIR(llvm::StringRef text, const char *place,
                          llvm::function_ref<bool()> parse);

  // Parts of ops.
  LogicalResult parseAttributes(mlir::NamedAttrList &attributes, char close);
  mlir::FailureOr<mlir::Attribute> parseAttribute();
  mlir::FailureOr<mlir::Attribute> parseNumber();
  mlir::FailureOr<mlir::Attribute> parseIntegers();
  mlir::FailureOr<mlir::Type> parseType();
  mlir::FailureOr<mlir::Type> parseShaped(bool isTensor);
  LogicalResult parseShape(shapes::Shape &shape);
  LogicalResult parseMention(Mention &mention);
  LogicalResult parseMentions(llvm::SmallVectorImpl<Mention> &mentions);
  LogicalResult parseAngles(Head &head);

  // Ops.
  LogicalResult parseModule();
  LogicalResult parseOps(mlir::Block &block);
  LogicalResult parseOp(mlir::Block &block);
  LogicalResult parseHead(Head &head);
  LogicalResult parseOpName(Head &head);
  LogicalResult parseKernelNames(llvm::StringRef first, Head &head);
  LogicalResult checkKernelNames(const Head &head, mlir::Operation *op);
  LogicalResult parseSubGraph(Head &head, mlir::Block &block);
  LogicalResult parseDeclaration(Head &head, mlir::Block &block);
  LogicalResult parseFragment(Head &head, mlir::Block &block);
  LogicalResult parseRegister(Head &head, mlir::Block &block);
  LogicalResult parsePlain(Head &head, mlir::Block &block);
  LogicalResult parseRegion(mlir::Region &region, bool isIsolated,
                            llvm::SmallVectorImpl<Mention> &inputs);
  LogicalResult
  makePlain(Head &head, llvm::ArrayRef<Mention> operands,
            llvm::ArrayRef<Mention> results,
            llvm::MutableArrayRef<std::unique_ptr<mlir::Region>> regions,
            mlir::Block &block);

  // Adds what the documented spelling omits; Defaults.cpp.
  LogicalResult complete(Head &head, llvm::ArrayRef<mlir::Value> operands,
                         llvm::ArrayRef<mlir::Type> results);
  std::string layerName(const Head &head);
  LogicalResult completeParameter(Head &head, const std::string &layer,
                                  llvm::StringRef role,
                                  llvm::ArrayRef<std::optional<int64_t>> sizes);
  void completeOption(Head &head, llvm::StringRef name, mlir::Attribute value);
  void completeAttention(Head &head, llvm::ArrayRef<mlir::Value> operands,
                         llvm::ArrayRef<mlir::Type> results);
  LogicalResult registerSynthesized();

  LogicalResult checkComplete(const Head &head, size_t operands,
                              size_t results);
  /// Creates the inputs of the model for undefined operands of a module-level
  /// call, as in the documented spelling.
  LogicalResult makeInputs(llvm::ArrayRef<Mention> operands,
                           mlir::Block &block);

  // Values.
  mlir::FailureOr<mlir::Value> lookup(const Mention &mention);
  LogicalResult define(const Mention &mention, mlir::Value value);
  LogicalResult checkReturned(llvm::ArrayRef<Mention> outputs,
                              mlir::Block &block);
  mlir::LocationAttr keepLocation(mlir::Operation *op, const Head &head);
  void setSymbol(Head &head);
  bool isNumberName(llvm::StringRef name) const;
  mlir::NamedAttrList valueDictionary(const Mention &mention);

  mlir::MLIRContext &context;
  mlir::Builder builder;
  Lexer lexer;
  Token token;
  int depth = 0;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<Scope> scopes;
  /// Ops have file locations until the module is verified.
  std::vector<std::pair<mlir::Operation *, mlir::LocationAttr>> locations;
  /// The path of the current subgraph, for names of parameters.
  std::string path;
  /// Number of completed ops by name, for names and layer indices.
  llvm::StringMap<int64_t> completed;
  struct Parameter {
    std::string name;
    mlir::Type type; ///< For a table: type of the lookup.
    const char *start;
  };
  std::vector<Parameter> synthesized, tables;
  bool hasDefaults = false; ///< Whether a default was added.
  const char *firstPlace = nullptr;
  /// Whether the current subgraph registers a parameter.
  bool hasRegisters = false;
};

} // namespace llmir::mllm

#endif // LLMIR_LIB_MLLMTEXT_PARSER_H
