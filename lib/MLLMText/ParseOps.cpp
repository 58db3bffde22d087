//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Parsing of ops.
//
//===----------------------------------------------------------------------===//

#include "Parser.h"
#include "Printer.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/SymbolTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace llmir::mllm;
namespace shapes = llmir::shapes;

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

/// Ops by "level.Class" and "level.mnemonic"; both spellings are read.
static const llvm::StringMap<const OpTextName *> &opsByText() {
  static const auto *table = [] {
    auto *made = new llvm::StringMap<const OpTextName *>();
    for (const OpTextName &each : opTextNames()) {
      StringRef level = each.level;
      (*made)[(level + "." + each.cls).str()] = &each;
      (*made)[StringRef(each.name).drop_front(strlen("mllm."))] = &each;
    }
    (*made)["linalg.LLMEmbeddingTokenOp"] =
        findOpTextName(EmbeddingOp::getOperationName());
    return made;
  }();
  return *table;
}

/// "prog.CPU.inst.a+b": after the first kernel's name.
LogicalResult TextParser::parseKernelNames(StringRef first, Head &head) {
  head.kernels.push_back(first.str());
  while (consumeSign('+')) {
    if (!is(Token::Word))
      return unexpected("the name of a kernel");
    head.kernels.push_back(token.text);
    advance();
  }
  return success();
}

/// The kernels that the head of an instruction names are those of its region.
LogicalResult TextParser::checkKernelNames(const Head &head, Operation *op) {
  auto instruction = dyn_cast<program::InstructionOp>(op);
  if (head.kernels.empty() || !instruction)
    return success();
  // A region without a block is refused by the verifier.
  SmallVector<StringRef> names;
  if (!instruction.getBody().empty())
    names = kernelNames(instruction);
  if (llvm::equal(names, head.kernels))
    return success();
  return error(head.start) << "the instruction is said to run "
                           << llvm::join(head.kernels, "+")
                           << ", and its region has "
                           << (names.empty() ? "no kernel"
                                             : llvm::join(names, "+"));
}

/// "linalg.kCPU.LinearOp", "prog.exit", op"arith.addf".
LogicalResult TextParser::parseOpName(Head &head) {
  head.start = token.start;
  if (is(Token::Op)) {
    head.name = token.text;
    OperationName name(head.name, &context);
    if (head.name.empty() ||
        (!name.isRegistered() && !context.allowsUnregisteredDialects()))
      return error(head.start)
             << "no dialect of this program has an op '" << head.name << "'";
    advance();
    return success();
  }
  if (!is(Token::Word))
    return unexpected("an op, for example linalg.CPU.AddOp, or '}'");
  std::string text = token.text;
  StringRef rest = text;
  auto [level, after] = rest.split('.');
  auto [word, tail] = after.split('.');
  if (std::optional<::mllm::DeviceTypes> device = parseDevice(word)) {
    head.device = device;
    after = tail;
  }
  if (level == "prog")
    level = "program";
  if (level == "program" && (after == "inst" || after.starts_with("inst."))) {
    head.name = program::InstructionOp::getOperationName();
    advance();
    return after == "inst" ? success()
                           : parseKernelNames(after.drop_front(5), head);
  }
  auto found = opsByText().find((level + "." + after).str());
  if (found == opsByText().end())
    return error(head.start) << "'" << StringRef(text).take_front(80)
                             << "' is not an op of this notation";
  head.name = found->second->name;
  advance();
  return success();
}

/// "<kCPU>", "<code>", "<notype>", "<name="…">", "<loc=mlir"…">".
LogicalResult TextParser::parseAngles(Head &head) {
  advance();
  if (!is(Token::Word))
    return unexpected("a device, name=, or loc=");
  std::string word = token.text;
  const char *place = token.start;
  advance();
  if (consumeSign('=')) {
    std::string text = token.text;
    const char *value = token.start;
    if (word == "name") {
      if (!is(Token::String))
        return unexpected("a text in quotes");
      head.location = NameLoc::get(builder.getStringAttr(text));
    } else if (word == "loc" || word == "properties") {
      if (!is(Token::MLIR))
        return unexpected("a text of MLIR, mlir\"…\"");
      Attribute parsed;
      if (failed(parseMLIR(text, value, [&] {
            return bool(parsed = mlir::parseAttribute(text, &context));
          })))
        return failure();
      if (word == "properties")
        head.properties = parsed;
      else if (!(head.location = dyn_cast<LocationAttr>(parsed)))
        return error(value) << "this is not a location";
    } else {
      return error(place) << "'" << word
                          << "=' is not known; name=, loc= and "
                             "properties= are";
    }
    advance();
  } else if (auto device = parseDevice(word)) {
    head.device = device;
  } else if (auto kind = word == "table"
                             ? std::optional(program::FragmentKind::Text)
                             : program::symbolizeFragmentKind(word)) {
    head.kind = kind;
  } else if (word != "notype") {
    return error(place) << "'" << word
                        << "' is neither a device nor a kind of "
                           "fragment";
  }
  return expectSign('>', "after what '<' begins");
}

