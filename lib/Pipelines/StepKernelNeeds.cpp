//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepKernelNeeds.h"

#include "llmir/Dialect/MLLM/KernelSpec.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace llmir::mllm::program;

namespace llmir {

int64_t kernelParameter(KernelOp kernel, StringRef name) {
  auto value = kernel.getParameters().getAs<IntegerAttr>(name);
  return value && value.getType().isSignlessInteger(64) ? value.getInt() : 0;
}

namespace {
/// The rows of a kind's buffers, in order; the last entry is that of all
/// further buffers.
enum class Rows {
  One,     ///< A list, or one row for all tokens.
  Tokens,  ///< One for each token.
  Over,    ///< One for each token, or for each row of logits.
  Logits,  ///< One for each row of logits.
  Places,  ///< What a mixture of experts has for each token.
  Declared ///< As many as the buffer has: nobody says how many are used.
};
struct KindRow {
  StringLiteral kind;
  std::initializer_list<Rows> rows;
};
} // namespace

static const KindRow kindTable[] = {
    {RopeAnglesSpec::kind, {Rows::Tokens}},
    {EmbeddingSpec::kind, {Rows::Tokens}},
    {RmsNormSpec::kind, {Rows::Over}},
    {LayerNormSpec::kind, {Rows::Over}},
    {SoftmaxSpec::kind, {Rows::Over}},
    {LinearSpec::kind, {Rows::Over}},
    {QuantizedLinearSpec::kind, {Rows::Over}},
    {RoundRowsSpec::kind, {Rows::Over}},
    {ElementwiseSpec::kind, {Rows::Over}},
    {QuantizeRowsSpec::kind, {Rows::Places}},
    {RopeSpec::kind, {Rows::Tokens}},
    {AppendKVSpec::kind, {Rows::Tokens}},
    {SelectRowsSpec::kind, {Rows::Tokens, Rows::Logits}},
    {MoERouteSpec::kind, {Rows::Tokens}},
    {MoESortSpec::kind, {Rows::Tokens, Rows::One}},
    {MoEGatherSpec::kind, {Rows::One, Rows::Tokens, Rows::Places}},
    {MoELinearSpec::kind, {Rows::One, Rows::Declared}},
    {MoEGateSpec::kind, {Rows::Places}},
    {MoECombineSpec::kind,
     {Rows::One, Rows::Tokens, Rows::Places, Rows::Tokens}},
};

static MemRefType bufferType(KernelOp kernel, size_t number) {
  ArrayAttr types = kernel.getOperandTypes();
  if (number >= types.size())
    return {};
  auto type = dyn_cast<MemRefType>(cast<TypeAttr>(types[number]).getValue());
  return type && type.getRank() == 2 ? type : MemRefType();
}

/// INT64_MAX stands for all that is more.
static int64_t addUpTo(int64_t sum, int64_t count, int64_t stride) {
  int64_t product, result;
  if (count <= 0 || stride <= 0)
    return sum;
  return llvm::MulOverflow(count, stride, product) ||
                 llvm::AddOverflow(sum, product, result)
             ? INT64_MAX
             : result;
}

/// Rows of the mask that attention reads: up to that of the element of the last
/// sequence, head, query, token and key.
static int64_t maskRows(const PagedAttentionSpec &spec, MemRefType mask,
                        const StepLimits &limits) {
  const int64_t most[] = {limits.tokens, spec.heads, limits.tokens,
                          limits.tokens, limits.contextLength};
  int64_t last = 0;
  for (auto [count, stride] : llvm::zip(most, spec.maskStrides))
    last = addUpTo(last, count - 1, stride);
  const int64_t columns = mask ? mask.getDimSize(1) : 0;
  return columns > 0 ? last / columns + 1 : INT64_MAX;
}

template <typename Spec>
static FailureOr<StepKernelNeeds> needsOfAttention(KernelOp kernel,
                                                   const StepLimits &limits) {
  FailureOr<Spec> read = fromKernel<Spec>(kernel);
  if (failed(read))
    return failure();
  const PagedAttentionSpec &spec = *read;
  constexpr bool merges = std::is_same_v<Spec, MergeAttentionSpec>;
  StepKernelNeeds needs;
  needs.weights = spec.sinks == OperandPlace::Weight;
  if (!merges)
    needs.rows.push_back(limits.tokens);
  if (!merges && !spec.maskStrides.empty())
    needs.rows.push_back(maskRows(spec, bufferType(kernel, 1), limits));
  if (spec.sinks == OperandPlace::Buffer)
    needs.rows.push_back(1);
  if (merges || spec.partialRows != 0)
    needs.rows.push_back(std::max<int64_t>(spec.partialRows, 1));
  needs.rows.push_back(limits.tokens);
  return needs;
}

/// How many weights a kind takes that is not attention.
static int64_t countWeights(KernelOp kernel) {
  auto isSet = [&](StringRef name, bool absent) -> int64_t {
    auto value = kernel.getParameters().getAs<BoolAttr>(name);
    return value ? value.getValue() : absent;
  };
  StringRef kind = kernel.getKind();
  if (kind == LinearSpec::kind || kind == QuantizedLinearSpec::kind)
    return 1 + isSet("bias", false);
  if (kind == RmsNormSpec::kind)
    return isSet("weight", true);
  if (kind == LayerNormSpec::kind)
    return isSet("weight", false) + isSet("bias", false);
  return kind == EmbeddingSpec::kind || kind == MoELinearSpec::kind;
}

FailureOr<StepKernelNeeds> needsOf(KernelOp kernel, const StepLimits &limits) {
  if (kernel.getKind() == PagedAttentionSpec::kind)
    return needsOfAttention<PagedAttentionSpec>(kernel, limits);
  if (kernel.getKind() == MergeAttentionSpec::kind)
    return needsOfAttention<MergeAttentionSpec>(kernel, limits);
  const KindRow *row = llvm::find_if(kindTable, [&](const KindRow &each) {
    return kernel.getKind() == each.kind;
  });
  if (row == std::end(kindTable))
    return kernel.emitOpError("is of kind '")
           << kernel.getKind() << "', which the kernels of a step are not";
  auto over = kernel.getParameters().getAs<StringAttr>("over");
  const int64_t each = over && over.getValue() == "logit_rows"
                           ? limits.logitRows
                           : limits.tokens;
  const int64_t choices = std::clamp<int64_t>(kernelParameter(kernel, "top_k"),
                                              1, int64_t(1) << 28);
  StepKernelNeeds needs;
  needs.weights = countWeights(kernel);
  for (size_t i = 0; i < kernel.getOperandTypes().size(); ++i) {
    MemRefType type = bufferType(kernel, i);
    switch (row->rows.begin()[std::min(i, row->rows.size() - 1)]) {
    case Rows::One:
      needs.rows.push_back(1);
      break;
    case Rows::Tokens:
      needs.rows.push_back(limits.tokens);
      break;
    case Rows::Over:
      needs.rows.push_back(each);
      break;
    case Rows::Logits:
      needs.rows.push_back(limits.logitRows);
      break;
    case Rows::Places:
      needs.rows.push_back(each * choices);
      break;
    case Rows::Declared:
      needs.rows.push_back(type ? type.getDimSize(0) : 1);
      break;
    }
  }
  return needs;
}

} // namespace llmir
