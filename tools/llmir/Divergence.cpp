//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Divergence.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace llmir;
using namespace llmir::cli;

static Status notReference(const std::string &path, const std::string &what) {
  return Status(StatusCode::InvalidFile, path + ": " + what,
                "give a file written by 'llmir perplexity --logits' or "
                "numpy.save for the same ids");
}

/// The header's text without spaces; empty if the file does not start like
/// NumPy's. Sets `begin` to the offset of the data.
static std::string npyHeader(Span<const uint8_t> bytes, size_t &begin) {
  if (bytes.size() < 12 || std::memcmp(bytes.data(), "\x93NUMPY", 6) != 0)
    return "";
  // Version 1 has a length of two bytes, later ones of four.
  const bool isLong = bytes[6] > 1;
  size_t length = bytes[8] | bytes[9] << 8;
  if (isLong)
    length |= static_cast<size_t>(bytes[10]) << 16 |
              static_cast<size_t>(bytes[11]) << 24;
  begin = (isLong ? 12 : 10) + length;
  if (begin > bytes.size())
    return "";
  std::string text(
      reinterpret_cast<const char *>(bytes.data()) + begin - length, length);
  text.erase(std::remove_if(text.begin(), text.end(),
                            [](char c) { return c == ' ' || c == '\n'; }),
             text.end());
  return text;
}

Status Divergence::readHeader(int64_t positions, int64_t vocabulary) {
  const Span<const uint8_t> bytes = file.bytes();
  const std::string header = npyHeader(bytes, dataBegin);
  if (header.empty())
    return notReference(file.path(), "not a NumPy file");
  auto has = [&](const std::string &text) {
    return header.find(text) != std::string::npos;
  };
  const std::string shape =
      std::to_string(positions) + "," + std::to_string(vocabulary);
  if (!has("'descr':'<f4'") || !has("'fortran_order':False") ||
      !has("'shape':(" + shape + ")"))
    return notReference(file.path(), "contains " + header.substr(0, 200) +
                                         "; expected float32 [" + shape +
                                         "], a row per token");
  const size_t rowBytes = static_cast<size_t>(vocabulary) * sizeof(float);
  if ((bytes.size() - dataBegin) / rowBytes < static_cast<size_t>(positions))
    return notReference(file.path(), "ends after " +
                                         std::to_string(bytes.size()) +
                                         " bytes, inside its rows");
  return Status::ok();
}

Expected<Divergence> Divergence::open(const std::string &path,
                                      int64_t positions, int64_t vocabulary) {
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.takeStatus();
  Divergence result(std::move(*file));
  LLMIR_RETURN_IF_ERROR(result.readHeader(positions, vocabulary));
  result.divergences.reserve(static_cast<size_t>(positions));
  return result;
}

/// log sum exp(row), in double precision.
static double logSum(Span<const float> row) {
  const double greatest = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (float logit : row)
    sum += std::exp(static_cast<double>(logit) - greatest);
  return greatest + std::log(sum);
}

Status Divergence::compare(Span<const float> row) {
  std::vector<float> reference(row.size());
  const size_t rowBytes = row.size() * sizeof(float);
  std::memcpy(reference.data(),
              file.bytes().data() + dataBegin + divergences.size() * rowBytes,
              rowBytes);
  if (!std::all_of(reference.begin(), reference.end(),
                   [](float value) { return std::isfinite(value); }))
    return notReference(file.path(), "row " +
                                         std::to_string(divergences.size()) +
                                         " has a value that is not finite");
  const double ofReference = logSum(reference), ofRow = logSum(row);
  double divergence = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    const double log = static_cast<double>(reference[i]) - ofReference;
    divergence += std::exp(log) * (log - (static_cast<double>(row[i]) - ofRow));
  }
  divergences.push_back(divergence);
  auto likeliest = [](Span<const float> logits) {
    return std::max_element(logits.begin(), logits.end()) - logits.begin();
  };
  agreeing += likeliest(reference) == likeliest(row);
  return Status::ok();
}

double Divergence::mean() const {
  double sum = 0;
  for (double divergence : divergences)
    sum += divergence;
  return sum / static_cast<double>(divergences.size());
}

double Divergence::percentile99() const {
  std::vector<double> sorted = divergences;
  for (double divergence : sorted)
    if (std::isnan(divergence)) // Unordered; the mean is NaN.
      return divergence;
  std::sort(sorted.begin(), sorted.end());
  return sorted[(sorted.size() * 99 + 99) / 100 - 1];
}

double Divergence::topAgreement() const {
  return static_cast<double>(agreeing) /
         static_cast<double>(divergences.size());
}
