//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What converts ops to a program, and what the conversion of each op uses. Two
// classes drive it: StepConversion for the step of a model, whose arrays are
// the runtime's, and FunctionConversion for any function of static shapes.
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
// CollectiveOps.cpp, TensorOps.cpp), and name it in that file's
// add…Conversions:
//
//   table.add<ll::MyOp>(convert);
//
// kernel() takes the rows that the kernel works over, by which it sets
// num_tokens or num_logit_rows, and then the arguments of a builder of the
// kernel op. A kernel of fixed size is built with fixedKernel(), without rows.
// Index arrays that a kernel reads in the step context are bound with
// bindField(), counts with bindCount(), the layer with bindLayer(). Results of
// f16 and bf16 are rounded behind the op, unless the table says that they are
// exact. With several ranks the conversion runs once for each, and the services
// work on that rank's values.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_LLMTOPROGRAM_PROGRAMCONVERSION_H
#define LLMIR_LIB_CONVERSION_LLMTOPROGRAM_PROGRAMCONVERSION_H

#include "ProgramBuilder.h"

#include "llmir/ABI/StepFields.h"
#include "llmir/Support/IntegerLayout.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLM/IR/LLM.h"

#include <functional>

namespace llmir {

/// What a tensor value is in the program: its elements, in order, in rows of
/// `columns`.
struct RowsValue {
  mlir::Value buffer;
  RowSpace over = RowSpace::Tokens;
  int64_t columns = 0;                       ///< Without padding.
  int64_t rows = mlir::ShapedType::kDynamic; ///< Dynamic: as the step has.
  int64_t grain = 1; ///< Column tiles that stay with one worker: whole heads.
};

/// The weights of a kernel, in its order.
struct KernelWeights {
  llvm::SmallVector<KernelWeight> all;
  /// Storage format of the first one: what the kernel's attribute says.
  std::string format;

  /// The weight of that number; none where there are fewer.
  KernelWeight operator[](size_t number) const {
    return number < all.size() ? all[number] : KernelWeight();
  }
};

/// A box of elements, as `copy_box` has it: element i goes from
/// `from` + sum(i_d * fromStrides_d) to `to` + sum(i_d * toStrides_d). A
/// dynamic size is that of the rows of the step, from row to row on both sides.
struct ElementBox {
  llvm::SmallVector<int64_t> sizes, fromStrides, toStrides;
  int64_t from = 0, to = 0;
};

/// How rows of f32 are made int8, as `quantize_rows` has it.
struct RowQuantization {
  int64_t columns = 0, group = 0, segment = 0, padded = 0;

  /// Words of a quantized row.
  int64_t words() const {
    return QuantizedRowLayout{columns, segment, padded}.words();
  }
};

/// Cosines and sines of one kind of rotation.
struct RopeTable {
  llvm::ArrayRef<double> frequencies;
  double scaling;
  mlir::Value cosines, sines;
};

class ConversionTable;

class ProgramConversion {
public:
  virtual ~ProgramConversion() = default;

  //===--------------------------------------------------------------------===//
  // Tensors
  //===--------------------------------------------------------------------===//

  /// The tensor as it lies.
  mlir::FailureOr<RowsValue> lookup(mlir::Operation *op, mlir::Value tensor);
  /// The tensor in rows of that many columns.
  mlir::FailureOr<RowsValue> lookup(mlir::Operation *op, mlir::Value tensor,
                                    int64_t columns);
  /// One row per index of the first dimension, for an op that works on every
  /// token of the step.
  mlir::FailureOr<RowsValue> lookupTokens(mlir::Operation *op,
                                          mlir::Value tensor);
  /// A buffer for a result with as many rows as `like`.
  /// Its columns are shared out by heads where its readers do so.
  virtual RowsValue createResult(mlir::Value result, const RowsValue &like,
                                 int64_t columns) = 0;
  /// The same with one row per index of the first dimension, over `over`.
  virtual RowsValue createResult(mlir::Value result,
                                 RowSpace over = RowSpace::Tokens) = 0;
  /// The buffer of the first operand that ends here and fits, else a new one.
  RowsValue reuseOrCreate(mlir::Operation *op,
                          llvm::ArrayRef<mlir::Value> operands,
                          mlir::Value result, const RowsValue &like);
  /// Says where the value is, for results that share the memory of another.
  void bind(mlir::Value value, RowsValue where) { values()[value] = where; }
  /// Whether it has been said where the value is.
  bool isBound(mlir::Value value) { return values().contains(value); }
  /// Memory for as many rows as `like` has, that belongs to no value, of
  /// `element` (f32 where it is null).
  virtual RowsValue createRowsLike(mlir::Location loc, const RowsValue &like,
                                   int64_t columns,
                                   mlir::Type element = mlir::Type()) = 0;
  /// Says that several values lie in the buffer: none may be written over.
  void shareBuffer(mlir::Value buffer) { sharedBuffers.insert(buffer); }
  void waitIfSplit(mlir::Location loc) { program.waitIfSplit(loc); }
  /// Memory that belongs to no value, of `element` (f32 where it is null).
  RowsValue createScratch(mlir::Location loc, int64_t rows, int64_t columns,
                          mlir::Type element = mlir::Type());
  mlir::Type i32() { return mlir::IntegerType::get(module.getContext(), 32); }

