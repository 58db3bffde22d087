//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Target/CPU/CPUTarget.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

namespace llmir {

struct CPUCodeGenerator::State {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;
};

CPUCodeGenerator::CPUCodeGenerator(std::unique_ptr<State> state)
    : state(std::move(state)) {}
CPUCodeGenerator::CPUCodeGenerator(CPUCodeGenerator &&) noexcept = default;
CPUCodeGenerator::~CPUCodeGenerator() = default;

static Status internal(const std::string &cause) {
  return Status(StatusCode::Internal, cause,
                "this is a bug of LLMIR: please report it with the command");
}

/// Initialises the back ends of CPULevels.def once per process.
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

/// Every function is for the level, never unwinds, and uses whole registers.
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
    // A loop that writes zeros is not to become a call of memset.
    function.addFnAttr("no-builtins");
    if (function.hasInternalLinkage())
      function.addFnAttr(llvm::Attribute::NoInline);
  }
}

Expected<CPUCodeGenerator> CPUCodeGenerator::create(mlir::ModuleOp module,
                                                    const CPULevel &level) {
  initializeTargets();
  auto state = std::make_unique<State>();
  mlir::registerBuiltinDialectTranslation(*module.getContext());
  mlir::registerLLVMDialectTranslation(*module.getContext());
  state->module =
      mlir::translateModuleToLLVMIR(module, state->context, "llmir_step");
  if (!state->module)
    return internal("the lowered program cannot be translated to LLVM IR");

  llvm::Triple triple(level.triple());
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return internal("LLVM has no target for " + triple.str() + ": " + error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict; // fma only where written
  state->machine.reset(target->createTargetMachine(
      triple, level.llvmCPU, level.llvmFeatures, options, llvm::Reloc::PIC_,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  state->module->setTargetTriple(triple);
  state->module->setDataLayout(state->machine->createDataLayout());
  setFunctionAttributes(*state->module, level);
  return CPUCodeGenerator(std::move(state));
}

void CPUCodeGenerator::addNotes(Span<const uint8_t> notes) {
  llvm::Module &module = *state->module;
  llvm::Constant *bytes = llvm::ConstantDataArray::get(
      state->context, llvm::ArrayRef<uint8_t>(notes.data(), notes.size()));
  auto *global = new llvm::GlobalVariable(
      module, bytes->getType(), /*isConstant=*/true,
      llvm::GlobalValue::PrivateLinkage, bytes, "llmir_notes");
  // The name makes it a section of notes, which garbage collection leaves.
  global->setSection(".note.llmir");
  global->setAlignment(llvm::Align(4));
  llvm::appendToCompilerUsed(module, {global});
}

void CPUCodeGenerator::optimize() {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  // Kernels are vector code already; what is scalar in them is meant to be.
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  llvm::PassBuilder builder(state->machine.get(), tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(*state->module, modules);
}

std::string CPUCodeGenerator::llvmText() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  state->module->print(stream, nullptr);
  return text;
}

/// Runs the back end.
static Expected<llvm::SmallVector<char, 0>>
emitMachineCode(llvm::TargetMachine &machine, const llvm::Module &module,
                llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    return internal("LLVM's target cannot write this kind of file");
  // The back end changes the module: it works on a copy.
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  passes.run(*copy);
  return bytes;
}

Expected<std::string> CPUCodeGenerator::assembly() const {
  auto bytes = emitMachineCode(*state->machine, *state->module,
                               llvm::CodeGenFileType::AssemblyFile);
  if (!bytes)
    return bytes.takeStatus();
  return std::string(bytes->begin(), bytes->end());
}

/// Names of the symbols that the object needs and does not define.
static Expected<std::string> undefinedSymbols(llvm::ArrayRef<char> object) {
  auto parsed =
      llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(
          llvm::StringRef(object.data(), object.size()), "step.o"));
  if (!parsed)
    return internal("LLVM wrote an object that cannot be read: " +
                    llvm::toString(parsed.takeError()));
  std::string names;
  for (const llvm::object::SymbolRef &symbol : (*parsed)->symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    if (!flags || !name) {
      llvm::consumeError(flags.takeError());
      llvm::consumeError(name.takeError());
      return internal("LLVM wrote an object with a broken symbol table");
    }
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) && !name->empty())
      names += (names.empty() ? "" : ", ") + name->str();
  }
  return names;
}

Expected<std::vector<uint8_t>> CPUCodeGenerator::object() const {
  auto bytes = emitMachineCode(*state->machine, *state->module,
                               llvm::CodeGenFileType::ObjectFile);
  if (!bytes)
    return bytes.takeStatus();
  Expected<std::string> undefined = undefinedSymbols(*bytes);
  if (!undefined)
    return undefined.takeStatus();
  if (!undefined->empty())
    return internal("the compiled step calls " + *undefined +
                    ", which no artifact can provide");
  return std::vector<uint8_t>(bytes->begin(), bytes->end());
}

} // namespace llmir
