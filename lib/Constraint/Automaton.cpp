//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Automaton.h"

#include <algorithm>
#include <string>

namespace llmir::constraint {

/// A call takes some tens of milliseconds at most.
static constexpr uint64_t mostWork = uint64_t(1) << 21;
/// Places of a state.
static constexpr size_t mostPlaces = 4096;
/// Bytes of what is kept, about.
static constexpr size_t mostKept = size_t(2) << 20;

static uint64_t mixed(uint64_t value) { // SplitMix64.
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

void Automaton::PlaceSet::clear() {
  count = 0;
  if (slots.empty() || ++round == 0) {
    slots.assign(256, {});
    round = 1;
  }
}

bool Automaton::PlaceSet::insert(const Place &place) {
  if (2 * ++count > slots.size()) {
    std::vector<Slot> old(slots.size() * 2);
    std::swap(old, slots);
    const uint32_t before = std::exchange(round, 1);
    count = 1;
    for (const Slot &slot : old)
      if (slot.round == before)
        insert(slot.place);
  }
  size_t index = mixed((uint64_t(place.state) << 32) | place.frame);
  for (;; ++index) {
    Slot &slot = slots[index & (slots.size() - 1)];
    if (slot.round != round) {
      slot = {place, round};
      return true;
    }
    if (slot.place == place) {
      --count;
      return false;
    }
  }
}

uint32_t Automaton::frameOf(uint32_t state, uint32_t parent) {
  const uint64_t key = (uint64_t(state) << 32) | parent;
  const auto [found, isNew] =
      frameNumbers.try_emplace(key, static_cast<uint32_t>(frames.size()));
  if (isNew) {
    const Digest below = frames[parent].digest;
    frames.push_back({state,
                      parent,
                      {mixed(below.low + 0x9e3779b97f4a7c15u + state),
                       mixed((below.high ^ 0xd1b54a32d192ed03u) + state)}});
  }
  return found->second;
}

/// Of the current state, whatever its number and those of its frames are.
Digest Automaton::digest() const {
  Digest sum; // The order of the places does not matter.
  for (const Place &place : places(current)) {
    const Digest &frame = frames[place.frame].digest;
    sum.low += mixed(frame.low + 0xbf58476d1ce4e5b9u * (place.state + 1u));
    sum.high += mixed(frame.high ^ (0x94d049bb133111ebu * (place.state + 1u)));
  }
  return sum;
}

/// The state of all places that are reached from these without reading, of
/// which those are kept that read something.
Automaton::State Automaton::closure(std::vector<Place> open) {
  visited.clear();
  std::vector<Place> found;
  bool accepts = false;
  while (!open.empty()) {
    const Place place = open.back();
    open.pop_back();
    if (!visited.insert(place))
      continue;
    if (++work > mostWork || found.size() > mostPlaces) {
      isExceeded = true;
      return dead;
    }
    if (program->isEnd(place.state)) {
      const Frame frame = frames[place.frame];
      if (place.frame == 0)
        accepts = true;
      else
        open.push_back({frame.state, frame.parent});
    }
    bool reads = false;
    for (const Edge &edge : program->edges(place.state)) {
      ++work;
      if (edge.kind == Edge::Kind::Nothing)
        open.push_back({edge.target, place.frame});
      else if (edge.kind == Edge::Kind::Call)
        open.push_back({edge.value, program->isOnlyEnd(edge.target)
                                        ? place.frame
                                        : frameOf(edge.target, place.frame)});
      else
        reads = true;
    }
    if (reads)
      found.push_back(place);
  }
  return intern(found, accepts);
}

Automaton::State Automaton::intern(std::vector<Place> &found, bool accepts) {
  std::sort(found.begin(), found.end());
  uint64_t hash = accepts;
  for (const Place &place : found)
    hash = mixed(hash + ((uint64_t(place.state) << 32) | place.frame) +
                 0x9e3779b97f4a7c15u);
  const auto [first, last] = stateNumbers.equal_range(hash);
  for (auto entry = first; entry != last; ++entry) {
    const Span<const Place> known = places(entry->second);
    if (states[entry->second].accepts == accepts &&
        std::equal(known.begin(), known.end(), found.begin(), found.end()))
      return entry->second;
  }
  const auto state = static_cast<State>(states.size());
  states.push_back({static_cast<uint32_t>(placeList.size()),
                    static_cast<uint32_t>(found.size()), accepts});
  placeList.insert(placeList.end(), found.begin(), found.end());
  transitions.resize(transitions.size() + program->numClasses(), unknown);
  stateNumbers.emplace(hash, state);
  work += found.size() + program->numClasses();
  return state;
}

Automaton::State Automaton::computeNext(State state, uint8_t byte,
                                        size_t index) {
  std::vector<Place> seeds;
  for (const Place &place : places(state))
    for (const Edge &edge : program->edges(place.state)) {
      ++work;
      if (edge.kind == Edge::Kind::Bytes && edge.first <= byte &&
          byte <= edge.last)
        seeds.push_back({edge.target, place.frame});
    }
  const State result = closure(std::move(seeds));
  if (!isExceeded) // Otherwise it is not known.
    transitions[index] = result;
  return result;
}

Automaton::Automaton(const Program &program, Nothing) : program(&program) {
  frames.push_back({0, 0, {}});
  closure({}); // The dead state.
  for (State &state : transitions)
    state = dead;
}

Automaton::Automaton(const Program &program) : Automaton(program, Nothing()) {
  current = closure({{program.start(), 0}});
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

Status Automaton::tooAmbiguous() const {
  return Status(StatusCode::OutOfRange,
                "the constraint allows too many ways to read the answer at "
                "once",
                "make its alternatives and repetitions less ambiguous");
}

Status Automaton::checkStart() const {
  return isExceeded ? tooAmbiguous() : Status::ok();
}

/// Sets the bits of the texts that may come next.
void Automaton::walk(const TokenVocabulary &vocabulary,
                     std::vector<uint64_t> &mask) {
  const Span<const TokenVocabulary::Node> nodes = vocabulary.nodes();
  const Span<const int32_t> tokens = vocabulary.tokens();
  path.assign(1, current);
  const size_t count = nodes.size() - 1;
  for (size_t i = 0; i < count && !isExceeded;) {
    const TokenVocabulary::Node &node = nodes[i];
    const State state = next(path[node.depth - 1u], node.byte);
    if (state == dead) {
      i = node.end;
      continue;
    }
    if (path.size() <= node.depth)
      path.resize(node.depth + 1u);
    path[node.depth] = state;
    for (uint32_t k = node.firstToken; k < nodes[i + 1].firstToken; ++k) {
      const auto id = static_cast<uint32_t>(tokens[k]);
      mask[id / 64] |= uint64_t(1) << (id % 64);
    }
    ++i;
  }
}

Expected<Span<const uint64_t>>
Automaton::allowed(const TokenVocabulary &vocabulary) {
  const Digest key = digest();
  lastMask = program->masks().find(key);
  if (lastMask)
    return Span<const uint64_t>(*lastMask);
  std::vector<uint64_t> mask((vocabulary.size() + 63) / 64);
  Automaton other = alone();
  other.walk(vocabulary, mask);
  if (other.isExceeded)
    return tooAmbiguous();
  for (const Place &place : places(current))
    for (const Edge &edge : program->edges(place.state))
      if (edge.kind == Edge::Kind::Token && edge.value < vocabulary.size())
        mask[edge.value / 64] |= uint64_t(1) << (edge.value % 64);
  lastMask = program->masks().add(key, std::move(mask));
  return Span<const uint64_t>(*lastMask);
}

/// The state after a token: as a text, and as the token that it is.
Automaton::State Automaton::afterToken(State state, int32_t token,
                                       const TokenVocabulary &vocabulary) {
  const std::string_view text = vocabulary.text(token);
  State asText = text.empty() ? dead : state;
  for (char byte : text)
    asText = next(asText, static_cast<uint8_t>(byte));
  std::vector<Place> seeds;
  for (const Place &place : places(state))
    for (const Edge &edge : program->edges(place.state))
      if (edge.kind == Edge::Kind::Token &&
          edge.value == static_cast<uint32_t>(token))
        seeds.push_back({edge.target, place.frame});
  if (seeds.empty() || isExceeded)
    return asText;
  const State asToken = closure(std::move(seeds));
  if (asText == dead || isExceeded)
    return asToken;
  std::vector<Place> both(places(asText).begin(), places(asText).end());
  both.insert(both.end(), places(asToken).begin(), places(asToken).end());
  std::sort(both.begin(), both.end());
  both.erase(std::unique(both.begin(), both.end()), both.end());
  return intern(both, states[asText].accepts || states[asToken].accepts);
}

Status Automaton::accept(int32_t token, const TokenVocabulary &vocabulary) {
  work = 0;
  isExceeded = false;
  const bool isToken =
      token >= 0 && static_cast<size_t>(token) < vocabulary.size();
  const State after = isToken ? afterToken(current, token, vocabulary) : dead;
  if (isExceeded)
    return tooAmbiguous();
  if (after == dead)
    return Status(StatusCode::InvalidArgument,
                  "the constraint does not permit token " +
                      std::to_string(token) + " next",
                  "choose one of the allowed tokens");
  current = after;
  shrink();
  return Status::ok();
}

/// Forgets everything but the current state, if more is kept than permitted.
void Automaton::shrink() {
  constexpr size_t mapEntry = 48;
  const size_t kept = frames.size() * (sizeof(Frame) + mapEntry) +
                      placeList.size() * sizeof(Place) +
                      states.size() * (sizeof(StateData) + mapEntry) +
                      transitions.size() * sizeof(State);
  if (kept > std::max(mostKept, 2 * leastKept)) {
    *this = alone();
    leastKept = frames.size() * (sizeof(Frame) + mapEntry);
  }
}

Automaton Automaton::alone() const {
  Automaton fresh(*program, Nothing());
  std::vector<Place> moved;
  std::unordered_map<uint32_t, uint32_t> newFrames = {{0, 0}};
  std::vector<uint32_t> calls; // Frames that have no new number yet.
  for (Place place : places(current)) {
    uint32_t frame = place.frame;
    for (; newFrames.count(frame) == 0; frame = frames[frame].parent)
      calls.push_back(frame);
    uint32_t parent = newFrames[frame];
    for (; !calls.empty(); calls.pop_back()) {
      parent = fresh.frameOf(frames[calls.back()].state, parent);
      newFrames.emplace(calls.back(), parent);
    }
    place.frame = parent;
    moved.push_back(place);
  }
  fresh.current = fresh.intern(moved, states[current].accepts);
  fresh.work = 0;
  return fresh;
}

} // namespace llmir::constraint
