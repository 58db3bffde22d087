//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts ops to a program, with the services that the conversions of ops use.
// There are two subclasses: StepConversion for the step of a model, whose
// arrays are provided by the runtime, and FunctionConversion for any function
// of static shapes.
//
// To add the conversion of an op, write
//
//   static LogicalResult convert(ProgramConversion &c, ll::MyOp op) {
//     FailureOr<RowsValue> x = c.lookup(op, op.getX());        // an operand
//     FailureOr<KernelWeights> w = c.weights(op, {op.getW()}); // weights
//     if (failed(x) || failed(w)) return failure();
//     RowsValue out = c.createResult(op.getResult(), *x, columns);
//     c.kernel<kernel::MyOp>(op.getLoc(), kernelName("mine", {columns}), out,
//                            (*w)[0], x->buffer, out.buffer, columns);
//     return success();
//   }
//
// in the file of its group (RowOps.cpp, CacheOps.cpp, QuantOps.cpp, MoEOps.cpp,
// CollectiveOps.cpp, TensorOps.cpp), and register it in the add…Conversions
// function of that file:
//
//   table.add<ll::MyOp>(convert);
//
// An op that a step does not have is registered with addForFunctions(), and its
// conversion takes a FunctionConversion.
//
// kernel() takes the rows that the kernel iterates over, which determine
// num_tokens or num_logit_rows, followed by the arguments of a builder of the
// kernel op. A kernel of fixed size is built with fixedKernel(), without rows.
// Index arrays that a kernel reads in the step context are bound with
// bindField(), counts with bindCount(), the layer with bindLayer(). Results of
// f16 and bf16 are rounded after the op, unless registered as exact. With
// several ranks the conversion runs once per rank, and the services access the
// values of that rank.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_LLMTOPROGRAM_PROGRAMCONVERSION_H
#define LLMIR_LIB_CONVERSION_LLMTOPROGRAM_PROGRAMCONVERSION_H

#include "ProgramBuilder.h"

#include "llmir/ABI/StepFields.h"
#include "llmir/Conversion/Dimensions.h"
#include "llmir/Support/IntegerLayout.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLM/IR/LLM.h"

#include <functional>

namespace llmir {

/// A tensor value in the program: its elements, in order, in rows of `columns`.
struct RowsValue {
  mlir::Value buffer;
  RowSpace over = RowSpace::Tokens;
  int64_t columns = 0;                       ///< Without padding.
  int64_t rows = mlir::ShapedType::kDynamic; ///< Dynamic: the rows of the step.
  int64_t grain = 1; ///< Column tiles that one worker processes: whole heads.
};

/// The weights of a kernel, in its order.
struct KernelWeights {
  llvm::SmallVector<KernelWeight> all;
  /// Storage format of the first one, the attribute of the kernel.
  std::string format;

  /// The weight at this index; absent if there are fewer.
  KernelWeight operator[](size_t number) const {
    return number < all.size() ? all[number] : KernelWeight();
  }
};

/// A box of elements, as in `copy_box`: element i goes from `from` + sum(i_d *
/// fromStrides_d) to `to` + sum(i_d * toStrides_d). A dynamic size is the
/// number of rows of the step, for both buffers.
struct ElementBox {
  llvm::SmallVector<int64_t> sizes, fromStrides, toStrides;
  int64_t from = 0, to = 0;
};

/// Quantization of f32 rows to int8, the attributes of `quantize_rows`.
struct RowQuantization {
  int64_t columns = 0, group = 0, segment = 0, padded = 0;

  /// Words of a quantized row.
  int64_t words() const {
    return QuantizedRowLayout{columns, segment, padded}.words();
  }
};

/// The arrays that describe the sequences of an op that reads a cache.
struct SequenceOperands {
  mlir::TypedValue<mlir::RankedTensorType> blocks, lengths;
  mlir::Value offsets; ///< Of the queries of each sequence; null if batched.
  mlir::Value layer;   ///< Null for layer 0.
  mlir::llm::PagedKVCacheType cache;
  int64_t numQueries = 0;         ///< Of all sequences; static in functions.
  int64_t queriesPerSequence = 0; ///< If batched.
  int64_t maskColumns = 0;        ///< 0 without a mask.
};

/// Cosines and sines of one kind of rotation.
struct RopeTable {
  llvm::ArrayRef<double> frequencies;
  double scaling;
  mlir::Value cosines, sines;
};

class ConversionTable;
class FunctionConversion;

/// The choices in which programs of steps differ from those of functions.
struct ProgramPolicy {
  /// Integer weights are parameters of the model, which are quantized when they
  /// are packed; else the program quantizes them.
  bool quantizesWhenPacked = false;
  /// Rows are quantized to int8 for products with weights in block formats;
  /// else these products are exact.
  bool quantizesActivations = false;
  /// The runtime may split attention over the keys of a sequence.
  bool splitsAttention = false;
};

class ProgramConversion {
public:
  virtual ~ProgramConversion() = default;
  /// The conversion of a function; null for that of a step.
  virtual FunctionConversion *asFunction() { return nullptr; }

