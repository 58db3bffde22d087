//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/KernelSpec.h"
#include "llmir/ABI/AttentionSplit.h"
#include "llmir/Dialect/MLLM/MLLMProgramOps.h"

using namespace mlir;

namespace llmir::mllm::program {

//===----------------------------------------------------------------------===//
// The fields of each kind, listed once for reading and writing
//===----------------------------------------------------------------------===//

template <typename Fields>
static void visit(RopeAnglesSpec &spec, Fields &fields) {
  fields("frequencies", spec.frequencies);
  fields("scaling", spec.scaling);
}

template <typename Fields>
static void visit(EmbeddingSpec &spec, Fields &fields) {
  fields("format", spec.format);
  fields("rows", spec.rows);
  fields("columns", spec.columns);
  // Said of the kernels that are not by token ids: true is left out.
  bool tokenIds = !spec.positions;
  fields.optional("token_ids", tokenIds);
  spec.positions = !tokenIds;
}

template <typename Fields>
static void visit(SelectRowsSpec &spec, Fields &fields) {
  fields("columns", spec.columns);
}

template <typename Fields>
static void visit(RmsNormSpec &spec, Fields &fields) {
  fields("columns", spec.columns);
  fields("groups", spec.groups);
  fields("eps", spec.eps);
  fields("over", spec.over);
  fields.optional("weight", spec.weight);
}

template <typename Fields>
static void visit(LayerNormSpec &spec, Fields &fields) {
  fields("columns", spec.columns);
  fields("groups", spec.groups);
  fields("eps", spec.eps);
  fields("weight", spec.weight);
  fields("bias", spec.bias);
  fields("over", spec.over);
}

template <typename Fields>
static void visit(SoftmaxSpec &spec, Fields &fields) {
  fields("columns", spec.columns);
  fields("groups", spec.groups);
  fields("over", spec.over);
}

template <typename Fields> static void visit(LinearSpec &spec, Fields &fields) {
  fields("format", spec.format);
  fields("rows", spec.rows);
  fields("columns", spec.columns);
  fields("bias", spec.bias);
  fields("over", spec.over);
  fields.optional("unit", spec.unit);
}

template <typename Fields>
static void visit(QuantizedLinearSpec &spec, Fields &fields) {
  fields("format", spec.format);
  fields("rows", spec.rows);
  fields("columns", spec.columns);
  fields("bias", spec.bias);
  fields("segment", spec.segment);
  fields("over", spec.over);
  fields.optional("unit", spec.unit);
}

template <typename Fields>
static void visit(QuantizeRowsSpec &spec, Fields &fields) {
  fields("columns", spec.columns);
  fields("group", spec.group);
  fields("segment", spec.segment);
  fields("padded", spec.padded);
  fields("over", spec.over);
  fields.optional("top_k", spec.topK);
}

template <typename Fields>
static void visit(RoundRowsSpec &spec, Fields &fields) {
  fields("columns", spec.columns);
  fields("over", spec.over);
}

template <typename Fields>
static void visit(PackIntegersSpec &spec, Fields &fields) {
  fields("format", spec.format);
  fields("rows", spec.rows);
  fields("columns", spec.columns);
  fields("tensor_columns", spec.tensorColumns);
  fields("row_stride", spec.rowStride);
  fields("column_stride", spec.columnStride);
  fields("grid_columns", spec.gridColumns);
  fields("scale_row_stride", spec.scaleRowStride);
  fields("scale_group_stride", spec.scaleGroupStride);
  fields("scale_rows", spec.scaleRows);
}

template <typename Fields>
static void visit(ElementwiseSpec &spec, Fields &fields) {
  fields("columns", spec.columns);
  fields("over", spec.over);
  fields.optional("unit", spec.unit);
}

template <typename Fields> static void visit(RopeSpec &spec, Fields &fields) {
  fields("heads", spec.heads);
  fields("head_dim", spec.headDim);
  fields("rotary_dim", spec.rotaryDim);
  fields.optional("halves", spec.halves);
}

template <typename Fields>
static void visit(AppendKVSpec &spec, Fields &fields) {
  fields("kv_format", spec.kvFormat);
  fields("kv_heads", spec.kvHeads);
  fields("head_dim", spec.headDim);
  fields("block_size", spec.blockSize);
  fields.optional("value_dim", spec.valueDim);
}

template <typename Fields>
static void visit(LookupKVSpec &spec, Fields &fields) {
  fields("kv_format", spec.kvFormat);
  fields("kv_heads", spec.kvHeads);
  fields("head_dim", spec.headDim);
  fields("block_size", spec.blockSize);
  fields.optional("value_dim", spec.valueDim);
  fields("rows", spec.rows);
}

template <typename Fields>
static void visit(PagedAttentionSpec &spec, Fields &fields) {
  fields("kv_format", spec.kvFormat);
  fields("heads", spec.heads);
  fields("kv_heads", spec.kvHeads);
  fields("head_dim", spec.headDim);
  fields("block_size", spec.blockSize);
  fields("scale", spec.scale);
  fields.optional("value_dim", spec.valueDim);
  fields.optional("causal", spec.causal);
  fields.optional("window", spec.window);
  fields.optional("soft_cap", spec.softCap);
  fields.optional("sinks", spec.sinks);
  fields.optional("alibi_slopes", spec.alibiSlopes);
  fields.optional("mask_strides", spec.maskStrides);
  fields.optional("partial_rows", spec.partialRows);
}

template <typename Fields>
static void visit(CopyBoxSpec &spec, Fields &fields) {
  fields("sizes", spec.sizes);
  fields("from_columns", spec.fromColumns);
  fields("from", spec.from);
  fields("from_strides", spec.fromStrides);
  fields("to_columns", spec.toColumns);
  fields("to", spec.to);
  fields("to_strides", spec.toStrides);
}

template <typename Fields> static void visit(QuantGrid &grid, Fields &fields) {
  fields("shape", grid.shape);
  fields("cell", grid.cell);
  fields("columns", grid.columns);
  fields("grid_columns", grid.gridColumns);
}

template <typename Fields>
static void visit(QuantizeSpec &spec, Fields &fields) {
  visit(spec.grid, fields);
  fields("bits", spec.bits);
  fields("symmetric", spec.symmetric);
}

template <typename Fields>
static void visit(DequantizeSpec &spec, Fields &fields) {
  visit(spec.grid, fields);
  fields("symmetric", spec.symmetric);
}

template <typename Fields>
static void visit(QuantParamsSpec &spec, Fields &fields) {
  visit(spec.grid, fields);
  fields("bits", spec.bits);
  fields("symmetric", spec.symmetric);
}

template <typename Fields>
static void visit(MoERouteSpec &spec, Fields &fields) {
  fields("experts", spec.experts);
  fields("top_k", spec.topK);
  fields("sigmoid", spec.sigmoid);
  fields("normalize", spec.normalize);
}

template <typename Fields>
static void visit(MoESortSpec &spec, Fields &fields) {
  fields("experts", spec.experts);
  fields("top_k", spec.topK);
}

template <typename Fields>
static void visit(MoEGatherSpec &spec, Fields &fields) {
  fields("columns", spec.columns);
  fields("top_k", spec.topK);
}

template <typename Fields>
static void visit(MoELinearSpec &spec, Fields &fields) {
  fields("format", spec.format);
  fields("experts", spec.experts);
  fields("rows", spec.rows);
  fields("columns", spec.columns);
  fields.optional("segment", spec.segment);
}

template <typename Fields>
static void visit(MoEGateSpec &spec, Fields &fields) {
  fields("columns", spec.columns);
  fields("top_k", spec.topK);
  fields("rounded", spec.rounded);
}

template <typename Fields>
static void visit(MoECombineSpec &spec, Fields &fields) {
  fields("columns", spec.columns);
  fields("top_k", spec.topK);
}

template <typename Fields> static void visit(LoopsSpec &spec, Fields &fields) {
  fields("sizes", spec.sizes);
  fields("parallel", spec.parallel);
  fields("maps", spec.maps);
  fields("columns", spec.columns);
}

template <typename Fields> static void visit(GatherSpec &spec, Fields &fields) {
  fields("sizes", spec.sizes);
  fields("bound", spec.bound);
  fields("maps", spec.maps);
  fields("columns", spec.columns);
}

template <typename Fields>
static void visit(ScatterSpec &spec, Fields &fields) {
  fields("sizes", spec.sizes);
  fields("indexed", spec.indexed);
  fields("bound", spec.bound);
  fields("maps", spec.maps);
}

template <typename Fields> static void visit(SortSpec &spec, Fields &fields) {
  fields("rows", spec.rows);
  fields("columns", spec.columns);
  fields("count", spec.count);
  fields("descending", spec.descending);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// The names of the places, in order.
static constexpr StringLiteral kPlaceNames[] = {"none", "weight", "buffer"};

namespace {
struct FieldWriter {
  Builder builder;
  NamedAttrList attributes;

  /// A field that is left out where it has the value of a new spec: zero,
  /// nothing, or true.
  template <typename T> void optional(StringRef name, const T &value) {
    if (value != T())
      (*this)(name, value);
  }
  void optional(StringRef name, bool value) {
    if (!value)
      (*this)(name, value);
  }

  void operator()(StringRef name, int64_t value) {
    attributes.set(name, builder.getI64IntegerAttr(value));
  }
  void operator()(StringRef name, double value) {
    attributes.set(name, builder.getF64FloatAttr(value));
  }
  void operator()(StringRef name, bool value) {
    attributes.set(name, builder.getBoolAttr(value));
  }
  void operator()(StringRef name, const std::string &value) {
    attributes.set(name, builder.getStringAttr(value));
  }
  void operator()(StringRef name, const SmallVector<double> &value) {
    attributes.set(name, builder.getDenseF64ArrayAttr(value));
  }
  void operator()(StringRef name, const SmallVector<int64_t> &value) {
    attributes.set(name, builder.getDenseI64ArrayAttr(value));
  }
  void operator()(StringRef name, const SmallVector<AffineMap> &value) {
    attributes.set(name, builder.getAffineMapArrayAttr(value));
  }
  void operator()(StringRef name, OperandPlace value) {
    attributes.set(
        name, builder.getStringAttr(kPlaceNames[static_cast<size_t>(value)]));
  }
  void operator()(StringRef name, RowSpace value) {
    attributes.set(name, builder.getStringAttr(value == RowSpace::Tokens
                                                   ? "tokens"
                                                   : "logit_rows"));
  }
};

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

struct FieldReader {
  KernelOp kernel;
  bool failed = false;
  SmallVector<StringRef> known = {};

  template <typename T> void optional(StringRef name, T &value) {
    if (kernel.getParameters().contains(name))
      (*this)(name, value);
    else
      known.push_back(name);
  }

  /// A parameter that the kind does not have means something else than what
  /// the kernel does.
  void refuseUnknown() {
    for (NamedAttribute parameter : kernel.getParameters())
      if (!llvm::is_contained(known, parameter.getName().strref())) {
        kernel.emitOpError()
            << "has the parameter '" << parameter.getName().strref()
            << "', which kind '" << kernel.getKind() << "' does not know";
        failed = true;
        return;
      }
  }

  void operator()(StringRef name, int64_t &value) {
    auto attr = get<IntegerAttr>(name, "an integer");
    if (!attr)
      return;
    if (!attr.getType().isSignlessInteger(64)) {
      kernel.emitOpError() << "parameter '" << name << "' is " << attr
                           << ", expected an integer of type i64";
      failed = true;
      return;
    }
    value = attr.getInt();
  }
  void operator()(StringRef name, double &value) {
    if (auto attr = get<FloatAttr>(name, "a float"))
      value = attr.getValueAsDouble();
  }
  void operator()(StringRef name, bool &value) {
    if (auto attr = get<BoolAttr>(name, "a bool"))
      value = attr.getValue();
  }
  void operator()(StringRef name, std::string &value) {
    if (auto attr = get<StringAttr>(name, "a string"))
      value = attr.str();
  }
  void operator()(StringRef name, SmallVector<double> &value) {
    if (auto attr = get<DenseF64ArrayAttr>(name, "an array of f64"))
      value.assign(attr.asArrayRef().begin(), attr.asArrayRef().end());
  }
  void operator()(StringRef name, SmallVector<int64_t> &value) {
    if (auto attr = get<DenseI64ArrayAttr>(name, "an array of i64"))
      value.assign(attr.asArrayRef().begin(), attr.asArrayRef().end());
  }
  void operator()(StringRef name, SmallVector<AffineMap> &value) {
    auto attr = get<ArrayAttr>(name, "an array of affine maps");
    if (!attr)
      return;
    for (Attribute entry : attr) {
      auto map = dyn_cast<AffineMapAttr>(entry);
      if (!map) {
        kernel.emitOpError() << "parameter '" << name
                             << "' holds something other than affine maps";
        failed = true;
        return;
      }
      value.push_back(map.getValue());
    }
  }
  void operator()(StringRef name, OperandPlace &value) {
    auto attr = get<StringAttr>(name, "\"weight\" or \"buffer\"");
    if (!attr)
      return;
    const auto *known = llvm::find(kPlaceNames, attr.getValue());
    if (known == std::end(kPlaceNames)) {
      kernel.emitOpError() << "parameter '" << name << "' is \""
                           << attr.getValue()
                           << "\", expected \"weight\" or \"buffer\"";
      failed = true;
      return;
    }
    value = static_cast<OperandPlace>(known - std::begin(kPlaceNames));
  }
  void operator()(StringRef name, RowSpace &value) {
    auto attr = get<StringAttr>(name, "\"tokens\" or \"logit_rows\"");
    if (!attr)
      return;
    if (attr.getValue() != "tokens" && attr.getValue() != "logit_rows") {
      kernel.emitOpError() << "parameter '" << name << "' is \""
                           << attr.getValue()
                           << "\", expected \"tokens\" or \"logit_rows\"";
      failed = true;
    }
    value =
        attr.getValue() == "tokens" ? RowSpace::Tokens : RowSpace::LogitRows;
  }

private:
  template <typename Attr> Attr get(StringRef name, StringRef expected) {
    known.push_back(name);
    auto attr = kernel.getParameters().getAs<Attr>(name);
    if (!attr) {
      kernel.emitOpError() << "kind '" << kernel.getKind()
                           << "' needs the parameter '" << name << "', "
                           << expected;
      failed = true;
    }
    return attr;
  }
};
} // namespace

template <typename Spec>
DictionaryAttr toParameters(MLIRContext *context, const Spec &spec) {
  FieldWriter writer{Builder(context), {}};
  visit(const_cast<Spec &>(spec), writer);
  return writer.attributes.getDictionary(context);
}

template <typename Spec> FailureOr<Spec> fromKernel(KernelOp kernel) {
  Spec spec;
  FieldReader reader{kernel};
  visit(spec, reader);
  if (!reader.failed)
    reader.refuseUnknown();
  if (reader.failed)
    return failure();
  return spec;
}

/// All of them.
#define LLMIR_KERNEL_SPECS(X)                                                  \
  X(RopeAnglesSpec)                                                            \
  X(EmbeddingSpec)                                                             \
  X(SelectRowsSpec)                                                            \
  X(RmsNormSpec)                                                               \
  X(LayerNormSpec)                                                             \
  X(SoftmaxSpec)                                                               \
  X(LinearSpec)                                                                \
  X(QuantizedLinearSpec)                                                       \
  X(QuantizeRowsSpec)                                                          \
  X(RoundRowsSpec)                                                             \
  X(PackIntegersSpec)                                                          \
  X(ElementwiseSpec)                                                           \
  X(RopeSpec)                                                                  \
  X(AppendKVSpec)                                                              \
  X(LookupKVSpec)                                                              \
  X(PagedAttentionSpec)                                                        \
  X(MergeAttentionSpec)                                                        \
  X(CopyBoxSpec)                                                               \
  X(QuantizeSpec)                                                              \
  X(DequantizeSpec)                                                            \
  X(QuantParamsSpec)                                                           \
  X(MoERouteSpec)                                                              \
  X(MoESortSpec)                                                               \
  X(MoEGatherSpec)                                                             \
  X(MoELinearSpec)                                                             \
  X(MoEGateSpec)                                                               \
  X(MoECombineSpec)                                                            \
  X(LoopsSpec)                                                                 \
  X(GatherSpec)                                                                \
  X(ScatterSpec)                                                               \
  X(SortSpec)

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Most bytes of sums that an item has on the stack, for chunks and in all.
static constexpr int64_t kMostSumBytes = 1 << 20;
/// Most rows of one token.
static constexpr int64_t kMostItemHeads = 128;

static int64_t partialColumns(const PagedAttentionSpec &spec) {
  return (valueDim(spec) + 15) / 16 * 16 + 32;
}

int64_t attentionItemHeads(const PagedAttentionSpec &spec) {
  int64_t group = spec.heads / spec.kvHeads;
  int64_t rowBytes = 2 * partialColumns(spec) * 4;
  int64_t heads = std::min(group, kMostItemHeads);
  while (group % heads != 0 || (heads > 1 && heads * rowBytes > kMostSumBytes))
    --heads;
  return heads;
}

PartialResults partialResults(const PagedAttentionSpec &spec) {
  int64_t heads = attentionItemHeads(spec);
  int64_t rows = spec.heads / heads * ((heads + 3) / 4 * 4);
  return {kAttentionPartials * rows, partialColumns(spec)};
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

// A spec says how many outputs or how many inputs it has, or has one output.
template <typename Spec>
static auto countOutputsOf(int64_t /*buffers*/, int)
    -> decltype(int64_t(Spec::outputs)) {
  return Spec::outputs;
}
template <typename Spec>
static auto countOutputsOf(int64_t buffers, int)
    -> decltype(int64_t(Spec::inputs)) {
  return buffers - Spec::inputs;
}
template <typename Spec>
static int64_t countOutputsOf(int64_t /*buffers*/, long) {
  return 1;
}

int64_t countOutputs(KernelOp kernel) {
  int64_t buffers = kernel.getOperandTypes().size();
  if (kernel.getKind() == PagedAttentionSpec::kind &&
      kernel.getParameters().contains("partial_rows"))
    return 2; // The partial results, too.
#define LLMIR_COUNT_OUTPUTS(Spec)                                              \
  if (kernel.getKind() == Spec::kind)                                          \
    return countOutputsOf<Spec>(buffers, 0);
  LLMIR_KERNEL_SPECS(LLMIR_COUNT_OUTPUTS)
#undef LLMIR_COUNT_OUTPUTS
  return 1;
}

#define LLMIR_INSTANTIATE(Spec)                                                \
  template DictionaryAttr toParameters(MLIRContext *, const Spec &);           \
  template FailureOr<Spec> fromKernel<Spec>(KernelOp);
LLMIR_KERNEL_SPECS(LLMIR_INSTANTIATE)
#undef LLMIR_INSTANTIATE

} // namespace llmir::mllm::program
