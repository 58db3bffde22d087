//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One-Shot Bufferize models of the cache ops. A cache becomes a
// memref<!llm.paged_kv_cache<…>> that holds the one cache: an op loads the
// cache from it and stores its result back.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLM/Transforms/BufferizableOpInterfaceImpl.h"

#include "CacheUse.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace mlir::llm;

namespace {

//===----------------------------------------------------------------------===//
// The type
//===----------------------------------------------------------------------===//

MemRefType getPlaceType(Type cache) { return MemRefType::get({}, cache); }

struct CacheInMemRef
    : MemRefElementTypeInterface::ExternalModel<CacheInMemRef,
                                                PagedKVCacheType> {};

struct CacheAsTensor
    : TensorLikeType::ExternalModel<CacheAsTensor, PagedKVCacheType> {
  FailureOr<BufferLikeType>
  getBufferType(Type type, const BufferizationOptions &,
                function_ref<InFlightDiagnostic()>) const {
    return cast<BufferLikeType>(getPlaceType(type));
  }

  LogicalResult verifyCompatibleBufferType(
      Type type, BufferLikeType buffer,
      function_ref<InFlightDiagnostic()> emitError) const {
    if (buffer == getPlaceType(type))
      return success();
    return emitError() << "a cache of type " << type << " bufferizes to "
                       << getPlaceType(type) << ", not in " << buffer;
  }
};

//===----------------------------------------------------------------------===//
// The ops
//===----------------------------------------------------------------------===//

/// True for an op that has been bufferized: its cache is loaded from or stored
/// to a memref. It keeps its tensors, which are views of buffers.
bool isBufferized(KVCacheOpInterface op) {
  if (Value input = op.getCacheInput())
    return static_cast<bool>(input.getDefiningOp<memref::LoadOp>());
  return llvm::any_of(op.getCacheOutput().getUsers(), [](Operation *user) {
    return isa<memref::StoreOp>(user);
  });
}

/// Returns a producer or user of the cache that bufferizes as if there were
/// tensors only, or null.
Operation *findControlFlow(KVCacheOpInterface op) {
  auto isFine = [](Operation *other) {
    return isa<KVCacheOpInterface, CallOpInterface, func::ReturnOp>(other);
  };
  if (Value input = op.getCacheInput()) {
    if (Operation *source = input.getDefiningOp()) {
      if (!isFine(source))
        return source;
    } else if (Operation *owner = input.getParentBlock()->getParentOp();
               !isa<FunctionOpInterface>(owner)) {
      return owner;
    }
  }
  if (Value output = op.getCacheOutput())
    for (Operation *user : output.getUsers())
      if (!isFine(user))
        return user;
  return nullptr;
}

/// True if the op's cache enters or leaves its function, whose type must change
/// with it.
bool crossesFunction(KVCacheOpInterface op) {
  Value input = op.getCacheInput(), output = op.getCacheOutput();
  if (input &&
      (!input.getDefiningOp() || isa<CallOpInterface>(input.getDefiningOp())))
    return true;
  return output && llvm::any_of(output.getUsers(), [](Operation *user) {
           return isa<CallOpInterface, func::ReturnOp>(user);
         });
}

template <typename OpTy>
struct CacheOpModel
    : BufferizableOpInterface::ExternalModel<CacheOpModel<OpTy>, OpTy> {
  bool hasTensorSemantics(Operation *op) const {
    return !isBufferized(cast<KVCacheOpInterface>(op));
  }

  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }

  bool bufferizesToMemoryWrite(Operation *op, OpOperand &operand,
                               const AnalysisState &) const {
    auto cacheOp = cast<KVCacheOpInterface>(op);
    return cacheOp.writesCache() && operand.get() == cacheOp.getCacheInput();
  }

  /// Caches cannot be copied.
  bool mustBufferizeInPlace(Operation *op, OpOperand &operand,
                            const AnalysisState &state) const {
    return bufferizesToMemoryWrite(op, operand, state);
  }

  /// The analysis finds conflicts between tensors only, and MLIR's control flow
  /// ops forward tensors only: check both here.
  LogicalResult verifyAnalysis(Operation *op,
                               const AnalysisState &state) const {
    auto cacheOp = cast<KVCacheOpInterface>(op);
    if (Operation *other = findControlFlow(cacheOp))
      return op->emitOpError() << "cannot be bufferized: '" << other->getName()
                               << "' forwards tensors, but not caches";
    if (!state.getOptions().bufferizeFunctionBoundaries &&
        crossesFunction(cacheOp))
      return op->emitOpError()
             << "cannot be bufferized alone: its cache is an argument or a "
                "result of a function; add bufferize-function-boundaries to "
                "the options of -one-shot-bufferize";
    return cacheOp.writesCache() ? checkCacheUse(cacheOp.getCacheInput())
                                 : success();
  }