  //===--------------------------------------------------------------------===//
  // Tensors
  //===--------------------------------------------------------------------===//

  /// The tensor in its current rows.
  mlir::FailureOr<RowsValue> lookup(mlir::Operation *op, mlir::Value tensor);
  /// The tensor in rows of this many columns.
  mlir::FailureOr<RowsValue> lookup(mlir::Operation *op, mlir::Value tensor,
                                    int64_t columns);
  /// One row per token, of all other dimensions or of this many columns, for an
  /// op on every token of the step.
  mlir::FailureOr<RowsValue> lookupTokens(mlir::Operation *op,
                                          mlir::Value tensor);
  mlir::FailureOr<RowsValue> lookupTokens(mlir::Operation *op,
                                          mlir::Value tensor, int64_t columns);
  /// Creates a buffer for a result with as many rows as `like`. Its columns are
  /// distributed to workers by heads if its users require this.
  virtual RowsValue createResult(mlir::Value result, const RowsValue &like,
                                 int64_t columns) = 0;
  /// The same with one row per index of the first dimension, over `over`.
  virtual RowsValue createResult(mlir::Value result,
                                 RowSpace over = RowSpace::Tokens) = 0;
  /// The buffer of the first suitable operand without later uses, else a new
  /// one.
  RowsValue reuseOrCreate(mlir::Operation *op,
                          llvm::ArrayRef<mlir::Value> operands,
                          mlir::Value result, const RowsValue &like);
  /// Binds the value to rows, for results that share the memory of another
  /// value.
  void bind(mlir::Value value, RowsValue where) { values()[value] = where; }
  /// Whether the value is bound.
  bool isBound(mlir::Value value) { return values().contains(value); }
  /// Temporary memory for as many rows as `like`, of `element` (f32 if null).
  virtual RowsValue createRowsLike(mlir::Location loc, const RowsValue &like,
                                   int64_t columns,
                                   mlir::Type element = mlir::Type()) = 0;
  /// Marks the buffer as shared by several values: none may be overwritten.
  void shareBuffer(mlir::Value buffer) { sharedBuffers.insert(buffer); }
  /// Temporary memory of `element` (f32 if null).
  RowsValue createScratch(mlir::Location loc, int64_t rows, int64_t columns,
                          mlir::Type element = mlir::Type());
  mlir::Type i32() { return mlir::IntegerType::get(module.getContext(), 32); }

  //===--------------------------------------------------------------------===//
  // Weights, fields of the step context, the cache
  //===--------------------------------------------------------------------===//