  //===--------------------------------------------------------------------===//
  // Weights, fields of the step context, the cache
  //===--------------------------------------------------------------------===//

  /// The weights of one kernel, in its order: parameters, arguments and
  /// constants as the caller packs them. A computed vector is read where it is;
  /// when a matrix is computed, all matrices are packed by the program, as f32.
  mlir::FailureOr<KernelWeights> weights(mlir::Operation *op,
                                         llvm::ArrayRef<mlir::Value> tensors);
  /// The matrix [N, K] of a parameter, quantized and packed when compiling:
  /// rows on their own, in that format. Steps only.
  virtual mlir::FailureOr<KernelWeight>
  quantizedParameter(mlir::Operation *op, mlir::Value parameter,
                     const IntegerFormat &format) {
    llvm_unreachable("a function quantizes when it runs");
  }
  /// The rows of x as bytes with scales, or as words of bf16, made in that way
  /// for a matmul; without a buffer where none has been.
  RowsValue &quantizedRows(mlir::Value x, mlir::Attribute how) {
    return activations[{x, {how, currentRank}}];
  }
  /// Whether the tensor is the step's positions. In functions, which have no
  /// step, one i32 tensor is like another.
  virtual bool arePositions(mlir::Value ids) { return false; }
  /// Makes kernels find the i32 tensor in that field.
  virtual mlir::LogicalResult
  bindField(mlir::Operation *op, mlir::Value operand, StepField field) = 0;
  /// The same with an array that is no operand. Functions only.
  virtual void bindArray(mlir::Location loc, StepField field,
                         const RowsValue &array) {}
  /// Makes kernels find a count in that field; a step has its own.
  virtual void bindCount(mlir::Location loc, StepField field, int64_t count) {}
  /// Sets the layer register (absent: layer 0) of the rank's cache.
  virtual mlir::LogicalResult bindLayer(mlir::Operation *op,
                                        mlir::Value layer) = 0;
  /// Makes kernels find the pool of that cache.
  virtual mlir::LogicalResult bindCache(mlir::Operation *op,
                                        mlir::llm::PagedKVCacheType type) {
    return mlir::success();
  }
  /// Makes kernels find the blocks of a cache in a buffer of the program, with
  /// one layer. Functions only.
  virtual void bindScratchCache(mlir::Location loc, mlir::Value pool) {}
  /// One row of numbers that are known now. Functions only.
  virtual RowsValue constantRows(mlir::Location loc,
                                 llvm::ArrayRef<int32_t> numbers) {
    llvm_unreachable("a step's arrays are the runtime's");
  }
  /// Whether all sizes are known, as in a function of static shapes.
  virtual bool hasStaticRows() const { return false; }
  /// The most rows of that kind that a step may have. Steps only.
  virtual int64_t maxRows(RowSpace over) const {
    llvm_unreachable("a function has static rows");
  }
  /// Cosines and sines of the op's positions.
  virtual mlir::FailureOr<RopeTable> ropeTable(mlir::llm::RopeOp op) = 0;

  //===--------------------------------------------------------------------===//
  // Kernels
  //===--------------------------------------------------------------------===//

