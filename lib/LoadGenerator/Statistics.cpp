//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/LoadGenerator/Statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace llmir;

double llmir::percentile(const std::vector<double> &sorted, double percent) {
  const double position =
      percent / 100 * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double weight = position - static_cast<double>(below);
  return sorted[below] + weight * (sorted[above] - sorted[below]);
}

Summary llmir::summarize(std::vector<double> values,
                         const std::vector<double> &percents) {
  Summary summary;
  summary.percentiles.resize(percents.size());
  if (values.empty())
    return summary;
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  summary.mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  summary.median = percentile(values, 50);
  double squares = 0;
  for (double value : values)
    squares += (value - summary.mean) * (value - summary.mean);
  summary.deviation = std::sqrt(squares / count);
  for (size_t i = 0; i < percents.size(); ++i)
    summary.percentiles[i] = percentile(values, percents[i]);
  return summary;
}