  /// The weights of one kernel, in its order: parameters, arguments and
  /// constants are packed by the caller. A computed vector is read in place; if
  /// a matrix is computed, the program packs all matrices, as f32.
  mlir::FailureOr<KernelWeights> weights(mlir::Operation *op,
                                         llvm::ArrayRef<mlir::Value> tensors);
  /// The matrix [N, K] of a parameter, quantized per row to this format and
  /// packed at compile time, if the policy is to quantize when packing.
  virtual mlir::FailureOr<KernelWeight>
  quantizedParameter(mlir::Operation *op, mlir::Value parameter,
                     const IntegerFormat &format) = 0;
  /// The rows of x quantized in this way, or converted to bf16, for an earlier
  /// matmul; without a buffer if there are none.
  RowsValue &quantizedRows(mlir::Value x, mlir::Attribute how) {
    return activations[{x, {how, currentRank}}];
  }
  /// Whether the tensor contains the positions of the step. In functions, any
  /// i32 tensor may be used.
  virtual bool arePositions(mlir::Value ids) { return false; }
  /// Whether the tensor has the indices of the logits rows of the step.
  virtual bool areLogitRows(mlir::Value rows) { return false; }
  /// Binds the i32 tensor to the field.
  virtual mlir::LogicalResult
  bindField(mlir::Operation *op, mlir::Value operand, StepField field) = 0;
  /// Binds the slots of the cache to which tokens are appended.
  virtual mlir::LogicalResult bindSlots(mlir::Operation *op,
                                        mlir::Value slots) = 0;
  /// Binds the block tables, lengths and query offsets of attention.
  virtual mlir::LogicalResult
  bindSequences(mlir::Operation *op, const SequenceOperands &operands) = 0;
  /// Sets the layer register (absent: layer 0) of the rank's cache.
  virtual mlir::LogicalResult bindLayer(mlir::Operation *op,
                                        mlir::Value layer) = 0;
  /// Binds the pool of the cache.
  virtual mlir::LogicalResult bindCache(mlir::Operation *op,
                                        mlir::llm::PagedKVCacheType type) {
    return mlir::success();
  }
  /// The maximum number of rows of a tensor with a dynamic dimension.
  virtual int64_t maxRows(RowSpace over) const = 0;
  /// Cosines and sines for the positions of the op.
  virtual mlir::FailureOr<RopeTable> ropeTable(mlir::llm::RopeOp op) = 0;

  //===--------------------------------------------------------------------===//
  // Kernels
  //===--------------------------------------------------------------------===//

  /// Appends an instruction of one kernel that iterates over these rows; see
  /// ProgramBuilder::kernel().
  template <typename KernelOp, typename... Args>
  KernelOp kernel(mlir::Location loc, llvm::StringRef label,
                  const RowsValue &rows, const Args &...args) {
    bindRows(loc, rows);
    return program.kernel<KernelOp>(loc, label, args...);
  }
  /// The same for a kernel of fixed size, or one without rows of the step.
  template <typename KernelOp, typename... Args>
  KernelOp fixedKernel(mlir::Location loc, llvm::StringRef label,
                       const Args &...args) {
    return program.kernel<KernelOp>(loc, label, args...);
  }
  using BodyBuilder =
      llvm::function_ref<void(mlir::OpBuilder &, mlir::Block &)>;
  /// Appends an element-wise kernel of these inputs, with the scalar region
  /// that `body` creates.
  void elementwise(mlir::Location loc, llvm::StringRef label,
                   llvm::ArrayRef<mlir::Value> inputs, const RowsValue &out,
                   BodyBuilder body);
  /// Copies \p from to \p to unless they are the same buffer.
  void copyRows(mlir::Location loc, const RowsValue &from, const RowsValue &to);
  /// Sets every element, padding included.
  void fill(mlir::Location loc, const RowsValue &rows, double value);
  /// Rounds the rows in place to the element type, unless it is f32.
  void roundRows(mlir::Location loc, const RowsValue &rows, mlir::Type element);

  /// The rows of the tensor x in the form required for a matmul by a weight of
  /// this type, packed as `format`: rounded to bf16 if that is the element
  /// type.
  RowsValue matmulInput(mlir::Location loc, mlir::Value tensor,
                        const RowsValue &x, mlir::Type weight,
                        llvm::StringRef format);

  /// Copies a box of elements, which may be empty.
  void copyBox(mlir::Location loc, const RowsValue &from, const RowsValue &to,
               ElementBox box);
  /// Packs the matrix [rows, columns] in `from` at `start`, with these strides,
  /// as an f32 weight of linear.
  mlir::Value packMatrix(mlir::Location loc, const RowsValue &from,
                         int64_t rows, int64_t columns, int64_t rowStride,
                         int64_t columnStride, int64_t start = 0);

  /// The number of ranks, and the rank whose values are being converted.
  int64_t numRanks() const { return ranks.size(); }
  int64_t rank() const { return currentRank; }
  void selectRank(int64_t rank) { currentRank = rank; }

  ProgramBuilder program;
  const ProgramPolicy policy;

protected:
  ProgramConversion(mlir::ModuleOp module, int64_t numRanks,
                    ProgramPolicy policy)
      : program(module), policy(policy), module(module), ranks(numRanks) {}

  mlir::LogicalResult convertOp(mlir::Operation *op);

  /// The tensor packed by the caller; nullopt if the program computes it.
  virtual std::optional<KernelWeight> givenWeight(mlir::Value tensor) = 0;
  /// A computed matrix, or one for each expert, as the weight of a kernel.
  mlir::Value packWeight(mlir::Location loc, RowsValue matrix,
                         llvm::ArrayRef<int64_t> shape);

