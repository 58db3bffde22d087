//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Target/CPU/CPUTarget.h"
#include "ObjectCache.h"
#include "SplitModule.h"

#include "llmir/Support/ParallelFor.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include <set>

namespace llmir {

struct CPUCodeGenerator::State {
  const llvm::Target *target = nullptr;
  const CPULevel *level = nullptr;
  /// The functions, in the order of the module; then notes.
  std::vector<std::unique_ptr<ModulePart>> parts;

  std::unique_ptr<llvm::TargetMachine> createMachine() const;
  /// Calls body(part, i) for each part, on all processors.
  Status forEachPart(
      llvm::function_ref<Status(ModulePart &part, size_t i)> body) const;
  Status optimizeAll() const;
  Expected<std::vector<uint8_t>> objectOf(ModulePart &part,
                                          const ObjectCache *cache) const;
};

CPUCodeGenerator::CPUCodeGenerator(std::unique_ptr<State> state)
    : state(std::move(state)) {}
CPUCodeGenerator::CPUCodeGenerator(CPUCodeGenerator &&) noexcept = default;
CPUCodeGenerator::~CPUCodeGenerator() = default;

static Status internal(const std::string &cause) {
  return Status(StatusCode::Internal, cause,
                "this is a bug of LLMIR: please report it with the command");
}

/// Initializes the backends of CPULevels.def once per process.
static void initializeTargets() {
  static const bool done = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    return true;
  }();
  (void)done;
}

/// Every function targets the level, never unwinds, and uses full-width
/// registers.
static void setFunctionAttributes(llvm::Module &module, const CPULevel &level) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", level.llvmCPU);
    if (!level.llvmFeatures.empty())
      function.addFnAttr("target-features", level.llvmFeatures);
    std::string bits = std::to_string(level.vectorBits);
    function.addFnAttr("prefer-vector-width", bits);
    function.addFnAttr("min-legal-vector-width", bits);
    function.addFnAttr(llvm::Attribute::NoUnwind);
    // Loops that write zeros must not become calls of memset.
    function.addFnAttr("no-builtins");
    if (function.hasInternalLinkage())
      function.addFnAttr(llvm::Attribute::NoInline);
  }
}

/// What createMachine() chooses, as a part of the keys of cached objects.
static constexpr llvm::StringLiteral kMachineOptions =
    "; fp-contract=off, PIC, aggressive";

std::unique_ptr<llvm::TargetMachine>
CPUCodeGenerator::State::createMachine() const {
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict; // fma only where explicit
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      llvm::Triple(level->triple()), level->llvmCPU, level->llvmFeatures,
      options, llvm::Reloc::PIC_, std::nullopt,
      llvm::CodeGenOptLevel::Aggressive));
}

Status CPUCodeGenerator::State::forEachPart(
    llvm::function_ref<Status(ModulePart &, size_t)> body) const {
  // The longest tasks come first, for better load balance.
  std::vector<std::pair<int64_t, size_t>> order;
  for (auto [i, part] : llvm::enumerate(parts))
    order.emplace_back(-int64_t(part->module->getInstructionCount()), i);
  llvm::sort(order);
  std::vector<Status> results(parts.size());
  const bool fits = parallelFor(0, order.size(), 1, [&](int64_t at) {
    size_t i = order[at].second;
    results[i] = body(*parts[i], i);
  });
  if (!fits)
    return noMemoryForCode();
  for (Status &result : results)
    LLMIR_RETURN_IF_ERROR(std::move(result));
  return Status::ok();
}

Expected<CPUCodeGenerator> CPUCodeGenerator::create(mlir::ModuleOp module,
                                                    const CPULevel &level) {
  initializeTargets();
  auto state = std::make_unique<State>();
  mlir::registerBuiltinDialectTranslation(*module.getContext());
  mlir::registerLLVMDialectTranslation(*module.getContext());
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> whole =
      mlir::translateModuleToLLVMIR(module, context, "llmir_step");
  if (!whole)
    return internal("the lowered program cannot be translated to LLVM IR");

  llvm::Triple triple(level.triple());
  std::string error;
  state->level = &level;
  state->target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!state->target)
    return internal("LLVM has no target for " + triple.str() + ": " + error);
  whole->setTargetTriple(triple);
  whole->setDataLayout(state->createMachine()->createDataLayout());
  setFunctionAttributes(*whole, level);
  auto parts = splitModule(*whole);
  if (!parts)
    return parts.takeStatus();
  state->parts = std::move(*parts);
  if (state->parts.empty())
    return internal("the lowered program has no function");
  return CPUCodeGenerator(std::move(state));
}

