//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A traced model compiled to machine code of the host. No MLIR in this header.
//
//   auto context = ir::trace(model, Tensor::empty({1, dim("seq")}, kInt64));
//   auto executable = ir::compile(context);
//   if (!executable) … executable.status() …
//   auto results = executable->run({Tensor::fromVector({1, 3}, {5, 6, 7},
//                                                      kInt64)});
//
// Results are those of eager calls, with one exception, described in
// docs/Dialects/MLLM.md: of out-of-range indices, which eager calls reject,
// run() detects only embedding ids among its inputs; others yield unspecified
// results.
//
// One trace serves all lengths: code is generated when sizes of inputs are
// first seen, and cached. Any model that can be traced is supported; decoders
// are served from an artifact (`llmir compile`), which keeps weights in their
// stored format, batches sequences and holds their caches.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_IR_EXECUTABLE_H
#define MLLM_IR_EXECUTABLE_H

#include "llmir/Support/Status.h"
#include "mllm/ir/Trace.h"

#include <map>
#include <string>

namespace mllm::ir {

struct CompileOptions {
  /// Number of threads, 1 to 1024; 0: one per processor. Results do not depend
  /// on it.
  int64_t threads = 1;
  /// Upper bounds of named sizes, 1 or more. A name that is not a size of the
  /// inputs is an error. Other sizes have the range stated by the trace
  /// (`mllm.dims`), if any.
  std::map<std::string, int64_t> bounds;
};

/// A compiled model. Not thread-safe. If every input size has a bound and every
/// op supports dynamic sizes, code is generated once for all sizes; otherwise,
/// for each tuple of sizes.
class Executable {
public:
  Executable(Executable &&) noexcept;
  ~Executable();

  /// Runs the model. Inputs must have the types, ranks and static sizes of the
  /// trace, and one value per named size. Caches are initially empty.
  /// Parameters are read, as f32, when code is generated. Fails if the inputs
  /// do not match, if the model is invalid for their sizes, or if an op cannot
  /// be compiled.
  llmir::Expected<Tensors> run(const Tensors &inputs);

  /// Maximum number of tuples of sizes with cached code; the least recently
  /// used code is evicted.
  static constexpr size_t kMaxInstances = 16;
  /// Number of tuples of sizes with cached code; 1 if code serves all sizes.
  size_t numInstances() const;
  /// The reason why code is specialized: the op that requires static sizes, or
  /// the size without a bound. Empty if code serves all sizes.
  const std::string &whySpecialized() const;

private:
  friend llmir::Expected<Executable> compile(const IRContext::ptr_t &,
                                             const CompileOptions &);
  struct State;
  explicit Executable(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

/// Compiles a copy of the context's model with the parameters of the trace.
/// Fails if the trace failed, or if the context has no model or several. A
/// model with static sizes only is compiled immediately.
llmir::Expected<Executable> compile(const IRContext::ptr_t &context,
                                    const CompileOptions &options = {});

} // namespace mllm::ir

#endif // MLLM_IR_EXECUTABLE_H