  /// The values of the current rank.
  llvm::DenseMap<mlir::Value, RowsValue> &values() {
    return ranks[currentRank];
  }
  /// Binds a tensor that is not the result of a converted op; fails if there is
  /// none.
  virtual mlir::FailureOr<RowsValue> materialize(mlir::Operation *op,
                                                 mlir::Value tensor);
  /// A copy of the tensor's elements in rows of another length.
  virtual mlir::FailureOr<RowsValue> rearrange(mlir::Operation *op,
                                               mlir::Value tensor,
                                               const RowsValue &now,
                                               int64_t columns) = 0;
  virtual mlir::FailureOr<RowsValue> checkTokens(mlir::Operation *op,
                                                 RowsValue rows) {
    return rows;
  }
  /// Whether kernels may iterate over these rows.
  virtual bool canIterateOver(const RowsValue &rows) const = 0;
  /// Binds the number of rows of this kind; a step provides its own.
  virtual void bindRows(mlir::Location loc, const RowsValue &rows) {}
  /// Whether an op may overwrite values from outside of its block.
  virtual bool mayOverwrite(mlir::Value origin) { return true; }
  /// Whether the caller determines the buffer of the value.
  virtual bool hasPlace(mlir::Value result) { return false; }

  mlir::ModuleOp module;
  /// Buffers of loop-carried values of the loop that is being converted.
  llvm::DenseSet<mlir::Value> loopValues;
  /// Buffers shared by several values: none may be overwritten.
  llvm::DenseSet<mlir::Value> sharedBuffers;

  /// Results of quantizedRows(), by value, quantization and rank.
  llvm::DenseMap<std::pair<mlir::Value, std::pair<mlir::Attribute, int64_t>>,
                 RowsValue>
      activations;

private:
  std::vector<llvm::DenseMap<mlir::Value, RowsValue>> ranks;
  int64_t currentRank = 0;
};

/// How the results of a conversion are rounded.
enum class OpForm {
  Computed, ///< Results are rounded to their element type after it.
  Exact,    ///< Results are moved or selected elements only.
};

/// The conversions of ops, by name.
class ConversionTable {
public:
  struct Entry {
    std::function<mlir::LogicalResult(ProgramConversion &, mlir::Operation *)>
        convert;
    OpForm form;
    bool once; ///< One call for all ranks.
  };

  static const ConversionTable &get();

  template <typename OpTy>
  void add(mlir::LogicalResult (*convert)(ProgramConversion &, OpTy),
           OpForm form = OpForm::Computed) {
    insert(convert, form, /*once=*/false);
  }
  /// For collectives, and ops that change state shared by ranks.
  template <typename OpTy>
  void addForAllRanks(mlir::LogicalResult (*convert)(ProgramConversion &, OpTy),
                      OpForm form = OpForm::Computed) {
    insert(convert, form, /*once=*/true);
  }
  /// For ops that a step does not have; `reason` completes the diagnostic that
  /// begins with the name of the op.
  template <typename OpTy>
  void addForFunctions(mlir::LogicalResult (*convert)(FunctionConversion &,
                                                      OpTy),
                       llvm::StringLiteral reason,
                       OpForm form = OpForm::Computed, bool once = false) {
    entries[OpTy::getOperationName()] = {
        [convert, reason](ProgramConversion &c, mlir::Operation *op) {
          if (FunctionConversion *function = c.asFunction())
            return convert(*function, llvm::cast<OpTy>(op));
          return mlir::LogicalResult(op->emitOpError(reason));
        },
        form, once};
  }
  const Entry *find(mlir::Operation *op) const;

private:
  ConversionTable();
  /// For all computing ops of linalg, arith and math.
  Entry structured, scalar;
  template <typename OpTy>
  void insert(mlir::LogicalResult (*convert)(ProgramConversion &, OpTy),
              OpForm form, bool once) {
    entries[OpTy::getOperationName()] = {
        [convert](ProgramConversion &c, mlir::Operation *op) {
          return convert(c, llvm::cast<OpTy>(op));
        },
        form, once};
  }