void CPUCodeGenerator::addNotes(Span<const uint8_t> notes) {
  ModulePart &part = *state->parts.emplace_back(std::make_unique<ModulePart>());
  const llvm::Module &step = *state->parts.front()->module;
  part.module = std::make_unique<llvm::Module>("llmir_notes", part.context);
  part.module->setTargetTriple(step.getTargetTriple());
  part.module->setDataLayout(step.getDataLayout());
  llvm::Constant *bytes = llvm::ConstantDataArray::get(
      part.context, llvm::ArrayRef<uint8_t>(notes.data(), notes.size()));
  auto *global = new llvm::GlobalVariable(
      *part.module, bytes->getType(), /*isConstant=*/true,
      llvm::GlobalValue::PrivateLinkage, bytes, "llmir_notes");
  // The name makes it a note section, which is not garbage-collected.
  global->setSection(".note.llmir");
  global->setAlignment(llvm::Align(4));
  llvm::appendToCompilerUsed(*part.module, {global});
}

/// The passes of LLVM's -O3 that change kernels; with the others the code of
/// each kernel is the same, instruction by instruction. Kernels are already
/// vectorized: their scalar code is intentional.
static constexpr llvm::StringLiteral kFunctionPasses =
    "simplifycfg<switch-range-to-icmp>,"
    "sccp,"
    "instcombine<no-verify-fixpoint>,"
    "early-cse<memssa>,"
    "jump-threading,"
    "correlated-propagation,"
    "instcombine<no-verify-fixpoint>,"
    "tailcallelim,"
    "simplifycfg<switch-range-to-icmp>,"
    "reassociate,"
    "constraint-elimination,"
    "loop-mssa(licm<no-allowspeculation>,loop-rotate,licm,"
    "simple-loop-unswitch<nontrivial;trivial>),"
    "simplifycfg<switch-range-to-icmp>,"
    "instcombine<no-verify-fixpoint>,"
    "loop(indvars,loop-deletion,loop-unroll-full),"
    "sroa,"
    "gvn,"
    "sccp,"
    "jump-threading,"
    "correlated-propagation,"
    "loop-mssa(licm),"
    "simplifycfg<switch-range-to-icmp;switch-to-arithmetic;"
    "hoist-common-insts;sink-common-insts>,"
    "loop(loop-rotate),"
    "infer-alignment,"
    "loop-unroll<O3>,"
    "instcombine<no-verify-fixpoint>,"
    "loop-mssa(licm),"
    "instsimplify";

/// Runs LLVM's optimizations.
static Status optimize(ModulePart &part, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  llvm::FunctionPassManager passes;
  if (llvm::Error error = builder.parsePassPipeline(passes, kFunctionPasses))
    return internal("LLVM has no such pass: " +
                    llvm::toString(std::move(error)));
  for (llvm::Function &function : *part.module)
    if (!function.isDeclaration())
      passes.run(function, functions);
  part.isOptimized = true;
  return Status::ok();
}

Status CPUCodeGenerator::State::optimizeAll() const {
  return forEachPart([&](ModulePart &part, size_t) {
    return part.isOptimized ? Status::ok() : optimize(part, *createMachine());
  });
}

Expected<std::string> CPUCodeGenerator::llvmText() {
  LLMIR_RETURN_IF_ERROR(state->optimizeAll());
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> merged = mergeParts(state->parts, context);
  if (!merged)
    return internal("the parts of the compiled step cannot be merged");
  std::string text;
  llvm::raw_string_ostream stream(text);
  merged->print(stream, nullptr);
  return text;
}

/// Runs the backend, which modifies the module.
static Expected<llvm::SmallVector<char, 0>>
emitMachineCode(llvm::TargetMachine &machine, llvm::Module &module,
                llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    return internal("the LLVM target cannot emit this kind of file");
  passes.run(module);
  return bytes;
}

/// Machine code of all parts together.
static Expected<llvm::SmallVector<char, 0>>
emitMerged(const std::vector<std::unique_ptr<ModulePart>> &parts,
           llvm::TargetMachine &machine, llvm::CodeGenFileType type) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> merged = mergeParts(parts, context);
  if (!merged)
    return internal("the parts of the compiled step cannot be merged");
  return emitMachineCode(machine, *merged, type);
}

