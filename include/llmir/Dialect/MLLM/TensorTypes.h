//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conversion between tensor types and the shapes of ShapeRules.h, and the trait
// of ops with inferred result types.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_TENSORTYPES_H
#define LLMIR_DIALECT_MLLM_TENSORTYPES_H

#include "llmir/Dialect/MLLM/MLLMDialect.h"

namespace llmir::mllm {

//===----------------------------------------------------------------------===//
// Conversion between types and shapes
//===----------------------------------------------------------------------===//

/// The result types of an op, in order.
using ResultTypes = llvm::SmallVector<mlir::RankedTensorType, 1>;

/// The type of an operand; operands of linalg ops are ranked tensors.
inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}
/// Predicates of MLLMLinalgBase.td: f32 tensors; of a given rank; with static
/// sizes after the first dimension; i32 or i64 ids of rank 1.
bool isF32Tensor(mlir::Type type);
bool isF32TensorOfRank(mlir::Type type, int64_t rank);
bool hasStaticTail(mlir::Type type);
bool isTokenIds(mlir::Type type);
/// The device of a tensor; kCPU without an encoding.
Device deviceOf(mlir::RankedTensorType type);
/// The shape, with the symbolic names of the encoding.
shapes::Shape shapeOf(mlir::RankedTensorType type);
inline shapes::Shape shapeOf(mlir::Value value) {
  return shapeOf(tensorType(value));
}
/// Returns the tensor type of a shape; sizes that are not integers become `?`,
/// and there is an encoding only if it is not trivial.
mlir::RankedTensorType makeTensorType(const shapes::Shape &shape,
                                      mlir::Type element,
                                      Device device = Device::CPU);

/// Whether declared types are compatible with inferred ones: equal ranks,
/// element types and devices; `?` is compatible with any size.
bool fits(mlir::TypeRange inferred, mlir::TypeRange declared);

//===----------------------------------------------------------------------===//
// For inferResults()
//===----------------------------------------------------------------------===//

/// A single result of the operand's type.
ResultTypes sameAs(mlir::Value operand);
/// A single result of this shape, with the element type and device of the
/// operand.
ResultTypes shaped(const shapes::Shape &shape, mlir::Value like);
/// The same for the result of a shape rule.
Expected<ResultTypes> shaped(Expected<shapes::Shape> shape, mlir::Value like);
/// A single result of this shape and element type, on the device of the
/// operand.
ResultTypes shaped(const shapes::Shape &shape, mlir::Value like,
                   mlir::Type element);

/// Fails unless all operands have the same element type.
Status checkSameElements(mlir::ValueRange operands);
/// Fails unless all operands are on the same device.
Status checkSameDevice(mlir::ValueRange operands);
/// Performs both checks and returns the broadcast type.
Expected<ResultTypes> broadcastOf(mlir::Value lhs, mlir::Value rhs);

//===----------------------------------------------------------------------===//
// For verifiers
//===----------------------------------------------------------------------===//

/// Reports the failure of a rule at the op.
mlir::LogicalResult report(mlir::Operation *op, const Status &status);
/// Fails unless `value` is finite and greater than 0.
mlir::LogicalResult verifyPositive(mlir::Operation *op,
                                   const llvm::APFloat &value,
                                   llvm::StringRef name);
/// Fails unless `symbol` references a parameter of shape `want`, in which
/// kDynamic matches any size; `role` names the parameter in diagnostics.
mlir::LogicalResult verifyParameter(mlir::Operation *op,
                                    mlir::FlatSymbolRefAttr symbol,
                                    llvm::StringRef role,
                                    llvm::ArrayRef<int64_t> want,
                                    mlir::SymbolTableCollection &tables);

namespace detail {
/// Appends the inferred types; reports a failure at `location` if given.
mlir::LogicalResult
appendInferredTypes(std::optional<mlir::Location> location,
                    llvm::StringRef opName, Expected<ResultTypes> inferred,
                    llvm::SmallVectorImpl<mlir::Type> &types);
/// Fails unless the op's result types are compatible with the inferred ones.
mlir::LogicalResult verifyResultTypes(mlir::Operation *op,
                                      const Expected<ResultTypes> &inferred);
} // namespace detail

/// Trait of ops with inferResults(): verifies the declared types.
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
// Assembly of types
//===----------------------------------------------------------------------===//

/// `T`, or `T -> U` if the result type differs.
mlir::ParseResult parseUnaryTypes(mlir::OpAsmParser &parser, mlir::Type &x,
                                  mlir::Type &result);
void printUnaryTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                     mlir::Type x, mlir::Type result);
/// `T` if all types are equal, otherwise `(T, U) -> V`.
mlir::ParseResult parseBinaryTypes(mlir::OpAsmParser &parser, mlir::Type &lhs,
                                   mlir::Type &rhs, mlir::Type &result);
void printBinaryTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                      mlir::Type lhs, mlir::Type rhs, mlir::Type result);

} // namespace llmir::mllm

#endif // LLMIR_DIALECT_MLLM_TENSORTYPES_H