  AliasingValueList getAliasingValues(Operation *op, OpOperand &operand,
                                      const AnalysisState &state) const {
    if (!bufferizesToMemoryWrite(op, operand, state))
      return {};
    return {{cast<KVCacheOpInterface>(op).getCacheOutput(),
             BufferRelation::Equivalent}};
  }

  /// The inverse; the interface's default handles tensors only.
  AliasingOpOperandList getAliasingOpOperands(Operation *op, Value value,
                                              const AnalysisState &) const {
    auto cacheOp = cast<KVCacheOpInterface>(op);
    AliasingOpOperandList list;
    for (OpOperand &operand : op->getOpOperands())
      if (value == cacheOp.getCacheOutput() &&
          operand.get() == cacheOp.getCacheInput())
        list.addAlias({&operand, BufferRelation::Equivalent});
    return list;
  }

  bool bufferizesToAllocation(Operation *op, Value value) const {
    auto cacheOp = cast<KVCacheOpInterface>(op);
    return value != cacheOp.getCacheOutput() || !cacheOp.getCacheInput();
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto cacheOp = cast<KVCacheOpInterface>(op);
    Location loc = op->getLoc();
    FailureOr<Value> place = getPlace(cacheOp, rewriter, options, state);
    if (failed(place))
      return failure();

    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      FailureOr<Value> read =
          readOperand(operand, cacheOp, *place, rewriter, options, state);
      if (failed(read))
        return failure();
      operands.push_back(*read);
    }
    Operation *onBuffers = rewriter.clone(*op);
    rewriter.modifyOpInPlace(onBuffers,
                             [&] { onBuffers->setOperands(operands); });

    SmallVector<Value> results;
    for (Value result : onBuffers->getResults()) {
      if (isa<PagedKVCacheType>(result.getType())) {
        memref::StoreOp::create(rewriter, loc, result, *place);
        results.push_back(*place);
        continue;
      }
      auto type = cast<TensorLikeType>(result.getType());
      FailureOr<BufferLikeType> bufferType =
          type.getBufferType(options, [&] { return op->emitError(); });
      if (failed(bufferType))
        return failure();
      results.push_back(ToBufferOp::create(rewriter, loc, *bufferType, result));
    }
    replaceOpWithBufferizedValues(rewriter, op, results);
    return success();
  }

private:
  /// Returns the memref of the op's cache, or a new one if the op creates it.
  static FailureOr<Value> getPlace(KVCacheOpInterface op,
                                   RewriterBase &rewriter,
                                   const BufferizationOptions &options,
                                   BufferizationState &state) {
    if (Value input = op.getCacheInput())
      return getBuffer(rewriter, input, options, state);
    return options.createAlloc(rewriter, op.getLoc(),
                               getPlaceType(op.getCacheType()), {});
  }

  /// Loads the current cache, creates a view of the tensor's buffer, or returns
  /// any other value unchanged.
  static FailureOr<Value> readOperand(Value operand, KVCacheOpInterface op,
                                      Value place, RewriterBase &rewriter,
                                      const BufferizationOptions &options,
                                      BufferizationState &state) {
    Location loc = op.getLoc();
    if (operand == op.getCacheInput())
      return memref::LoadOp::create(rewriter, loc, place).getResult();
    if (!isa<TensorLikeType>(operand.getType()))
      return operand;
    FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
    if (failed(buffer))
      return failure();
    return ToTensorOp::create(rewriter, loc, operand.getType(), *buffer,
                              /*restrict=*/false, /*writable=*/false)
        .getResult();
  }
};

template <typename... Ops> void attachModels(MLIRContext *context) {
  (Ops::template attachInterface<CacheOpModel<Ops>>(*context), ...);
}

} // namespace

void mlir::llm::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, LLMDialect *) {
    PagedKVCacheType::attachInterface<CacheInMemRef, CacheAsTensor>(*context);
    attachModels<AppendKVOp, BlockTablesOp, CausalConvOp, CreatePagedCacheOp,
                 ForkKVOp, FreeKVOp, FusedAttentionOp, LinearAttentionOp,
                 LookupKVOp, PagedAttentionOp, ReserveKVOp, RopeAppendKVOp>(
        context);
  });
}