  /// Appends an instruction of one kernel that works over such rows; see
  /// ProgramBuilder::kernel().
  template <typename KernelOp, typename... Args>
  KernelOp kernel(mlir::Location loc, llvm::StringRef label,
                  const RowsValue &rows, const Args &...args) {
    bindRows(loc, rows);
    return program.kernel<KernelOp>(loc, label, args...);
  }
  /// The same of a kernel of fixed size, or one that neither reads nor divides
  /// rows of the step.
  template <typename KernelOp, typename... Args>
  KernelOp fixedKernel(mlir::Location loc, llvm::StringRef label,
                       const Args &...args) {
    return program.kernel<KernelOp>(loc, label, args...);
  }
  using BodyBuilder =
      llvm::function_ref<void(mlir::OpBuilder &, mlir::Block &)>;
  /// Appends an element-wise kernel of those inputs, with the scalar region
  /// that `body` writes.
  void elementwise(mlir::Location loc, llvm::StringRef label,
                   llvm::ArrayRef<mlir::Value> inputs, const RowsValue &out,
                   BodyBuilder body);
  /// Copies \p from to \p to unless they are the same buffer.
  void copyRows(mlir::Location loc, const RowsValue &from, const RowsValue &to);
  /// Sets every element, padding included.
  void fill(mlir::Location loc, const RowsValue &rows, double value);
  /// Rounds the rows in place to the element type, where it is not f32.
  void roundRows(mlir::Location loc, const RowsValue &rows, mlir::Type element);

  /// The rows of the tensor x as a matmul takes them beside a weight of that
  /// type, packed as `format`: rounded to bf16 where the type is of bf16.
  RowsValue matmulInput(mlir::Location loc, mlir::Value tensor,
                        const RowsValue &x, mlir::Type weight,
                        llvm::StringRef format);

  /// Copies a box of elements. Does nothing where the box is empty.
  void copyBox(mlir::Location loc, const RowsValue &from, const RowsValue &to,
               ElementBox box);
  /// Packs the matrix [rows, columns] that lies in `from` at `start`, with
  /// these distances between its elements, as an f32 weight of linear.
  mlir::Value packMatrix(mlir::Location loc, const RowsValue &from,
                         int64_t rows, int64_t columns, int64_t rowStride,
                         int64_t columnStride, int64_t start = 0);

  /// Ranks that run in lockstep, and the one whose values are converted now.
  int64_t numRanks() const { return ranks.size(); }
  int64_t rank() const { return currentRank; }
  void selectRank(int64_t rank) { currentRank = rank; }

  ProgramBuilder program;

protected:
  ProgramConversion(mlir::ModuleOp module, int64_t numRanks)
      : program(module), module(module), ranks(numRanks) {}

  mlir::LogicalResult convertOp(mlir::Operation *op);

  /// The tensor as the caller packs it; nullopt where the program computes it.
  virtual std::optional<KernelWeight> givenWeight(mlir::Value tensor) = 0;
  /// A computed matrix, or one for each expert, as the weight of a kernel.
  mlir::Value packWeight(mlir::Location loc, RowsValue matrix,
                         llvm::ArrayRef<int64_t> shape);

  /// The values of the current rank.
  llvm::DenseMap<mlir::Value, RowsValue> &values() {
    return ranks[currentRank];
  }
  /// Binds a tensor that no op has made yet; fails where there is none.
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
  /// Makes kernels find how many rows there are of that kind; a step has its
  /// own.
  virtual void bindRows(mlir::Location loc, const RowsValue &rows) {}
  /// Whether an op may write over what comes from outside of its block.
  virtual bool mayOverwrite(mlir::Value origin) { return true; }
  /// Whether the value must lie where the caller wants it.
  virtual bool hasPlace(mlir::Value result) { return false; }

  mlir::ModuleOp module;
  /// Buffers that carry a value round the loop that is being converted.
  llvm::DenseSet<mlir::Value> loopValues;
  /// Buffers that hold several values at once: none may be written over.
  llvm::DenseSet<mlir::Value> sharedBuffers;

