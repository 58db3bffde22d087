//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Quantization ops: types, verifiers (labels are those of LLMQuantOps.td) and
// the assembly of quantized_matmul.
//
//===----------------------------------------------------------------------===//

#include "LLMPositionalOps.h"
#include "LLMVerification.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::llm;

//===----------------------------------------------------------------------===//
// quant_params
//===----------------------------------------------------------------------===//

/// The dimension that groups divide, as for QuantizedTensorType.
static int64_t getGroupedDim(int64_t rank, int64_t axis) {
  return rank > 1 && axis == rank - 1 ? 0 : rank - 1;
}

/// The type of a tensor of the shape of `x` with these parameters, which must
/// be valid.
static QuantizedTensorType getQuantizedTypeFor(RankedTensorType x, int64_t bits,
                                               bool symmetric, int64_t axis,
                                               int64_t groupSize) {
  return QuantizedTensorType::get(
      x.getContext(), IntegerType::get(x.getContext(), bits), x.getShape(),
      symmetric, /*isPerChannel=*/axis >= 0, axis, groupSize, bits,
      /*format=*/"");
}

/// Rules c1 to c4 of quant_params.
static LogicalResult verifyQuantParams(std::optional<Location> loc,
                                       RankedTensorType x, int64_t bits,
                                       int64_t axis, int64_t groupSize) {
  if (bits != 4 && bits != 8 && bits != 16) // c1
    return emitOptionalError(loc,
                             "'llm.quant_params' op bits must be 4, 8 or "
                             "16, not ",
                             bits);
  int64_t rank = x.getRank();
  if (axis < -1 || axis >= rank) // c2
    return emitOptionalError(loc, "'llm.quant_params' op axis ", axis,
                             " is neither -1 nor a dimension of a tensor of "
                             "rank ",
                             rank);
  if (!x.hasStaticShape() || x.getNumElements() == 0) // c4
    return emitOptionalError(
        loc,
        "'llm.quant_params' op needs a non-empty tensor of static shape, not ",
        x);
  if (groupSize != -1 && groupSize <= 0) // c3
    return emitOptionalError(
        loc, "'llm.quant_params' op group_size must be -1 or positive, not ",
        groupSize);
  int64_t dim = getGroupedDim(rank, axis);
  int64_t grouped = x.getDimSize(dim);
  if (groupSize > 0 && groupSize < grouped && grouped % groupSize != 0) // c3
    return emitOptionalError(loc, "'llm.quant_params' op group_size ",
                             groupSize, " does not divide dimension ", dim,
                             " of size ", grouped);
  return success();
}

LogicalResult QuantParamsOp::inferReturnTypes(MLIRContext *context,
                                              std::optional<Location> loc,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  int64_t bits = adaptor.getBits();
  if (failed(verifyQuantParams(loc, x, bits, adaptor.getAxis(),
                               adaptor.getGroupSize())))
    return failure();
  auto type = getQuantizedTypeFor(x, bits, adaptor.getSymmetric(),
                                  adaptor.getAxis(), adaptor.getGroupSize());
  SmallVector<int64_t> shape = type.getScaleShape();
  types.push_back(RankedTensorType::get(shape, Float32Type::get(context)));
  if (!adaptor.getSymmetric())
    types.push_back(RankedTensorType::get(
        shape, IntegerType::get(context, bits == 16 ? 16 : 8)));
  return success();
}

QuantizedTensorType QuantParamsOp::getQuantizedType() {
  return getQuantizedTypeFor(getX().getType(), getBits(), getSymmetric(),
                             getAxis(), getGroupSize());
}

//===----------------------------------------------------------------------===//
// Scales and zero points
//===----------------------------------------------------------------------===//

/// True if `scales` is the shape of the type's scales; the scale of the whole
/// tensor may have rank 0.
static bool isScaleShape(QuantizedTensorType type, RankedTensorType scales) {
  SmallVector<int64_t> needed = type.getScaleShape();
  bool isScalar = scales.getRank() == 0 && needed == ArrayRef<int64_t>(1);
  return isScalar || shapesAgree(scales.getShape(), needed);
}

