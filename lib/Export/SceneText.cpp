//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words and numbers of a drawing.
//
//===----------------------------------------------------------------------===//

#include "SceneText.h"

#include <cstdio>

using namespace llmir;
using namespace llmir::picture;
using namespace mllm::ir;

const char *picture::categoryName(Category category) {
  switch (category) {
  case Category::Product:
    return "product";
  case Category::Attention:
    return "attention";
  case Category::Norm:
    return "norm";
  case Category::Arithmetic:
    return "arithmetic";
  case Category::Table:
    return "table";
  case Category::State:
    return "cache";
  case Category::Move:
    return "move";
  case Category::Control:
    break;
  }
  return "other";
}

Category picture::categoryOf(const std::string &kind) {
  static const std::map<std::string, Category> categories = {
      {"linear", Category::Product},
      {"matmul", Category::Product},
      {"conv1d", Category::Product},
      {"conv2d", Category::Product},
      {"conv3d", Category::Product},
      {"experts", Category::Product},
      {"stft", Category::Product},
      {"istft", Category::Product},
      {"flash_attention2", Category::Attention},
      {"flash_attention2_swa_sink", Category::Attention},
      {"radix_attn_swa_sink", Category::Attention},
      {"radix_attn_relax", Category::Attention},
      {"paged_attn", Category::Attention},
      {"causal_mask", Category::Attention},
      {"rope", Category::Attention},
      {"multimodal_rope", Category::Attention},
      {"vision_rope", Category::Attention},
      {"softmax", Category::Norm},
      {"rms_norm", Category::Norm},
      {"layer_norm", Category::Norm},
      {"layer_norm_2d", Category::Norm},
      {"embedding", Category::Table},
      {"param", Category::Table},
      {"positions", Category::Table},
      {"gather", Category::Table},
      {"kv_cache", Category::State},
      {"view", Category::Move},
      {"reshape", Category::Move},
      {"transpose", Category::Move},
      {"permute", Category::Move},
      {"contiguous", Category::Move},
      {"clone", Category::Move},
      {"copy", Category::Move},
      {"x2x", Category::Move},
      {"cast_type", Category::Move},
      {"split", Category::Move},
      {"concat", Category::Move},
      {"stack", Category::Move},
      {"repeat", Category::Move},
      {"slice", Category::Move},
      {"index", Category::Move},
      {"pad", Category::Move},
      {"scatter", Category::Move},
      {"masked_scatter", Category::Move},
      {"interpolate", Category::Move},
  };
  auto found = categories.find(kind);
  if (found != categories.end())
    return found->second;
  return kind.find('.') == std::string::npos ? Category::Arithmetic
                                             : Category::Control;
}

std::string picture::withUnit(double amount) {
  static const char *const units[] = {"", " k", " M", " G", " T", " P", " E"};
  size_t unit = 0;
  while (amount >= 999.5 && unit + 1 < sizeof units / sizeof *units) {
    amount /= 1000;
    ++unit;
  }
  const int digits = unit == 0 || amount >= 99.95 ? 0 : amount >= 9.995 ? 1 : 2;
  char text[48];
  std::snprintf(text, sizeof text, "%.*f%s", digits, amount, units[unit]);
  return text;
}

std::string picture::counted(size_t count, const char *thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

std::string picture::withUnit(double amount, const char *unit) {
  std::string text = picture::withUnit(amount);
  const char last = text.back();
  return text + (last >= '0' && last <= '9' ? " " : "") + unit;
}

const char *picture::typeName(mllm::DataTypes type) {
  using namespace mllm;
  switch (type) {
  case kFp32:
    return "f32";
  case kFp16:
    return "f16";
  case kBf16:
    return "bf16";
  case kFp64:
    return "f64";
  case kInt64:
    return "i64";
  case kInt32:
    return "i32";
  case kInt16:
    return "i16";
  case kInt8:
    return "i8";
  case kInt4:
    return "i4";
  case kUInt64:
    return "u64";
  case kUInt32:
    return "u32";
  case kUInt16:
    return "u16";
  case kUInt8:
    return "u8";
  case kUInt4:
    return "u4";
  case kBool:
    return "bool";
  }
  return "?";
}

std::string picture::shapeText(const GraphValue &value) {
  std::string text;
  for (const shapes::DimExpr &size : value.shape)
    text += (text.empty() ? "" : times) + (size.isKnown() ? size.str() : "n");
  text = (text.empty() ? "scalar" : text) + dot + typeName(value.dtype);
  if (value.device != mllm::kCPU)
    text += std::string(dot) + mllm::deviceName(value.device, true);
  return text;
}

std::string picture::shapeText(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : times) + std::to_string(size);
  return text;
}

std::string picture::nameIn(const std::string &path,
                            const std::string &module) {
  if (path.empty() || path == module)
    return {};
  if (!module.empty() && path.compare(0, module.size() + 1, module + ".") == 0)
    return path.substr(module.size() + 1);
  return path;
}

std::string picture::layerOf(const GraphOp &op, const std::string &module) {
  if (!op.path.empty() || op.parameters.empty())
    return op.path;
  const std::string &parameter = op.parameters.rbegin()->second->name;
  const std::string owner = parameter.substr(0, parameter.rfind('.'));
  return owner.compare(0, module.size() + 1, module + ".") == 0 ? owner : "";
}

static std::string numberText(int64_t number) { return std::to_string(number); }

static std::string numberText(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", number);
  return text;
}

template <typename T> static std::string listText(const std::vector<T> &list) {
  std::string text = "[";
  for (size_t i = 0; i < list.size(); ++i) {
    if (i == 8)
      return text + ", \u2026 " + std::to_string(list.size()) + " numbers]";
    text += (i ? ", " : "") + numberText(list[i]);
  }
  return text + "]";
}

std::string picture::attributeText(const GraphAttribute &attribute) {
  struct Printer {
    std::string operator()(std::monostate) const { return "\u2026"; }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(int64_t number) const { return numberText(number); }
    std::string operator()(double number) const { return numberText(number); }
    std::string operator()(const std::string &text) const { return text; }
    std::string operator()(const std::vector<int64_t> &list) const {
      return listText(list);
    }
    std::string operator()(const std::vector<double> &list) const {
      return listText(list);
    }
  };
  return std::visit(Printer(), attribute);
}
