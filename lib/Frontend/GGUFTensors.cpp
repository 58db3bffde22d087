//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Frontend/GGUFTensors.h"

#include "CheckpointParameters.h"
#include "RopeFrequencies.h"

#include "llmir/Checkpoint/GGUFWriter.h"
#include "llmir/Support/Text.h"
#include "mllm/models/Families.h"

#include "mlir/IR/MLIRContext.h"

#include <algorithm>
#include <map>

using namespace llmir;
using ::mllm::nn::StoredPlace;

namespace {

/// Binds parameters as usual, and notes which rows of which GGUF tensor each of
/// them is.
class RecordedParameters final : public ::mllm::ir::ParameterSource {
public:
  RecordedParameters(const Checkpoint &checkpoint,
                     const ::mllm::models::ModelFamily &family)
      : checkpoint(checkpoint), family(family), parameters(checkpoint) {}

  Expected<::mllm::ir::ParameterBinding>
  bind(mlir::MLIRContext &context,
       const ::mllm::nn::Parameter &parameter) override {
    auto binding = parameters.bind(context, parameter);
    if (!binding)
      return binding;
    LLMIR_RETURN_IF_ERROR(record(parameter, *binding));
    return binding;
  }

  Status checkAllUsed() const { return parameters.checkAllUsed(); }
  Expected<std::vector<GGUFTensorSource>> finish();

private:
  struct Part {
    StoredPlace place; ///< In the GGUF file.
    StoredParameter stored;
  };
  struct Tensor {
    std::string name;
    std::vector<int64_t> shape;
    std::vector<Part> parts;
  };

  Status record(const ::mllm::nn::Parameter &parameter,
                const ::mllm::ir::ParameterBinding &binding);
  Status append(Tensor &tensor, std::vector<GGUFTensorSource> &list) const;
  void describe(GGUFTensorSource &source) const;
  void orderHeads(GGUFTensorSource &source) const;
  static bool isStoredAlike(const Tensor &tensor);
  static Status appendToStack(const Part &part, const std::string &name,
                              std::vector<StoredParameter> &parts);

  const Checkpoint &checkpoint;
  const ::mllm::models::ModelFamily &family;
  CheckpointParameters parameters;
  std::vector<Tensor> tensors;
  std::map<std::string, size_t> byName; ///< Indices into `tensors`.
};

} // namespace

Status RecordedParameters::record(const ::mllm::nn::Parameter &parameter,
                                  const ::mllm::ir::ParameterBinding &binding) {
  const std::string module = parameter.storedPath(/*isGGUF=*/true);
  const std::optional<std::string> name =
      ggufTensorName(module, family.ggufNames);
  if (!name)
    return Status(StatusCode::Unsupported,
                  "'" + module + "' has no name in GGUF",
                  "run the model from its directory");
  const ::mllm::nn::Storage &storage = parameter.storage();
  Part part;
  part.place = storage.placeIn(/*isGGUF=*/true);
  StoredParameter &stored = part.stored;
  stored.source = binding.source;
  stored.shape = parameter.shape();
  stored.firstRow = binding.place.first;
  stored.storedRows = binding.place.rows;
  stored.groupRows = binding.place.groupRows;
  stored.groupStride = binding.place.groupStride;
  stored.isTransposed = binding.transposed;
  stored.slicesColumns = binding.place.isOfColumns;
  if (storage.isConvolution) { // Stored alike, with rows of a channel's taps.
    stored.isTransposed = false;
    std::swap(stored.shape[0], stored.shape[1]);
  }
  const ModelConfig &config = checkpoint.config();
  const bool hasPairs = config.adjacentPairRotation;
  const bool wantsPairs = rotatesPairsInGGUF(config.architecture);
  if (hasPairs != wantsPairs)
    (hasPairs ? stored.unpermuteHeads : stored.permuteHeads) =
        storage.rotatedHeads;

  auto [found, isNew] = byName.emplace(*name, tensors.size());
  if (isNew) {
    Tensor tensor{*name, stored.shape, {}};
    const bool isStack = tensor.shape.size() == 3;
    if (part.place.rows > 0)
      tensor.shape[isStack ? 1 : 0] = part.place.rows;
    tensors.push_back(std::move(tensor));
  }
  tensors[found->second].parts.push_back(std::move(part));
  return Status::ok();
}