/// Attaches a hint: the axis whose size is the number of scales.
static void suggestAxis(InFlightDiagnostic &diag, QuantizedTensorType type,
                        RankedTensorType scales) {
  if (scales.getRank() != 1)
    return;
  for (auto [axis, size] : llvm::enumerate(type.getShape()))
    if (size == scales.getDimSize(0) && int64_t(axis) != type.getQuantAxis()) {
      diag.attachNote() << "a tensor with quantAxis " << axis << " has " << size
                        << " scales";
      return;
    }
}

/// Rules c1 to c4 of quantize, dequantize and quantized_matmul.
static LogicalResult verifyScales(Operation *op, QuantizedTensorType type,
                                  Value scales, Value zeroPoints) {
  if (!type.getFormat().empty()) // c1
    return op->emitOpError() << "takes scales, but the blocks of format '"
                             << type.getFormat() << "' include them";
  RankedTensorType scalesType = tensorType(scales);
  if (!isScaleShape(type, scalesType)) { // c2
    InFlightDiagnostic diag = op->emitOpError()
                              << "has scales of shape "
                              << shapeToString(scalesType.getShape())
                              << ", but " << type << " needs "
                              << shapeToString(type.getScaleShape());
    suggestAxis(diag, type, scalesType);
    return diag;
  }
  if (type.getIsSymmetric() == bool(zeroPoints)) // c3
    return op->emitOpError()
           << (zeroPoints ? "has zero points, but the tensor is symmetric"
                          : "needs zero points: the tensor is asymmetric");
  if (zeroPoints &&
      tensorType(zeroPoints).getShape() != scalesType.getShape()) // c4
    return op->emitOpError()
           << "has zero points of shape "
           << shapeToString(tensorType(zeroPoints).getShape())
           << ", but scales of shape " << shapeToString(scalesType.getShape());
  return success();
}

LogicalResult QuantizeOp::verify() {
  QuantizedTensorType type = getType();
  if (failed(verifyScales(*this, type, getScales(), getZeroPoints())))
    return failure();
  if (!shapesAgree(getX().getType().getShape(), type.getShape())) // c5
    return emitOpError() << "has an input of shape "
                         << shapeToString(getX().getType().getShape())
                         << ", but a result of shape "
                         << shapeToString(type.getShape());
  if (getSymmetric().value_or(type.getIsSymmetric()) !=
      type.getIsSymmetric()) // c6
    return emitOpError() << "symmetric is " << getSymmetricAttr()
                         << ", but the result's type has "
                         << BoolAttr::get(getContext(), type.getIsSymmetric());
  if (failed(verifyRepeated(*this, "bits", getBits(), type.getNumBits(),
                            "result's type")) ||
      failed(verifyRepeated(*this, "axis", getAxis(), type.getQuantAxis(),
                            "result's type"))) // c6
    return failure();
  return verifyRepeated(*this, "group_size", getGroupSize(),
                        type.getGroupSize(), "result's type");
}

LogicalResult DequantizeOp::verify() {
  QuantizedTensorType type = getX().getType();
  if (failed(verifyScales(*this, type, getScales(), getZeroPoints())))
    return failure();
  if (!shapesAgree(getType().getShape(), type.getShape())) // c5
    return emitOpError() << "has an input of shape "
                         << shapeToString(type.getShape())
                         << ", but a result of shape "
                         << shapeToString(getType().getShape());
  return success();
}

//===----------------------------------------------------------------------===//
// quantized_matmul
//===----------------------------------------------------------------------===//

