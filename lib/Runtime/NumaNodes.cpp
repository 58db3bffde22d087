//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NumaNodes.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fstream>
#include <linux/mempolicy.h>
#include <optional>
#include <sys/syscall.h>
#include <unistd.h>

namespace llmir {

/// Linux has at most 1024 nodes and 8192 processors.
static constexpr int kMaxNodes = 1024, kMaxProcessors = 8192;

/// The numbers of a list in the kernel's format, "0-3,8,10-11\n", ascending;
/// nullopt for other text.
static std::optional<std::vector<int>> parseList(const std::string &text,
                                                 int limit) {
  std::vector<int> numbers;
  size_t at = 0;
  auto number = [&]() -> int {
    int value = -1;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
      value = std::max(value, 0) * 10 + (text[at++] - '0');
      if (value >= limit)
        return -1;
    }
    return value;
  };
  size_t end = text.find_last_not_of(" \n");
  end = end == std::string::npos ? 0 : end + 1;
  while (at < end) {
    int first = number(), last = first;
    if (at < end && text[at] == '-') {
      ++at;
      last = number();
    }
    if (first < 0 || last < first ||
        (!numbers.empty() && first <= numbers.back()))
      return std::nullopt;
    for (int i = first; i <= last; ++i)
      numbers.push_back(i);
    if (at < end && (text[at++] != ',' || at == end))
      return std::nullopt;
  }
  return numbers;
}

/// Reads the list in a file; nullopt if there is no file.
static Expected<std::optional<std::vector<int>>>
readList(const std::string &path, int limit) {
  std::ifstream file(path);
  if (!file)
    return std::optional<std::vector<int>>();
  char text[65536];
  file.read(text, sizeof text);
  auto size = static_cast<size_t>(file.gcount());
  std::optional<std::vector<int>> numbers;
  if (size < sizeof text)
    numbers = parseList(std::string(text, size), limit);
  if (!numbers)
    return Status(StatusCode::InvalidFile,
                  path + " is not a list of numbers below " +
                      std::to_string(limit),
                  "leave out --numa");
  return numbers;
}

Expected<std::vector<NumaNode>> readNumaNodes(const std::string &root,
                                              const std::vector<int> &usable) {
  auto online = readList(root + "/online", kMaxNodes);
  if (!online)
    return online.takeStatus();
  if (!*online) // A kernel without NUMA support.
    return std::vector<NumaNode>{{0, usable}};
  std::vector<NumaNode> nodes;
  for (int number : **online) {
    auto own = readList(root + "/node" + std::to_string(number) + "/cpulist",
                        kMaxProcessors);
    if (!own)
      return own.takeStatus();
    NumaNode node{number, {}};
    for (int processor : *own ? **own : std::vector<int>())
      if (std::binary_search(usable.begin(), usable.end(), processor))
        node.processors.push_back(processor);
    if (!node.processors.empty())
      nodes.push_back(std::move(node));
  }
  if (nodes.empty())
    return Status(StatusCode::InvalidFile,
                  root + " has no node with a processor that this process may "
                         "use",
                  "leave out --numa");
  return nodes;
}

std::vector<WorkerPlace> placeWorkers(const std::vector<NumaNode> &nodes,
                                      int64_t workers, bool pin) {
  std::vector<std::pair<size_t, int>> all;
  for (size_t node = 0; node < nodes.size(); ++node)
    for (int processor : nodes[node].processors)
      all.emplace_back(node, processor);
  std::vector<WorkerPlace> places;
  for (int64_t worker = 0; worker < workers; ++worker) {
    auto [node, processor] = all[static_cast<size_t>(worker) * all.size() /
                                 static_cast<size_t>(workers)];
    places.push_back(
        {node, pin ? std::vector<int>{processor} : nodes[node].processors});
  }
  return places;
}

Status interleavePages(void *memory, int64_t bytes,
                       const std::vector<NumaNode> &nodes) {
  constexpr int bits = CHAR_BIT * sizeof(unsigned long);
  unsigned long mask[kMaxNodes / bits] = {};
  for (const NumaNode &node : nodes)
    mask[node.number / bits] |= 1UL << (node.number % bits);
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto base = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t first = (base + page - 1) / page * page;
  const uintptr_t end = (base + static_cast<uintptr_t>(bytes)) / page * page;
  if (first >= end)
    return Status::ok();
  // The kernel reads one bit less than the number passed.
  if (syscall(SYS_mbind, first, end - first, MPOL_INTERLEAVE, mask,
              kMaxNodes + 1, 0) == 0)
    return Status::ok();
  return Status(
      StatusCode::Unsupported,
      std::string("the system cannot interleave memory over nodes: ") +
          std::strerror(errno),
      "leave out --numa");
}

} // namespace llmir