LogicalResult TextParser::parseHead(Head &head) {
  if (failed(parseOpName(head)))
    return failure();
  if (is(Token::Symbol)) {
    head.symbol = token.text;
    if (head.symbol->empty())
      return error(token.start) << "a symbol is empty";
    advance();
  }
  while (isSign('<'))
    if (failed(parseAngles(head)))
      return failure();
  head.hasBrackets = consumeSign('[');
  if (head.hasBrackets && failed(parseAttributes(head.attributes, ']')))
    return failure();
  setSymbol(head);
  return success();
}

/// A symbol is that of the op or the callee of a call.
void TextParser::setSymbol(Head &head) {
  if (!head.symbol)
    return;
  if (head.name == CallGraphOp::getOperationName())
    head.attributes.set("callee",
                        FlatSymbolRefAttr::get(&context, *head.symbol));
  else
    head.attributes.set(SymbolTable::getSymbolAttrName(),
                        builder.getStringAttr(*head.symbol));
}

LocationAttr TextParser::keepLocation(Operation *op, const Head &head) {
  LocationAttr kept =
      head.location ? head.location : LocationAttr(builder.getUnknownLoc());
  locations.emplace_back(op, kept);
  return kept;
}

LogicalResult TextParser::parseOp(Block &block) {
  Head head;
  if (failed(parseHead(head)))
    return failure();
  if (head.name == SubGraphOp::getOperationName())
    return parseSubGraph(head, block);
  if (head.name == program::FragmentOp::getOperationName())
    return parseFragment(head, block);
  if (head.name == RegisterOp::getOperationName())
    return parseRegister(head, block);
  return parsePlain(head, block);
}

//===----------------------------------------------------------------------===//
// Regions and subgraphs
//===----------------------------------------------------------------------===//

/// Compares the results declared in a region header with the returned values.
LogicalResult TextParser::checkReturned(ArrayRef<Mention> outputs,
                                        Block &block) {
  ValueRange returned;
  if (!block.empty() && block.back().hasTrait<OpTrait::IsTerminator>())
    returned = block.back().getOperands();
  if (returned.size() != outputs.size())
    return error(outputs.empty() ? token.start : outputs.front().start)
           << "the header of the region names " << outputs.size()
           << " results, and its last op returns " << returned.size();
  for (auto [mention, value] : llvm::zip(outputs, returned))
    if (mention.type != value.getType())
      return error(mention.start)
             << "the header of the region says " << mention.type
             << ", and its last op returns " << value.getType();
  return success();
}

/// "(inputs) -> (outputs) { ops }"
LogicalResult TextParser::parseRegion(Region &region, bool isIsolated,
                                      SmallVectorImpl<Mention> &inputs) {
  SmallVector<Mention> outputs;
  if (failed(parseMentions(inputs)) ||
      failed(expectArrow("after the inputs of a region")) ||
      failed(parseMentions(outputs)))
    return failure();
  // "() -> ()" without a body is a region without ops.
  if (!isSign('{') && inputs.empty() && outputs.empty())
    return success();
  if (failed(expectSign('{', "before the ops of a region")))
    return failure();
  Block &block = region.emplaceBlock();
  scopes.push_back({{}, isIsolated});
  llvm::scope_exit leave([&] { scopes.pop_back(); });
  for (const Mention &input : inputs) {
    // Attributes of subgraphs' arguments are set with the subgraph.
    Value value = block.addArgument(input.type, lexer.location(input.start));
    if (!scopes.back().values.try_emplace(input.name, value).second)
      return error(input.start)
             << "%" << input.name << " is defined twice in its scope";
  }
  if (failed(parseOps(block)) || failed(checkReturned(outputs, block)))
    return failure();
  for (Value argument : block.getArguments())
    argument.setLoc(builder.getUnknownLoc());
  return success();
}

/// "(types) -> (types)": a declaration of a subgraph.
LogicalResult TextParser::parseDeclaration(Head &head, Block &block) {
  auto parseTypes = [&](SmallVectorImpl<Type> &types) -> LogicalResult {
    if (failed(expectSign('(', "before a list of types")))
      return failure();
    while (!consumeSign(')')) {
      FailureOr<Type> type = parseType();
      if (failed(type))
        return failure();
      types.push_back(*type);
      if (!isSign(')') && !consumeSign(','))
        return unexpected("',' or ')'");
    }
    return success();
  };
  SmallVector<Type> inputs, outputs;
  if (failed(parseTypes(inputs)) || failed(expectArrow("after the inputs")) ||
      failed(parseTypes(outputs)))
    return failure();
  head.attributes.set("function_type",
                      TypeAttr::get(builder.getFunctionType(inputs, outputs)));
  SmallVector<std::unique_ptr<Region>> regions;
  regions.push_back(std::make_unique<Region>());
  return makePlain(head, {}, {}, regions, block);
}