/// The parameters of a recurrence, other than projections and biases.
static bool isRecurrentParameter(std::string_view name) {
  for (std::string_view end : {".ssm_a", ".ssm_d", ".ssm_norm.weight"})
    if (endsWith(name, end))
      return true;
  return false;
}

/// Adds rows of each matrix of a stack: the matrices have to be stored as they
/// are written, one part after the other.
Status RecordedParameters::appendToStack(const Part &part,
                                         const std::string &name,
                                         std::vector<StoredParameter> &parts) {
  const StoredParameter &stored = part.stored;
  const bool isStoredSo = stored.firstRow == part.place.first &&
                          stored.storedRows == part.place.rows &&
                          stored.groupRows == 0 && !stored.isTransposed &&
                          !stored.slicesColumns;
  if (!isStoredSo || (!parts.empty() && parts[0].source != stored.source))
    return Status(StatusCode::Unsupported,
                  "the matrices of '" + name +
                      "' are not those of a tensor of the model",
                  "run the model from its directory");
  if (parts.empty())
    parts.push_back(stored);
  else
    parts[0].shape[1] += stored.shape[1];
  return Status::ok();
}

/// Whether the parts are all rows of one stored tensor, which has them in the
/// places that they have in the file.
bool RecordedParameters::isStoredAlike(const Tensor &tensor) {
  int64_t rows = 0;
  for (const Part &part : tensor.parts) {
    const StoredParameter &stored = part.stored;
    if (stored.shape.size() != 2 || part.place.rows == 0 ||
        stored.source != tensor.parts[0].stored.source ||
        stored.firstRow != part.place.first ||
        stored.storedRows != part.place.rows ||
        stored.groupRows != part.place.groupRows ||
        stored.groupStride != part.place.groupStride || stored.isTransposed ||
        stored.permuteHeads != 0 || stored.unpermuteHeads != 0)
      return false;
    rows += stored.shape[0];
  }
  return rows == tensor.shape[0];
}

/// See GGUFTensorSource::HeadOrder.
void RecordedParameters::orderHeads(GGUFTensorSource &source) const {
  const ModelConfig &config = checkpoint.config();
  const RecurrentConfig &recurrent = config.recurrent;
  if ((config.architecture != "qwen35" && config.architecture != "qwen35moe") ||
      recurrent.keyHeads == recurrent.valueHeads)
    return;
  const int64_t keyRows = 2 * recurrent.keyHeads * recurrent.keyDim;
  auto isOneOf = [&](std::initializer_list<std::string_view> ends) {
    return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) {
      return endsWith(source.name, end);
    });
  };
  GGUFTensorSource::HeadOrder &heads = source.heads;
  if (isOneOf({".attn_qkv.weight", ".ssm_conv1d.weight"}))
    heads = {recurrent.keyHeads, keyRows, recurrent.valueDim, false};
  else if (isOneOf({".attn_gate.weight"}))
    heads = {recurrent.keyHeads, 0, recurrent.valueDim, false};
  else if (isOneOf({".ssm_alpha.weight", ".ssm_beta.weight", ".ssm_a",
                    ".ssm_dt.bias"}))
    heads = {recurrent.keyHeads, 0, 1, source.shape.size() == 1};
  else if (isOneOf({".ssm_out.weight"}))
    heads = {recurrent.keyHeads, 0, recurrent.valueDim, true};
}

/// The form and the values as llama.cpp's converters write them.
void RecordedParameters::describe(GGUFTensorSource &source) const {
  const ModelConfig &config = checkpoint.config();
  std::vector<int64_t> &shape = source.shape;
  // Biases of experts, and matrices of one row.
  if (shape.size() > 1)
    shape.erase(std::remove(shape.begin(), shape.end(), 1), shape.end());
  const bool isOfStates = isRecurrentParameter(source.name);
  if (shape.size() == 1 && !isOfStates && config.normUnitOffset &&
      endsWith(source.name, "norm.weight"))
    source.change = GGUFTensorSource::PlusOne;
  if (endsWith(source.name, ".ssm_a"))
    source.change = GGUFTensorSource::MinusExp;
  if (config.recurrent.kind != RecurrentConfig::Mamba2 || !isOfStates)
    return;
  if (endsWith(source.name, ".ssm_norm.weight"))
    shape.insert(shape.begin(), 1); // Groups of heads.
  else
    shape.push_back(1);
}