void QuantizedMatmulOp::build(OpBuilder &builder, OperationState &state,
                              Value x, Value rhs, Value scales,
                              Value zeroPoints, Value bias, bool transposeRhs,
                              int64_t activationBits) {
  auto xType = cast<RankedTensorType>(x.getType());
  SmallVector<int64_t> shape(xType.getShape());
  shape.back() = getWeightShape(rhs.getType())[transposeRhs ? 0 : 1];
  IntegerAttr bits;
  if (activationBits)
    bits = builder.getI64IntegerAttr(activationBits);
  build(builder, state, xType.clone(shape), x, rhs, scales, zeroPoints, bias,
        transposeRhs ? builder.getUnitAttr() : UnitAttr(), bits,
        /*activation_group=*/IntegerAttr(), /*bits=*/IntegerAttr(),
        /*group_size=*/IntegerAttr());
}

LogicalResult
QuantizedMatmulOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                    Adaptor adaptor,
                                    SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  SmallVector<int64_t> shape(x.getShape());
  shape.back() = getWeightShape(
      adaptor.getRhs().getType())[adaptor.getTransposeRhs() ? 0 : 1];
  types.push_back(x.clone(shape));
  return success();
}

LogicalResult QuantizedMatmulOp::verify() {
  QuantizedTensorType rhs = getRhs().getType();
  if (failed(verifyScales(*this, rhs, getScales(), getZeroPoints())))
    return failure();
  int64_t inputs = getX().getType().getShape().back();
  if (!sizesAgree(inputs, getNumInputs())) // c5
    return emitOpError() << "has rows of " << inputs
                         << " elements, but a right-hand side of "
                         << getNumInputs() << " inputs";
  if (Value bias = getBias()) {
    int64_t entries = tensorType(bias).getDimSize(0);
    if (!sizesAgree(entries, getNumOutputs())) // c6
      return emitOpError() << "has a bias of " << entries
                           << " elements, but a right-hand side of "
                           << getNumOutputs() << " outputs";
  }
  if (getActivationBits().value_or(8) != 8) // c7
    return emitOpError() << "activation_bits must be 8, not "
                         << *getActivationBits();
  if (std::optional<int64_t> group = getActivationGroup()) {
    if (*group <= 0) // c8
      return emitOpError() << "activation_group must be positive, not "
                           << *group;
    if (!getActivationBits()) // c8
      return emitOpError() << "has an activation_group of " << *group
                           << ", but no activation_bits";
  }
  if (failed(verifyRepeated(*this, "bits", getBits(), rhs.getNumBits(),
                            "right-hand side"))) // c9
    return failure();
  return verifyRepeated(*this, "group_size", getGroupSize(), rhs.getGroupSize(),
                        "right-hand side");
}

/// `%x, %rhs, %scales [, %zeroPoints] [bias(%b)] {…} : (…) -> …`
ParseResult QuantizedMatmulOp::parse(OpAsmParser &parser,
                                     OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SMLoc loc = parser.getCurrentLocation();
  if (parseOperandRow(parser, operands))
    return failure();
  if (operands.size() != 3 && operands.size() != 4)
    return parser.emitError(loc)
           << "expected 3 operands, or 4 with zero points, but there are "
           << operands.size();
  bool hasZeroPoints = operands.size() == 4;
  bool hasBias = succeeded(parser.parseOptionalKeyword("bias"));
  if (hasBias &&
      (parser.parseLParen() || parser.parseOperand(operands.emplace_back()) ||
       parser.parseRParen()))
    return failure();
  llvm::copy(
      ArrayRef<int32_t>({1, 1, 1, hasZeroPoints, hasBias}),
      result.getOrAddProperties<Properties>().operandSegmentSizes.begin());
  return failure(parseSpelledAttributes(parser, result) ||
                 parseTypesAndResolve(parser, operands, result));
}

void QuantizedMatmulOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getX() << ", " << getRhs() << ", " << getScales();
  if (Value zeroPoints = getZeroPoints())
    printer << ", " << zeroPoints;
  if (Value bias = getBias())
    printer << " bias(" << bias << ')';
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {getOperandSegmentSizesAttrName()});
  printer << " : ";
  printer.printFunctionalType(*this);
}
