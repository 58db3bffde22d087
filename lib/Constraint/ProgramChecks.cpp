//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramChecks.h"

#include <algorithm>

namespace llmir::constraint {

namespace {
/// Finds the states from which an end can be reached: backwards from the ends,
/// along edges; those of calls need the called automaton to match, too.
class BackwardSearch {
public:
  BackwardSearch(const Program &program, size_t numStates, bool reads);
  std::vector<char> run();

private:
  struct Incoming {
    uint32_t from, target;
    const Edge *edge;
  };
  static void index(std::vector<uint32_t> &first, std::vector<uint32_t> &order,
                    const std::vector<uint32_t> &keys, size_t numStates);
  void consider(const Incoming &incoming);

  const Program &program;
  std::vector<Incoming> all;
  /// Edges by their target, and calls by the called start.
  std::vector<uint32_t> firstByTarget, byTarget, firstByCalled, byCalled;
  std::vector<char> found;
  std::vector<uint32_t> open;
};
} // namespace

BackwardSearch::BackwardSearch(const Program &program, size_t numStates,
                               bool reads)
    : program(program), found(numStates, 0) {
  std::vector<uint32_t> targets, called;
  for (uint32_t state = 0; state < numStates; ++state)
    for (const Edge &edge : program.edges(state)) {
      const bool isRead =
          edge.kind == Edge::Kind::Bytes || edge.kind == Edge::Kind::Token;
      if (isRead && !reads)
        continue;
      all.push_back({state, edge.target, &edge});
      targets.push_back(edge.target);
      called.push_back(edge.kind == Edge::Kind::Call
                           ? edge.value
                           : static_cast<uint32_t>(numStates));
    }
  index(firstByTarget, byTarget, targets, numStates + 1);
  index(firstByCalled, byCalled, called, numStates + 1);
}

/// Sorts the numbers of the keys by key.
void BackwardSearch::index(std::vector<uint32_t> &first,
                           std::vector<uint32_t> &order,
                           const std::vector<uint32_t> &keys,
                           size_t numStates) {
  first.assign(numStates + 1, 0);
  for (uint32_t key : keys)
    ++first[key + 1];
  for (size_t i = 0; i < numStates; ++i)
    first[i + 1] += first[i];
  std::vector<uint32_t> next = first;
  order.resize(keys.size());
  for (uint32_t i = 0; i < keys.size(); ++i)
    order[next[keys[i]]++] = i;
}

void BackwardSearch::consider(const Incoming &incoming) {
  const Edge &edge = *incoming.edge;
  if (found[incoming.from] || !found[incoming.target] ||
      (edge.kind == Edge::Kind::Call && !found[edge.value]))
    return;
  found[incoming.from] = 1;
  open.push_back(incoming.from);
}

std::vector<char> BackwardSearch::run() {
  for (uint32_t state = 0; state < found.size(); ++state)
    if (program.isEnd(state)) {
      found[state] = 1;
      open.push_back(state);
    }
  while (!open.empty()) {
    const uint32_t state = open.back();
    open.pop_back();
    for (uint32_t i = firstByTarget[state]; i < firstByTarget[state + 1]; ++i)
      consider(all[byTarget[i]]);
    for (uint32_t i = firstByCalled[state]; i < firstByCalled[state + 1]; ++i)
      consider(all[byCalled[i]]);
  }
  return std::move(found);
}

MatchingStates findMatching(const Program &program) {
  const size_t numStates = program.numStates();
  return {BackwardSearch(program, numStates, /*reads=*/true).run(),
          BackwardSearch(program, numStates, /*reads=*/false).run()};
}

namespace {
/// Tarjan's strongly connected components of what is reached without reading.
/// A call within a component calls itself.
class RecursionSearch {
public:
  RecursionSearch(const Program &program, const std::vector<char> &empty)
      : program(program), empty(empty), number(program.numStates(), 0),
        lowest(program.numStates(), 0), component(program.numStates(), 0) {}
  std::vector<uint32_t> run();

private:
  struct Visit {
    uint32_t state;
    std::vector<uint32_t> next;
    size_t taken = 0;
  };
  std::vector<uint32_t> successors(uint32_t state) const;
  void visit(uint32_t state);
  void leave(uint32_t state);

  const Program &program;
  const std::vector<char> &empty;
  std::vector<uint32_t> number, lowest, component; ///< 0: none yet.
  std::vector<uint32_t> open;
  std::vector<Visit> path;
  uint32_t visited = 0, components = 0;
};
} // namespace

std::vector<uint32_t> RecursionSearch::successors(uint32_t state) const {
  std::vector<uint32_t> result;
  for (const Edge &edge : program.edges(state)) {
    if (edge.kind == Edge::Kind::Nothing ||
        (edge.kind == Edge::Kind::Call && empty[edge.value]))
      result.push_back(edge.target);
    if (edge.kind == Edge::Kind::Call)
      result.push_back(edge.value);
  }
  return result;
}

void RecursionSearch::visit(uint32_t state) {
  number[state] = lowest[state] = ++visited;
  open.push_back(state);
  path.push_back({state, successors(state)});
}

void RecursionSearch::leave(uint32_t state) {
  if (lowest[state] != number[state])
    return;
  ++components;
  uint32_t member = 0;
  do {
    member = open.back();
    open.pop_back();
    component[member] = components;
  } while (member != state);
}

std::vector<uint32_t> RecursionSearch::run() {
  for (uint32_t root = 0; root < number.size(); ++root) {
    if (number[root] == 0)
      visit(root);
    while (!path.empty()) {
      Visit &top = path.back();
      const uint32_t state = top.state;
      if (top.taken < top.next.size()) {
        const uint32_t next = top.next[top.taken++];
        if (number[next] == 0)
          visit(next);
        else if (component[next] == 0)
          lowest[state] = std::min(lowest[state], number[next]);
        continue;
      }
      path.pop_back();
      leave(state);
      if (!path.empty())
        lowest[path.back().state] =
            std::min(lowest[path.back().state], lowest[state]);
    }
  }
  std::vector<uint32_t> result;
  for (uint32_t state = 0; state < number.size(); ++state)
    for (const Edge &edge : program.edges(state))
      if (edge.kind == Edge::Kind::Call &&
          component[state] == component[edge.value])
        result.push_back(edge.value);
  return result;
}

std::vector<uint32_t> findLeftRecursion(const Program &program,
                                        const std::vector<char> &empty) {
  return RecursionSearch(program, empty).run();
}

} // namespace llmir::constraint