/// Orders the parts of a tensor, which must cover its rows.
Status RecordedParameters::append(Tensor &tensor,
                                  std::vector<GGUFTensorSource> &list) const {
  if (isStoredAlike(tensor)) {
    Part whole;
    whole.stored.source = tensor.parts[0].stored.source;
    whole.stored.shape = tensor.shape;
    tensor.parts = {std::move(whole)};
  }
  std::sort(tensor.parts.begin(), tensor.parts.end(),
            [](const Part &a, const Part &b) {
              return a.place.first < b.place.first;
            });
  GGUFTensorSource source;
  const size_t ofRows = tensor.shape.size() == 3 ? 1 : 0; // A stack, or not.
  int64_t rows = 0;
  for (Part &part : tensor.parts) {
    const bool isWhole = part.place.rows == 0;
    const int64_t first = isWhole ? 0 : part.place.first;
    if (part.place.groupRows != 0 || first != rows)
      return Status(StatusCode::Unsupported,
                    "the rows of '" + tensor.name +
                        "' are not consecutive parts of the model",
                    "run the model from its directory");
    rows += part.stored.shape[ofRows];
    if (ofRows == 0 || isWhole)
      source.parts.push_back(std::move(part.stored));
    else
      LLMIR_RETURN_IF_ERROR(appendToStack(part, tensor.name, source.parts));
  }
  source.name = std::move(tensor.name);
  source.shape = std::move(tensor.shape);
  if (rows != source.shape[ofRows])
    return Status(StatusCode::Internal,
                  "'" + source.name + "' has " +
                      std::to_string(source.shape[ofRows]) +
                      " rows, of which the model has " + std::to_string(rows));
  describe(source);
  orderHeads(source);
  list.push_back(std::move(source));
  return Status::ok();
}

Expected<std::vector<GGUFTensorSource>> RecordedParameters::finish() {
  std::vector<GGUFTensorSource> list;
  for (Tensor &tensor : tensors)
    LLMIR_RETURN_IF_ERROR(append(tensor, list));
  return list;
}

/// Rotary scaling that GGUF stores as tensors.
static void addRopeTensors(const ModelConfig &config,
                           std::vector<GGUFTensorSource> &list) {
  auto add = [&](const char *name, std::vector<float> values) {
    GGUFTensorSource source;
    source.name = name;
    source.shape = {static_cast<int64_t>(values.size())};
    source.values = std::move(values);
    list.push_back(std::move(source));
  };
  const RopeScaling &scaling = config.ropeScaling;
  if (scaling.kind == RopeScaling::Llama3)
    add(ropeDivisorsTensor, llama3Divisors(config));
  if (scaling.kind == RopeScaling::Proportional)
    add(ropeDivisorsTensor, proportionalDivisors(config));
  if (scaling.kind != RopeScaling::LongRope)
    return;
  add(longFactorsTensor,
      {scaling.longFactors.begin(), scaling.longFactors.end()});
  add(shortFactorsTensor,
      {scaling.shortFactors.begin(), scaling.shortFactors.end()});
}

Expected<std::vector<GGUFTensorSource>>
llmir::ggufTensorsOf(const Checkpoint &checkpoint) {
  const ModelConfig &found = checkpoint.config();
  const auto *family = ::mllm::models::findModelFamily(found.architecture);
  if (!family)
    return Status(StatusCode::Unsupported, checkpoint.path() +
                                               ": no model family '" +
                                               found.architecture + "'");
  Expected<std::vector<double>> frequencies =
      ropeFrequencies(checkpoint, found.contextLength);
  if (!frequencies)
    return frequencies.takeStatus();
  const ::mllm::models::DecoderConfig config{found, std::move(*frequencies),
                                             localRopeFrequencies(found)};
  const std::unique_ptr<::mllm::nn::Module> model = family->build(config);
  RecordedParameters parameters(checkpoint, *family);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = ::mllm::ir::traceModel(context, *model, "convert", parameters);
  if (!module)
    return module.takeStatus();
  LLMIR_RETURN_IF_ERROR(parameters.checkAllUsed());
  Expected<std::vector<GGUFTensorSource>> list = parameters.finish();
  if (list)
    addRopeTensors(found, *list);
  return list;
}