LogicalResult TextParser::parseSubGraph(Head &head, Block &block) {
  if (!head.symbol)
    return error(head.start) << "a subgraph has no name; write @name";
  if (head.device && *head.device != ::mllm::kCPU &&
      !head.attributes.get("device"))
    head.attributes.set(
        "device", DeviceAttr::get(&context, static_cast<Device>(*head.device)));
  if (isSign('('))
    return parseDeclaration(head, block);
  if (failed(expectSign('{', "before the region of a subgraph")))
    return failure();
  std::string outerPath = std::exchange(path, *head.symbol);
  llvm::scope_exit leave([&] { path = std::move(outerPath); });
  SmallVector<std::unique_ptr<Region>> regions;
  regions.push_back(std::make_unique<Region>());
  SmallVector<Mention> inputs;
  bool outerHasRegisters = std::exchange(hasRegisters, false);
  if (failed(parseRegion(*regions[0], /*isIsolated=*/true, inputs)) ||
      failed(expectSign('}', "after the region of a subgraph")))
    return failure();
  bool holdsRegisters = std::exchange(hasRegisters, outerHasRegisters);
  // `init` contains only parameters, which are registered in the module.
  bool isInit = *head.symbol == "init" && inputs.empty() &&
                !regions[0]->empty() &&
                llvm::hasSingleElement(regions[0]->front()) &&
                isa<ReturnOp>(regions[0]->front().front()) && holdsRegisters;
  if (isInit) {
    // The return is removed with the region; registers may follow it.
    Operation *returned = &regions[0]->front().front();
    llvm::erase_if(locations,
                   [&](const auto &entry) { return entry.first == returned; });
    return success();
  }
  SmallVector<Type> types, results;
  for (const Mention &input : inputs)
    types.push_back(input.type);
  if (!regions[0]->empty() && !regions[0]->front().empty())
    llvm::append_range(results, regions[0]->front().back().getOperandTypes());
  head.attributes.set("function_type",
                      TypeAttr::get(builder.getFunctionType(types, results)));
  if (failed(makePlain(head, {}, {}, regions, block)))
    return failure();
  auto subgraph = cast<SubGraphOp>(block.back());
  for (auto [index, input] : llvm::enumerate(inputs)) {
    NamedAttrList attributes = valueDictionary(input);
    if (!isNumberName(input.name) && !attributes.get(kValueNameKey))
      attributes.set(kValueNameKey, builder.getStringAttr(input.name));
    if (!attributes.empty())
      setValueAttributes(subgraph.getArgument(index),
                         attributes.getDictionary(&context));
  }
  return success();
}

LogicalResult TextParser::parseFragment(Head &head, Block &block) {
  if (!head.kind)
    return error(head.start) << "a fragment does not say what it holds; write "
                                "<code>, <data> or <text>";
  head.attributes.set("kind",
                      program::FragmentKindAttr::get(&context, *head.kind));
  if (failed(expectSign('{', "before the ops of a fragment")))
    return failure();
  SmallVector<std::unique_ptr<Region>> regions;
  regions.push_back(std::make_unique<Region>());
  Block &body = regions[0]->emplaceBlock();
  scopes.push_back({{}, /*isIsolated=*/true});
  LogicalResult parsed = parseOps(body);
  scopes.pop_back();
  if (failed(parsed))
    return failure();
  return makePlain(head, {}, {}, regions, block);
}

/// "tensor.CPU.register [source:…] () -> (%2:tensor<…>[@model.fc.weight])"
LogicalResult TextParser::parseRegister(Head &head, Block &block) {
  SmallVector<Mention> operands, results;
  if (failed(parseMentions(operands)) ||
      failed(expectArrow("after the operands")) ||
      failed(parseMentions(results)))
    return failure();
  if (!operands.empty() || results.size() != 1)
    return error(head.start)
           << "a parameter has no operand and one result, its value";
  std::optional<std::string> symbol =
      results[0].symbol ? results[0].symbol : head.symbol;
  if (!symbol || symbol->empty())
    return error(results[0].start)
           << "a parameter has no name; write [@name] after its type";
  head.attributes.set(SymbolTable::getSymbolAttrName(),
                      builder.getStringAttr(*symbol));
  head.attributes.set("type", TypeAttr::get(results[0].type));
  // Parameters are registered in the module, independent of their position in
  // the text.
  hasRegisters |= &block != module->getBody();
  return makePlain(head, {}, {}, {}, *module->getBody());
}