  llvm::StringMap<Entry> entries;
};

void addRowConversions(ConversionTable &table);
void addCacheConversions(ConversionTable &table);
void addStateConversions(ConversionTable &table);
void addTensorConversions(ConversionTable &table);
void addQuantConversions(ConversionTable &table);
void addMoEConversions(ConversionTable &table);
void addCollectiveConversions(ConversionTable &table);
void addDenseAttentionConversion(ConversionTable &table);
void addRuntimeConversions(ConversionTable &table);
void addIndexConversions(ConversionTable &table);
void addElementConversions(ConversionTable &table);

/// A structured op of linalg. (LinalgOps.cpp)
mlir::LogicalResult convertStructured(ProgramConversion &c,
                                      mlir::Operation *op);
/// Converts an op on rows of floats, with its operands that have no other use,
/// to one kernel or a part of a matmul's. (RowOps.cpp)
mlir::LogicalResult convertElementwise(ProgramConversion &c,
                                       mlir::Operation *root);
/// Converts an op of arith or math on tensors or scalars, with its operands
/// that have no other use. (LinalgOps.cpp)
mlir::LogicalResult convertScalarComputation(ProgramConversion &c,
                                             mlir::Operation *root);

/// Group size of activations that are multiplied by weights in block formats.
inline constexpr int64_t kActivationGroup = 32;

/// The quantization of activations for these weights, with one scale per
/// `group` adjacent elements, in segments of the same size. (QuantOps.cpp)
RowQuantization quantizeRowsFor(const IntegerMatrixLayout &weights,
                                int64_t group, int64_t segment);

/// The rows of the tensor x, quantized in this way once for all matmuls of x.
RowsValue quantizedRows(ProgramConversion &c, mlir::Location loc,
                        mlir::Value tensor, const RowsValue &x,
                        const RowQuantization &how);

/// A projection by a weight in an integer block format: with int8 activations
/// in a step, with f32 rows in a function, whose semantics is the exact
/// product. (QuantOps.cpp)
mlir::LogicalResult convertBlockLinear(ProgramConversion &c,
                                       mlir::llm::LinearOp op,
                                       const RowsValue &x,
                                       const KernelWeights &weights,
                                       const IntegerFormat &format);

/// Elements per row, with one row per index of the first dimension; a tensor of
/// rank 1 or less is one row.
int64_t rowColumns(mlir::Value tensor);

/// The buffer element type for elements of this type: i64 for i64 and index,
/// i32 for i32 and for i1, as 0 and 1, and f32 for floats and integers of fewer
/// bits.
mlir::Type bufferElement(mlir::Type element);

/// The same for the elements of a tensor.
mlir::Type bufferElementOf(mlir::Type tensor);

/// The shape of a tensor, a quantized tensor or the slice of a sharded one; a
/// scalar has rank 0.
llvm::ArrayRef<int64_t> tensorShape(mlir::Type type);

/// The rows of a tensor, one per index of the dynamic dimension, if any, or of
/// the first one; a vector is one row. The result has no buffer.
RowsValue defaultRows(mlir::Value tensor);

/// The value of a constant, or null; that of a scalar as a tensor of rank 0.
mlir::ElementsAttr constantElements(mlir::Value value);

/// The kind of rows of the tensors with a dynamic dimension; fails, with a
/// diagnostic, if they differ. Tokens if there is none.
mlir::FailureOr<RowSpace> commonRows(ProgramConversion &c, mlir::Operation *op,
                                     mlir::ValueRange tensors);

/// The strides of a row-major tensor.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);

/// The same in the buffer of a tensor: indices of a dynamic dimension are rows,
/// whose columns are the other dimensions.
llvm::SmallVector<int64_t> bufferStrides(llvm::ArrayRef<int64_t> shape);

/// Column tiles of a tensor that one worker processes: those of whole heads if
/// the tensor consists of heads or is only reshaped to them, else 1.
int64_t grainOfHeads(mlir::Value tensor);

/// Creates the scalar region of a kernel.
void writeBody(mlir::Region &region, ProgramConversion::BodyBuilder body);

/// True if no kernel after that of \p op uses the tensor, reshaped or not.
bool endsAt(mlir::Value tensor, mlir::Operation *op);

/// The tensor of which the given one is a reshape.
mlir::Value withoutReshapes(mlir::Value tensor);

/// "linear_bf16_172x64"
std::string kernelName(const llvm::Twine &base, llvm::ArrayRef<int64_t> sizes);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_LLMTOPROGRAM_PROGRAMCONVERSION_H
