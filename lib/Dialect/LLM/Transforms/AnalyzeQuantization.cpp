//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// -llm-analyze-quantization: reports the quantization error of each weight.
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/Quant.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/LLM/Transforms/Passes.h"
#include "mlir/Dialect/LLM/Transforms/QuantScheme.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/Format.h"

#include <cmath>

namespace mlir::llm {
#define GEN_PASS_DEF_ANALYZEQUANTIZATION
#include "mlir/Dialect/LLM/Transforms/Passes.h.inc"
} // namespace mlir::llm

using namespace mlir;
using namespace mlir::llm;

namespace {

/// The quantization error of a weight under a scheme.
struct SchemeError {
  QuantScheme scheme;
  double nmse = 0;    ///< Σ (w - ŵ)² / Σ w².
  double largest = 0; ///< max |w - ŵ|.
};

SchemeError measure(const llmir::reference::Tensor &weight,
                    const QuantScheme &scheme) {
  llmir::reference::QuantSpec spec;
  spec.bits = int(scheme.bits);
  spec.symmetric = scheme.symmetric;
  spec.axis = 0;
  spec.groupSize = scheme.groupSize;
  auto params = llmir::reference::quantParams(weight, spec);
  const auto *zeroPoints = scheme.symmetric ? nullptr : &params.zeroPoints;
  auto rounded = llmir::reference::dequantize(
      llmir::reference::quantize(weight, params.scales, zeroPoints, spec),
      params.scales, zeroPoints, spec);

  SchemeError error{scheme};
  error.nmse = llmir::reference::nmse(rounded, weight);
  for (int64_t i = 0; i < weight.size(); ++i)
    error.largest = std::max(error.largest, std::fabs(weight[i] - rounded[i]));
  return error;
}

std::string toText(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.3g", value);
  return text;
}

/// Returns the elements of a constant matrix, or of a parameter known to
/// `parameters`.
std::optional<std::vector<double>> readValues(Value weight,
                                              ParameterValues *parameters) {
  if (auto named = weight.getDefiningOp<WeightOp>())
    return parameters ? parameters->read(named.getName()) : std::nullopt;
  // A splat may be too large to materialize.
  constexpr int64_t kMaxElements = 1 << 26;
  DenseFPElementsAttr constant;
  if (!matchPattern(weight, m_Constant(&constant)) ||
      constant.getNumElements() > kMaxElements)
    return std::nullopt;
  std::vector<double> values;
  values.reserve(constant.getNumElements());
  for (APFloat value : constant.getValues<APFloat>()) {
    bool losesInfo = false; // Unused: double is exact.
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    values.push_back(value.convertToDouble());
  }
  return values;
}

struct AnalyzeQuantizationPass
    : llm::impl::AnalyzeQuantizationBase<AnalyzeQuantizationPass> {
  using AnalyzeQuantizationBase::AnalyzeQuantizationBase;
  AnalyzeQuantizationPass(const AnalyzeQuantizationOptions &options,
                          std::shared_ptr<ParameterValues> parameters)
      : AnalyzeQuantizationBase(options), parameters(std::move(parameters)) {}
  AnalyzeQuantizationPass(const AnalyzeQuantizationPass &other)
      : AnalyzeQuantizationBase(other), candidates(other.candidates),
        parameters(other.parameters) {}

  LogicalResult initialize(MLIRContext *context) override {
    candidates.clear();
    SmallVector<std::string> names(schemes.begin(), schemes.end());
    if (names.empty())
      for (StringRef group : {"", ":g128", ":g64", ":g32"})
        for (StringRef type : {"int8", "int4"})
          for (StringRef kind : {"", ":asym"})
            names.push_back((type + group + kind).str());
    for (const std::string &name : names) {
      std::optional<QuantScheme> scheme = QuantScheme::fromName(name);
      if (!scheme)
        return emitError(UnknownLoc::get(context))
               << "schemes must be " << kSchemeSpelling << ", not '" << name
               << "'";
      candidates.push_back(*scheme);
    }
    return success();
  }

  void runOnOperation() override {
    // One report per weight, at its first projection.
    DenseSet<Value> seen;
    getOperation()->walk([&](LinearOp linear) {
      auto type = dyn_cast<RankedTensorType>(linear.getWeight().getType());
      if (!type || !type.hasStaticShape() || type.getNumElements() == 0 ||
          !seen.insert(linear.getWeight()).second)
        return;
      std::optional<std::vector<double>> values =
          readValues(linear.getWeight(), parameters.get());
      if (!values || int64_t(values->size()) != type.getNumElements()) {
        ++weightsUnknown;
        return;
      }
      ++weightsAnalyzed;
      using namespace llmir::reference;
      report(linear,
             Tensor(ElementKind::F32,
                    Shape(type.getShape().begin(), type.getShape().end()),
                    std::move(*values)));
    });
    markAllAnalysesPreserved();
  }

private:
  void report(LinearOp linear, const llmir::reference::Tensor &weight);

  SmallVector<QuantScheme> candidates;
  std::shared_ptr<ParameterValues> parameters;
};

} // namespace

void AnalyzeQuantizationPass::report(LinearOp linear,
                                     const llmir::reference::Tensor &weight) {
  const int64_t inputs = weight.columns();
  SmallVector<SchemeError> errors;
  const SchemeError *best = nullptr;
  for (const QuantScheme &scheme : candidates)
    if (scheme.fits(inputs))
      errors.push_back(measure(weight, scheme));
  for (const SchemeError &error : errors) {
    // Choose the smallest scheme within the bound, on a tie the most accurate.
    auto cost = [&](const SchemeError &e) {
      return std::pair(e.scheme.bitsPerElement(inputs), e.nmse);
    };
    if (error.nmse <= bound && (!best || cost(error) < cost(*best)))
      best = &error;
  }

  std::string what = std::to_string(weight.rows()) + " x " +
                     std::to_string(inputs) + " weight";
  if (auto named = linear.getWeight().getDefiningOp<WeightOp>())
    what += " @" + named.getName().str();
  InFlightDiagnostic remark = linear.emitRemark(what) << ": ";
  if (best)
    remark << best->scheme.name() << " is the smallest within an nmse of "
           << toText(bound);
  else
    remark << "no scheme is within an nmse of " << toText(bound);
  for (const SchemeError &error : errors)
    remark.attachNote() << error.scheme.name() << ": nmse "
                        << toText(error.nmse) << ", largest error "
                        << toText(error.largest) << ", "
                        << toText(error.scheme.bitsPerElement(inputs))
                        << " bits per element";
}

ParameterValues::~ParameterValues() = default;

std::unique_ptr<Pass> mlir::llm::createAnalyzeQuantization(
    const AnalyzeQuantizationOptions &options,
    std::shared_ptr<ParameterValues> parameters) {
  return std::make_unique<AnalyzeQuantizationPass>(options,
                                                   std::move(parameters));
}
