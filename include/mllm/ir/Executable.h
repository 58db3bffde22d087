//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A traced model as machine code of this processor. No MLIR in this header.
//
//   auto context = ir::trace(model, Tensor::empty({1, dim("seq")}, kInt64));
//   auto executable = ir::compile(context);
//   if (!executable) … executable.status() …
//   auto results = executable->run({Tensor::fromVector({1, 3}, {5, 6, 7},
//                                                      kInt64)});
//
// It computes what the eager call computes, with one exception, which
// docs/Dialects/MLLM.md describes: of indices out of range, which an eager call
// refuses, run() sees only the ids of embeddings among its inputs; others give
// numbers.
//
// One trace serves every length: code is made for the sizes of the inputs when
// they are first seen, and kept. It is for any model that can be traced;
// decoders are served from an artifact (`llmir compile`), which holds weights
// as they are stored, batches sequences and keeps their caches.
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
  /// Threads that run the code, 1 to 1024; 0 = one per processor. Results do
  /// not depend on their number.
  int64_t threads = 1;
  /// The greatest value of each size of that name, 1 or more. A name that no
  /// size of the inputs has is an error. Sizes that are
  /// not here have the range that the trace says (`mllm.dims`), if it does.
  std::map<std::string, int64_t> bounds;
};

/// A compiled model. Not for several threads at once. Where every size of the
/// inputs has a bound and every op can work on sizes that only a run knows,
/// code is made once, for all of them; else for each tuple of sizes that comes.
class Executable {
public:
  Executable(Executable &&) noexcept;
  ~Executable();

  /// The model's results for these inputs, which need the types and ranks of
  /// the trace, its static sizes, and one number for each name of a size.
  /// Caches are empty at first. Parameters are read, as f32, when code is made.
  /// Fails, and says why, where the inputs do not fit, where the model has no
  /// meaning for their sizes, or where an op has no code.
  llmir::Expected<Tensors> run(const Tensors &inputs);

  /// For so many tuples of sizes code is kept; where another one comes, that
  /// which was not used for longest is made anew when it is needed again.
  static constexpr size_t kMostInstances = 16;
  /// How many tuples of sizes there is code for; 1 where one code serves all.
  size_t numInstances() const;
  /// Why code is made for each tuple of sizes: the op that needs to know them,
  /// or the size without a bound. Empty where one code serves all.
  const std::string &whySpecialized() const;

private:
  friend llmir::Expected<Executable> compile(const IRContext::ptr_t &,
                                             const CompileOptions &);
  struct State;
  explicit Executable(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

/// Takes a copy of the model that the context holds, with the parameters that
/// it was traced with. Fails where the trace did, and where the context holds
/// no model, or more than one. What has static sizes alone is compiled at once.
llmir::Expected<Executable> compile(const IRContext::ptr_t &context,
                                    const CompileOptions &options = {});

} // namespace mllm::ir

#endif // MLLM_IR_EXECUTABLE_H
