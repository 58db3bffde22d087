//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Statistics of measured times.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LOADGENERATOR_STATISTICS_H
#define LLMIR_LOADGENERATOR_STATISTICS_H

#include <vector>

namespace llmir {

/// The value below which `percent` % of the values lie, interpolated linearly
/// between neighbors, as numpy.percentile() does by default. `sorted` is
/// ascending and not empty; `percent` is from 0 to 100.
double percentile(const std::vector<double> &sorted, double percent);

struct Summary {
  double mean = 0, median = 0;
  double deviation = 0; ///< Standard deviation, of the population.
  std::vector<double> percentiles;
};

/// The statistics of `values`, in any order; all are 0 if there are none.
Summary summarize(std::vector<double> values,
                  const std::vector<double> &percents);

} // namespace llmir

#endif // LLMIR_LOADGENERATOR_STATISTICS_H