Expected<std::string> CPUCodeGenerator::assembly() {
  LLMIR_RETURN_IF_ERROR(state->optimizeAll());
  auto bytes = emitMerged(state->parts, *state->createMachine(),
                          llvm::CodeGenFileType::AssemblyFile);
  if (!bytes)
    return bytes.takeStatus();
  return std::string(bytes->begin(), bytes->end());
}

namespace {
/// The undefined and the defined symbols of objects.
struct ObjectSymbols {
  std::set<std::string> undefined, defined;

  /// Adds the symbols of an object.
  Status read(llvm::ArrayRef<uint8_t> object);
  /// Fails if a symbol is undefined.
  Status check() const;
};
} // namespace

Status ObjectSymbols::read(llvm::ArrayRef<uint8_t> object) {
  auto parsed = llvm::object::ObjectFile::createELFObjectFile(
      llvm::MemoryBufferRef(llvm::toStringRef(object), "step.o"));
  if (!parsed)
    return internal("cannot read the object that LLVM emitted: " +
                    llvm::toString(parsed.takeError()));
  for (const llvm::object::SymbolRef &symbol : (*parsed)->symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    if (!flags || !name) {
      llvm::consumeError(flags.takeError());
      llvm::consumeError(name.takeError());
      return internal(
          "the object that LLVM emitted has an invalid symbol table");
    }
    const bool isNeeded = *flags & llvm::object::SymbolRef::SF_Undefined;
    if (!name->empty())
      (isNeeded ? undefined : defined).insert(name->str());
  }
  return Status::ok();
}

Status ObjectSymbols::check() const {
  std::string names;
  for (const std::string &name : undefined)
    if (!defined.count(name))
      names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? Status::ok()
                       : internal("the compiled step calls " + names +
                                  ", which an artifact cannot provide");
}

static std::vector<uint8_t> asBytes(llvm::ArrayRef<char> bytes) {
  return std::vector<uint8_t>(bytes.begin(), bytes.end());
}

Expected<std::vector<uint8_t>> CPUCodeGenerator::object() {
  LLMIR_RETURN_IF_ERROR(state->optimizeAll());
  auto bytes = emitMerged(state->parts, *state->createMachine(),
                          llvm::CodeGenFileType::ObjectFile);
  if (!bytes)
    return bytes.takeStatus();
  std::vector<uint8_t> object = asBytes(*bytes);
  ObjectSymbols symbols;
  LLMIR_RETURN_IF_ERROR(symbols.read(object));
  LLMIR_RETURN_IF_ERROR(symbols.check());
  return object;
}

/// The object of one part, from the cache if one is in use. Notes differ from
/// model to model.
Expected<std::vector<uint8_t>>
CPUCodeGenerator::State::objectOf(ModulePart &part,
                                  const ObjectCache *cache) const {
  std::string path;
  if (cache && !part.isOptimized && !part.module->empty()) {
    path =
        cache->pathFor(*part.module, (kFunctionPasses + kMachineOptions).str());
    if (std::optional<std::vector<uint8_t>> known = cache->find(path))
      return std::move(*known);
  }
  std::unique_ptr<llvm::TargetMachine> machine = createMachine();
  if (!part.isOptimized)
    LLMIR_RETURN_IF_ERROR(optimize(part, *machine));
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*part.module);
  auto bytes =
      emitMachineCode(*machine, *copy, llvm::CodeGenFileType::ObjectFile);
  if (!bytes)
    return bytes.takeStatus();
  std::vector<uint8_t> object = asBytes(*bytes);
  if (!path.empty())
    LLMIR_RETURN_IF_ERROR(cache->store(path, object));
  return object;
}

Expected<std::vector<uint8_t>>
CPUCodeGenerator::image(const std::string &entry) {
  Expected<std::optional<ObjectCache>> cache = ObjectCache::fromEnvironment();
  if (!cache)
    return cache.takeStatus();
  std::vector<std::vector<uint8_t>> objects(state->parts.size());
  std::vector<ObjectSymbols> found(objects.size());
  LLMIR_RETURN_IF_ERROR(
      state->forEachPart([&](ModulePart &part, size_t i) -> Status {
        auto object = state->objectOf(part, *cache ? &**cache : nullptr);
        if (!object)
          return object.takeStatus();
        objects[i] = std::move(*object);
        return found[i].read(objects[i]);
      }));
  ObjectSymbols all;
  for (ObjectSymbols &symbols : found) {
    all.undefined.merge(symbols.undefined);
    all.defined.merge(symbols.defined);
  }
  LLMIR_RETURN_IF_ERROR(all.check());
  return linkCodeImage(objects, entry);
}

} // namespace llmir
