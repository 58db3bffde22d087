//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Generators of ops on one paged cache. A simulation of the program tracks
// which blocks the sequences have, so that block tables can be constants.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_PROPERTY_CACHECHAIN_H
#define LLMIR_TEST_PROPERTY_CACHECHAIN_H

#include "Generator.h"

namespace llmir::property {

/// The cache and its simulated state.
class Chain {
public:
  explicit Chain(Program &p, bool isOwn = false);
  /// A cache that is local to the program, with one step.
  void ownStep();

  void step();
  void finish();

private:
  // Generators of ops; each may update `cache`.
  void appendToNone();
  void appendBatched();
  void appendRagged(bool attends);
  void appendTwice();
  void appendNothing();
  void lookupInNewCache();
  void appendThenAttend();
  void fused();
  void ropeAppend();
  void attend();
  void lookup();
  void lookupThenAttend();
  void fork();
  void free();

  std::string types(const std::vector<property::Value> &values) const;
  std::string layerText() const {
    return layer.empty() ? "" : " layer(" + layer + ")";
  }
  int64_t layerNumber() const { return layer.empty() ? 0 : wantedLayer; }
  property::Value newKeys(int64_t tokens, bool isRagged);
  property::Value newValues(const property::Value &keys);
  property::Value query(int64_t tokens, bool isRagged);
  property::Value outputOf(const property::Value &query) const;
  std::string attributes();
  property::Value emptyMask();
  reference::Tensor idTensor() const;
  void simulateAppend(int64_t tokens);
  property::Value rows();
  property::Value rowsOfAppend(int64_t tokens);
  int64_t length() const { return lengths; }
  int64_t blocks() const {
    return (lengths + geometry.blockSize - 1) / geometry.blockSize;
  }
  std::vector<int64_t> offsets(int64_t tokens) const;
  bool hasRoom(int64_t tokens) const {
    return lengths + tokens <= geometry.maxSeqLen;
  }

  Program &p;
  reference::CacheGeometry geometry;
  reference::PagedCache simulation;
  std::string element, type, cache, layer;
  int64_t wantedLayer = 0, heads = 1;
  std::vector<int64_t> ids; ///< Sequences that are extended together.
  int64_t nextId = 20, lengths = 0;
};

} // namespace llmir::property

#endif // LLMIR_TEST_PROPERTY_CACHECHAIN_H