//===----------------------------------------------------------------------===//
// All other ops
//===----------------------------------------------------------------------===//

LogicalResult TextParser::parsePlain(Head &head, Block &block) {
  SmallVector<Mention> operands, results;
  // An op without values may omit "() -> ()".
  if (isSign('(') && (failed(parseMentions(operands)) ||
                      failed(expectArrow("after the operands")) ||
                      failed(parseMentions(results))))
    return failure();
  SmallVector<std::unique_ptr<Region>> regions;
  if (consumeSign('{')) {
    while (!consumeSign('}')) {
      if (!isSign('('))
        return unexpected("a region, which begins with '(', or '}'");
      regions.push_back(std::make_unique<Region>());
      SmallVector<Mention> inputs;
      OperationName name(head.name, &context);
      if (failed(parseRegion(*regions.back(),
                             name.hasTrait<OpTrait::IsIsolatedFromAbove>(),
                             inputs)))
        return failure();
      for (const Mention &input : inputs)
        if (!valueDictionary(input).empty())
          return error(input.start) << "%" << input.name
                                    << " carries no attributes: only results "
                                       "and the arguments of subgraphs do";
    }
  }
  return makePlain(head, operands, results, regions, block);
}

/// Check required operands and attributes before creating an op, since its
/// parents access them before the op is verified.
LogicalResult TextParser::checkComplete(const Head &head, size_t operands,
                                        size_t results) {
  const OpTextName *known = findOpTextName(head.name);
  if (!known)
    return success();
  auto check = [&](size_t count, int least, int most,
                   const char *what) -> LogicalResult {
    if (count >= static_cast<size_t>(least) &&
        (most < 0 || count <= static_cast<size_t>(most)))
      return success();
    InFlightDiagnostic diagnostic = error(head.start);
    diagnostic << head.name << " has " << count << " " << what
               << ", and takes ";
    if (most == least)
      return diagnostic << least;
    return diagnostic << (most < 0 ? "at least " : "no more than ")
                      << (most < 0 ? least : most);
  };
  if (failed(check(operands, known->leastOperands, known->mostOperands,
                   "operands")) ||
      failed(
          check(results, known->leastResults, known->mostResults, "results")))
    return failure();
  for (StringRef each : llvm::split(known->needed, ' '))
    if (!each.empty() && !head.attributes.get(each))
      return error(head.start)
             << head.name << " lacks '" << each << "'; write [" << each
             << ":…] before its operands";
  return success();
}

LogicalResult TextParser::makePlain(
    Head &head, ArrayRef<Mention> operands, ArrayRef<Mention> results,
    MutableArrayRef<std::unique_ptr<Region>> regions, Block &block) {
  OperationName name(head.name, &context);
  Location location = lexer.location(head.start);
  SmallVector<Value> values;
  if (&block == module->getBody() &&
      head.name == CallGraphOp::getOperationName() &&
      failed(makeInputs(operands, block)))
    return failure();
  for (const Mention &operand : operands) {
    if (!operand.attributes.empty() || operand.symbol)
      return error(operand.start)
             << "attributes of a value stand where it is defined";
    FailureOr<Value> value = lookup(operand);
    if (failed(value))
      return failure();
    values.push_back(*value);
  }
  SmallVector<Type> types;
  for (const Mention &result : results)
    types.push_back(result.type);
  if (failed(complete(head, values, types)) ||
      failed(checkComplete(head, values.size(), types.size())))
    return failure();

  OperationState state(location, name);
  state.addOperands(values);
  state.addTypes(types);
  for (std::unique_ptr<Region> &region : regions)
    state.addRegion(std::move(region));
  const OpTextName *known = findOpTextName(head.name);
  for (size_t i = regions.size(); known && i < known->regions; ++i)
    state.addRegion();
  if (auto info = name.getRegisteredInfo())
    if (failed(info->verifyInherentAttrs(head.attributes,
                                         [&] { return error(head.start); })))
      return failure();
  state.attributes = head.attributes;
  Operation *op = Operation::create(state);
  block.push_back(op);
  if (head.properties &&
      failed(op->setPropertiesFromAttribute(head.properties,
                                            [&] { return error(head.start); })))
    return failure();
  keepLocation(op, head);
  if (failed(checkKernelNames(head, op)))
    return failure();
  if (head.device && known && deviceTypeOf(op) != *head.device)
    return error(head.start)
           << "the op is said to run on " << ::mllm::deviceName(*head.device)
           << ", and its values lie on "
           << ::mllm::deviceName(deviceTypeOf(op));
  for (auto [result, value] : llvm::zip(results, op->getResults()))
    if (failed(define(result, value)))
      return failure();
  return success();
}
