//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between tensor types and the shapes of ShapeRules.h, and the trait of ops
// whose result types follow from their operands.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_TENSORTYPES_H
#define LLMIR_DIALECT_MLLM_TENSORTYPES_H

#include "llmir/Dialect/MLLM/MLLMDialect.h"

namespace llmir::mllm {

//===----------------------------------------------------------------------===//
// Types as shapes
//===----------------------------------------------------------------------===//

/// The types of an op's results, in order.
using ResultTypes = llvm::SmallVector<mlir::RankedTensorType, 1>;

/// The type of an operand; linalg ops have ranked tensors only.
inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}
/// Predicates of MLLMLinalgBase.td: f32; of that rank; with static sizes after
/// the first; ids of i32 or i64, rank 1.
bool isF32Tensor(mlir::Type type);
bool isF32TensorOfRank(mlir::Type type, int64_t rank);
bool hasStaticTail(mlir::Type type);
bool isTokenIds(mlir::Type type);
/// Where a tensor lies: kCPU without an encoding.
Device deviceOf(mlir::RankedTensorType type);
/// The sizes, with the names that the encoding gives them.
shapes::Shape shapeOf(mlir::RankedTensorType type);
inline shapes::Shape shapeOf(mlir::Value value) {
  return shapeOf(tensorType(value));
}
/// The type of a tensor; sizes that are not numbers become `?`, and the
/// encoding is there only when it has something to say.
mlir::RankedTensorType makeTensorType(const shapes::Shape &shape,
                                      mlir::Type element,
                                      Device device = Device::CPU);

/// Whether declared types are what was inferred: equal ranks, element types and
/// devices; a size that is `?` fits every size.
bool fits(mlir::TypeRange inferred, mlir::TypeRange declared);

//===----------------------------------------------------------------------===//
// For inferResults()
//===----------------------------------------------------------------------===//

/// One result of the operand's type.
ResultTypes sameAs(mlir::Value operand);
/// One result of this shape, else like the operand.
ResultTypes shaped(const shapes::Shape &shape, mlir::Value like);
/// The same from a rule's answer.
Expected<ResultTypes> shaped(Expected<shapes::Shape> shape, mlir::Value like);
/// One result of this shape and element type, on the device of the operand.
ResultTypes shaped(const shapes::Shape &shape, mlir::Value like,
                   mlir::Type element);

/// Fails unless all operands have one element type.
Status checkSameElements(mlir::ValueRange operands);
/// Fails unless all operands lie on one device.
Status checkSameDevice(mlir::ValueRange operands);
/// Both checks, and the broadcast shape.
Expected<ResultTypes> broadcastOf(mlir::Value lhs, mlir::Value rhs);

//===----------------------------------------------------------------------===//
// For verifiers
//===----------------------------------------------------------------------===//

/// Reports a rule's failure at the op.
mlir::LogicalResult report(mlir::Operation *op, const Status &status);
/// Fails unless `value` is finite and greater than 0.
mlir::LogicalResult verifyPositive(mlir::Operation *op,
                                   const llvm::APFloat &value,
                                   llvm::StringRef name);
/// Fails unless `symbol` names a parameter of shape `want`, in which a size of
/// kDynamic fits every size; `role` is what the op calls it.
mlir::LogicalResult verifyParameter(mlir::Operation *op,
                                    mlir::FlatSymbolRefAttr symbol,
                                    llvm::StringRef role,
                                    llvm::ArrayRef<int64_t> want,
                                    mlir::SymbolTableCollection &tables);

namespace detail {
/// Appends what was inferred; reports a failure at `location` when there is
/// one.
mlir::LogicalResult
appendInferredTypes(std::optional<mlir::Location> location,
                    llvm::StringRef opName, Expected<ResultTypes> inferred,
                    llvm::SmallVectorImpl<mlir::Type> &types);
/// Fails unless the op's result types are what was inferred.
mlir::LogicalResult verifyResultTypes(mlir::Operation *op,
                                      const Expected<ResultTypes> &inferred);
} // namespace detail

/// Ops with a function inferResults(): the declared types are verified to fit.
template <typename ConcreteType>
class InfersResults
    : public mlir::OpTrait::TraitBase<ConcreteType, InfersResults> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) {
    return detail::verifyResultTypes(
        op, ConcreteType::inferResults(
                typename ConcreteType::Adaptor(llvm::cast<ConcreteType>(op))));
  }
};

//===----------------------------------------------------------------------===//
// Types in the text
//===----------------------------------------------------------------------===//

/// `T`, or `T -> U` where the result's type is another.
mlir::ParseResult parseUnaryTypes(mlir::OpAsmParser &parser, mlir::Type &x,
                                  mlir::Type &result);
void printUnaryTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                     mlir::Type x, mlir::Type result);
/// `T` where all are equal, else `(T, U) -> V`.
mlir::ParseResult parseBinaryTypes(mlir::OpAsmParser &parser, mlir::Type &lhs,
                                   mlir::Type &rhs, mlir::Type &result);
void printBinaryTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                      mlir::Type lhs, mlir::Type rhs, mlir::Type result);

} // namespace llmir::mllm

#endif // LLMIR_DIALECT_MLLM_TENSORTYPES_H