  /// What quantizedRows() has, by value, way of quantizing and rank.
  llvm::DenseMap<std::pair<mlir::Value, std::pair<mlir::Attribute, int64_t>>,
                 RowsValue>
      activations;

private:
  std::vector<llvm::DenseMap<mlir::Value, RowsValue>> ranks;
  int64_t currentRank = 0;
};

/// What the conversion of an op leaves to do.
enum class OpForm {
  Computed, ///< Results are rounded to their element type behind it.
  Exact,    ///< Results only move or choose numbers.
};

/// The conversion of every op that has one, by name.
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
  /// For an op that all ranks meet in, or that changes what they share.
  template <typename OpTy>
  void addForAllRanks(mlir::LogicalResult (*convert)(ProgramConversion &, OpTy),
                      OpForm form = OpForm::Computed) {
    insert(convert, form, /*once=*/true);
  }
  const Entry *find(mlir::Operation *op) const;

private:
  ConversionTable();
  /// For every op of linalg, and of arith and math, that computes.
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
/// An op on rows of floats, with those that feed only it, as one kernel or as
/// part of a matmul's. (RowOps.cpp)
mlir::LogicalResult convertElementwise(ProgramConversion &c,
                                       mlir::Operation *root);
/// An op of arith or math on tensors or scalars, with the ops that feed only
/// it. (LinalgOps.cpp)
mlir::LogicalResult convertScalarComputation(ProgramConversion &c,
                                             mlir::Operation *root);

/// Fails in a step, which has no kernel for the op.
mlir::LogicalResult refuseInStep(ProgramConversion &c, mlir::Operation *op);

/// Neighbors of an activation that share a scale beside weights of blocks.
inline constexpr int64_t kActivationGroup = 32;

/// How rows of activations are quantized for these weights, a scale for `group`
/// neighbors, in segments of as many values. (QuantOps.cpp)
RowQuantization quantizeRowsFor(const IntegerMatrixLayout &weights,
                                int64_t group, int64_t segment);

/// The rows of the tensor x, quantized so; made once for all matmuls of x.
RowsValue quantizedRows(ProgramConversion &c, mlir::Location loc,
                        mlir::Value tensor, const RowsValue &x,
                        const RowQuantization &how);

/// A projection by a weight of a block format, which is integers: of bytes in a
/// step, of f32 rows in a function, whose ops mean the exact product.
/// (QuantOps.cpp)
mlir::LogicalResult convertBlockLinear(ProgramConversion &c,
                                       mlir::llm::LinearOp op,
                                       const RowsValue &x,
                                       const KernelWeights &weights,
                                       const IntegerFormat &format);

/// Elements in a row with one row per index of the first dimension; a tensor of
/// rank 1 or less is one row.
int64_t rowColumns(mlir::Value tensor);

/// What a buffer holds for elements of that type: i64 for i64 and index, i32
/// for i32 and for i1, as 0 and 1, and f32 for floats and integers of fewer
/// bits.
mlir::Type bufferElement(mlir::Type element);

/// The same of the elements of a tensor.
mlir::Type bufferElementOf(mlir::Type tensor);

/// Sizes of a tensor, a quantized tensor or the slice of a sharded one; of a
/// scalar, which is a tensor of rank 0, there are none.
llvm::ArrayRef<int64_t> tensorShape(mlir::Type type);

/// The dynamic dimension of a tensor of a step, whose indices are rows of the
/// step; nullopt where all sizes are static.
std::optional<int64_t> rowDimension(llvm::ArrayRef<int64_t> shape);

/// How the elements of a tensor are in rows: one for each index of the dynamic
/// dimension or else of the first one; a vector is one row. There is no buffer
/// yet.
RowsValue defaultRows(mlir::Value tensor);

/// The value of a constant, or null; that of a scalar as a tensor of rank 0.
mlir::ElementsAttr constantElements(mlir::Value value);

/// The rows that the tensors with a dynamic dimension have; fails, with a
/// diagnostic, where they differ. Tokens where there is none.
mlir::FailureOr<RowSpace> commonRows(ProgramConversion &c, mlir::Operation *op,
                                     mlir::ValueRange tensors);

/// The distances between neighbors of each dimension.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);

/// The same in the buffer of a tensor: where a dimension is dynamic, its
/// indices are rows, and the other dimensions are the columns of a row.
llvm::SmallVector<int64_t> bufferStrides(llvm::ArrayRef<int64_t> shape);

/// Column tiles of a tensor that stay with one worker: those of whole heads
/// where the tensor is heads or is only reshaped to them, else 1.
int64_t grainOfHeads(mlir::Value tensor);

/// Writes the scalar region of a kernel.
void writeBody(mlir::Region &region, ProgramConversion::BodyBuilder body);

/// True when no kernel after that of \p op uses the tensor, reshaped or not.
bool endsAt(mlir::Value tensor, mlir::Operation *op);

/// The tensor that the given one is another view of.
mlir::Value withoutReshapes(mlir::Value tensor);

/// "linear_bf16_172x64"
std::string kernelName(const llvm::Twine &base, llvm::ArrayRef<int64_t> sizes);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_LLMTOPROGRAM_PROGRAMCONVERSION_H
