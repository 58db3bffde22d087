//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "ProgramChecks.h"
#include "Utf8Ranges.h"

#include <algorithm>
#include <unordered_map>

namespace llmir::constraint {

static constexpr size_t mostStates = size_t(1) << 15, mostEdges = size_t(1)
                                                                  << 17;

namespace {
/// A list of texts that share their beginnings.
using TextSpan = Span<const std::string_view>;
} // namespace

/// Emits nodes between two states: edges leave the first one and enter the
/// second one, never the other way round, so that both may be shared.
class ProgramBuilder {
public:
  explicit ProgramBuilder(const Grammar &grammar) : grammar(grammar) {}

  Expected<Program> build();

private:
  using Node = Grammar::Node;
  using Kind = Grammar::Kind;

  struct Body {
    uint32_t start, end;
  };

  uint32_t newState();
  void addEdge(uint32_t from, Edge edge);
  void addBytes(uint32_t from, uint8_t first, uint8_t last, uint32_t to) {
    addEdge(from, {Edge::Kind::Bytes, first, last, to, 0});
  }
  void skip(uint32_t from, uint32_t to) {
    addEdge(from, {Edge::Kind::Nothing, 0, 0, to, 0});
  }
  void call(uint32_t from, uint32_t start, uint32_t to) {
    addEdge(from, {Edge::Kind::Call, 0, 0, to, start});
  }
  void countUses();
  void emit(Node node, uint32_t from, uint32_t to);
  void emitBody(Node node, uint32_t from, uint32_t to);
  void emitText(std::string_view bytes, uint32_t from, uint32_t to);
  void emitClass(Node node, uint32_t from, uint32_t to);
  void emitSequence(const Grammar::NodeData &data, uint32_t from, uint32_t to);
  void emitChoice(const Grammar::NodeData &data, uint32_t from, uint32_t to);
  void emitTexts(TextSpan texts, size_t depth, uint32_t from, uint32_t to);
  void emitRepeat(const Grammar::NodeData &data, uint32_t from, uint32_t to);
  void emitUntil(std::string_view bytes, uint32_t from, uint32_t to);
  bool isSmall(Node node) const;
  uint32_t callable(Node node);
  std::string nameOfRule(const std::vector<uint32_t> &starts) const;
  Program finished();

  const Grammar &grammar;
  std::vector<char> ends;
  struct Added {
    uint32_t from;
    Edge edge;
  };
  std::vector<Added> added;
  std::vector<Body> ruleBodies;
  std::vector<uint8_t> uses; ///< By node: 0, 1, or 2 for more.
  /// Nodes that are called like rules, with the starts of their automata; of
  /// classes, those of their longer characters.
  std::unordered_map<Node, uint32_t> automata, calledNodes;
  std::vector<std::pair<Node, Body>> pending;
  bool isTooLarge = false;
};

uint32_t ProgramBuilder::newState() {
  if (ends.size() >= mostStates) {
    isTooLarge = true;
    return 0;
  }
  ends.push_back(0);
  return static_cast<uint32_t>(ends.size() - 1);
}

void ProgramBuilder::addEdge(uint32_t from, Edge edge) {
  if (added.size() >= mostEdges)
    isTooLarge = true;
  else
    added.push_back({from, edge});
}

void ProgramBuilder::emitText(std::string_view bytes, uint32_t from,
                              uint32_t to) {
  for (size_t i = 0; i < bytes.size() && !isTooLarge; ++i) {
    const uint32_t next = i + 1 == bytes.size() ? to : newState();
    const auto byte = static_cast<uint8_t>(bytes[i]);
    addBytes(from, byte, byte, next);
    from = next;
  }
}

void ProgramBuilder::emitClass(Node node, uint32_t from, uint32_t to) {
  const Grammar::NodeData &data = grammar.node(node);
  std::vector<ByteSequence> sequences;
  for (uint32_t i = 0; i < data.count; ++i)
    addUtf8(grammar.ranges(data)[i], sequences);
  size_t longer = 0;
  for (const ByteSequence &sequence : sequences)
    longer += sequence.size() > 1;
  // Longer characters are in an automaton of their own, which many states call.
  uint32_t start = from, end = to;
  const bool calls = longer > 1;
  if (calls) {
    auto [found, isNew] = calledNodes.try_emplace(node, 0);
    if (isNew) {
      start = found->second = newState();
      end = newState();
      ends[end] = 1;
    }
    call(from, found->second, to);
    if (!isNew)
      longer = 0;
  }
  for (const ByteSequence &sequence : sequences) {
    if (sequence.size() == 1) {
      addBytes(from, sequence[0].first, sequence[0].last, to);
      continue;
    }
    if (longer == 0)
      continue;
    uint32_t at = start;
    for (size_t i = 0; i < sequence.size() && !isTooLarge; ++i) {
      const uint32_t next = i + 1 == sequence.size() ? end : newState();
      addBytes(at, sequence[i].first, sequence[i].last, next);
      at = next;
    }
  }
}

void ProgramBuilder::emitSequence(const Grammar::NodeData &data, uint32_t from,
                                  uint32_t to) {
  if (data.count == 0)
    return skip(from, to);
  for (uint32_t i = 0; i < data.count && !isTooLarge; ++i) {
    const uint32_t next = i + 1 == data.count ? to : newState();
    emit(grammar.parts(data)[i], from, next);
    from = next;
  }
}

void ProgramBuilder::emitChoice(const Grammar::NodeData &data, uint32_t from,
                                uint32_t to) {
  std::vector<std::string_view> texts;
  for (uint32_t i = 0; i < data.count && !isTooLarge; ++i) {
    const Node part = grammar.parts(data)[i];
    const Grammar::NodeData &partData = grammar.node(part);
    if (partData.kind == Kind::Text)
      texts.push_back(grammar.bytes(partData));
    else
      emit(part, from, to);
  }
  std::sort(texts.begin(), texts.end());
  emitTexts(texts, 0, from, to);
}

/// Sorted texts whose first `depth` bytes are the same.
void ProgramBuilder::emitTexts(TextSpan texts, size_t depth, uint32_t from,
                               uint32_t to) {
  // Goes on without recursion while there is one way.
  while (!texts.empty() && !isTooLarge) {
    while (!texts.empty() && texts[0].size() == depth) {
      skip(from, to);
      texts = texts.subspan(1, texts.size() - 1);
    }
    if (texts.empty())
      return;
    if (texts.size() == 1)
      return emitText(texts[0].substr(depth), from, to);
    size_t first = 0;
    const char last = texts[texts.size() - 1][depth];
    while (texts[first][depth] != last) {
      const char byte = texts[first][depth];
      size_t end = first;
      while (texts[end][depth] == byte)
        ++end;
      const uint32_t next = newState();
      if (isTooLarge)
        return;
      addBytes(from, static_cast<uint8_t>(byte), static_cast<uint8_t>(byte),
               next);
      emitTexts(texts.subspan(first, end - first), depth + 1, next, to);
      first = end;
    }
    const uint32_t next = newState();
    addBytes(from, static_cast<uint8_t>(last), static_cast<uint8_t>(last),
             next);
    texts = texts.subspan(first, texts.size() - first);
    from = next;
    ++depth;
  }
}

/// Whether a node takes about as much as a call.
bool ProgramBuilder::isSmall(Node node) const {
  const Grammar::NodeData &data = grammar.node(node);
  switch (data.kind) {
  case Kind::Text:
    return data.count == 1;
  case Kind::Class:
    return data.count <= 2;
  case Kind::Reference:
  case Kind::Empty:
    return true;
  default:
    return false;
  }
}

/// The start of an automaton that matches the node, to be called.
uint32_t ProgramBuilder::callable(Node node) {
  const Grammar::NodeData &data = grammar.node(node);
  if (data.kind == Kind::Reference)
    return ruleBodies[*grammar.parts(data)].start;
  const auto [found, isNew] = automata.try_emplace(node, 0);
  if (!isNew)
    return found->second;
  const uint32_t start = found->second = newState(), end = newState();
  if (isTooLarge)
    return 0;
  ends[end] = 1;
  pending.push_back({node, {start, end}});
  return start;
}

void ProgramBuilder::emitRepeat(const Grammar::NodeData &data, uint32_t from,
                                uint32_t to) {
  const Node part = *grammar.parts(data);
  const bool isUnlimited = data.most == Grammar::noLimit;
  const uint32_t copies = isUnlimited ? data.least + 1 : data.most;
  // Copies of calls, so that repetitions within each other add up instead of
  // multiplying.
  const bool calls = copies > 1 && !isSmall(part);
  const uint32_t start = calls ? callable(part) : 0;
  auto emitPart = [&](uint32_t first, uint32_t last) {
    if (calls)
      call(first, start, last);
    else
      emit(part, first, last);
  };
  for (uint32_t i = 0; i < data.least && !isTooLarge; ++i) {
    const bool isLast = !isUnlimited && i + 1 == data.most;
    const uint32_t next = isLast ? to : newState();
    emitPart(from, next);
    from = next;
  }
  if (isUnlimited) {
    const uint32_t loop = newState();
    skip(from, loop);
    emitPart(loop, loop);
    return skip(loop, to);
  }
  for (uint32_t i = data.least; i < data.most && !isTooLarge; ++i) {
    skip(from, to);
    const uint32_t next = i + 1 == data.most ? to : newState();
    emitPart(from, next);
    from = next;
  }
  if (data.most == 0)
    skip(from, to);
}

/// Knuth, Morris and Pratt's automaton: after each byte, how much of the text
/// has just been read.
void ProgramBuilder::emitUntil(std::string_view bytes, uint32_t from,
                               uint32_t to) {
  std::vector<uint32_t> states;
  for (size_t i = 0; i < bytes.size(); ++i)
    states.push_back(newState());
  states.push_back(to);
  if (isTooLarge)
    return;
  skip(from, states[0]);
  for (size_t read = 0; read < bytes.size(); ++read)
    for (int byte = 0; byte < 256; ++byte) {
      const std::string text =
          std::string(bytes.substr(0, read)) + static_cast<char>(byte);
      size_t next = text.size();
      while (bytes.substr(0, next) !=
             std::string_view(text).substr(text.size() - next))
        --next;
      int last = byte; // Bytes that lead to the beginning are many.
      if (next == 0)
        while (last + 1 < 256 &&
               bytes.find(static_cast<char>(last + 1)) == std::string::npos)
          ++last;
      addBytes(states[read], static_cast<uint8_t>(byte),
               static_cast<uint8_t>(last), states[next]);
      byte = last;
    }
}

void ProgramBuilder::countUses() {
  const auto use = [&](Node node) {
    uses[node] = static_cast<uint8_t>(std::min(uses[node] + 1, 2));
  };
  uses.assign(grammar.numNodes(), 0);
  for (const Grammar::RuleData &rule : grammar.rules())
    use(rule.body);
  for (Node node = 0; node < grammar.numNodes(); ++node) {
    const Grammar::NodeData &data = grammar.node(node);
    if (data.kind == Kind::Sequence || data.kind == Kind::Choice ||
        data.kind == Kind::Repeat)
      for (uint32_t i = 0; i < data.count; ++i)
        use(grammar.parts(data)[i]);
  }
}

/// Nodes that are used several times are called, so that uses within each other
/// do not multiply.
void ProgramBuilder::emit(Node node, uint32_t from, uint32_t to) {
  const Kind kind = grammar.node(node).kind;
  const bool hasParts = kind == Kind::Sequence || kind == Kind::Choice ||
                        kind == Kind::Repeat || kind == Kind::Until;
  if (hasParts && uses[node] > 1)
    return call(from, callable(node), to);
  emitBody(node, from, to);
}

void ProgramBuilder::emitBody(Node node, uint32_t from, uint32_t to) {
  if (isTooLarge)
    return;
  const Grammar::NodeData &data = grammar.node(node);
  switch (data.kind) {
  case Kind::Empty:
    return skip(from, to);
  case Kind::Text:
    return emitText(grammar.bytes(data), from, to);
  case Kind::Class:
    return emitClass(node, from, to);
  case Kind::Token:
    for (uint32_t i = 0; i < data.count; ++i)
      addEdge(from, {Edge::Kind::Token, 0, 0, to, grammar.parts(data)[i]});
    return;
  case Kind::Sequence:
    return emitSequence(data, from, to);
  case Kind::Choice:
    return emitChoice(data, from, to);
  case Kind::Repeat:
    return emitRepeat(data, from, to);
  case Kind::Reference:
    return call(from, ruleBodies[*grammar.parts(data)].start, to);
  case Kind::Until:
    return emitUntil(grammar.bytes(data), from, to);
  }
}

/// Orders the edges by their states.
Program ProgramBuilder::finished() {
  Program program;
  program.startState = ruleBodies[0].start;
  program.firstEdge.assign(ends.size() + 1, 0);
  for (const Added &each : added)
    ++program.firstEdge[each.from + 1];
  for (size_t i = 0; i < ends.size(); ++i)
    program.firstEdge[i + 1] += program.firstEdge[i];
  std::vector<uint32_t> next = program.firstEdge;
  program.edgeList.resize(added.size());
  for (const Added &each : added)
    program.edgeList[next[each.from]++] = each.edge;
  program.ends = std::move(ends);
  return program;
}

/// The first rule that begins at one of the states.
std::string
ProgramBuilder::nameOfRule(const std::vector<uint32_t> &starts) const {
  for (size_t i = 0; i < ruleBodies.size(); ++i)
    if (std::find(starts.begin(), starts.end(), ruleBodies[i].start) !=
        starts.end())
      return grammar.rules()[i].name;
  return grammar.rules()[grammar.root()].name;
}

Expected<Program> ProgramBuilder::build() {
  LLMIR_RETURN_IF_ERROR(grammar.checkSize());
  const auto &rules = grammar.rules();
  countUses();
  for (const Grammar::RuleData &rule : rules) {
    if (!rule.isDefined)
      return Status(StatusCode::InvalidArgument,
                    "the rule '" + rule.name + "' is not defined",
                    "define it, or remove what refers to it");
    const uint32_t start = newState(), end = newState();
    if (isTooLarge)
      break;
    ends[end] = 1;
    ruleBodies.push_back({start, end});
  }
  for (size_t i = 0; i < rules.size() && !isTooLarge; ++i)
    emit(rules[i].body, ruleBodies[i].start, ruleBodies[i].end);
  while (!pending.empty() && !isTooLarge) {
    const auto [node, body] = pending.back();
    pending.pop_back();
    emitBody(node, body.start, body.end);
  }
  if (isTooLarge)
    return Status(StatusCode::OutOfRange,
                  "the constraint needs more than " +
                      std::to_string(mostStates) +
                      " states; long texts, lists and repetitions count",
                  "simplify it, or use smaller limits of lengths");
  Program program = finished();
  const MatchingStates matching = findMatching(program);
  const std::vector<char> &useful = matching.useful;
  if (!useful[program.start()])
    return Status(StatusCode::InvalidArgument,
                  "no text of finite length matches the constraint",
                  "give it a way to end");
  if (const auto starts = findLeftRecursion(program, matching.empty);
      !starts.empty())
    return Status(StatusCode::InvalidArgument,
                  "the rule '" + nameOfRule(starts) +
                      "' refers to itself before it reads anything",
                  "put something before the reference");
  // Edges to where nothing matches are left out.
  added.erase(std::remove_if(added.begin(), added.end(),
                             [&](const Added &each) {
                               return !useful[each.edge.target] ||
                                      (each.edge.kind == Edge::Kind::Call &&
                                       !useful[each.edge.value]);
                             }),
              added.end());
  ends = std::move(program.ends);
  program = finished();
  program.computeClasses();
  return program;
}

Expected<Program> Program::compile(const Grammar &grammar) {
  return ProgramBuilder(grammar).build();
}

/// Bytes are told apart only where a range begins or ends.
void Program::computeClasses() {
  std::array<bool, 257> begins{};
  begins[0] = true;
  for (const Edge &edge : edgeList)
    if (edge.kind == Edge::Kind::Bytes)
      begins[edge.first] = begins[edge.last + 1u] = true;
  classCount = 0;
  for (size_t byte = 0; byte < 256; ++byte) {
    if (begins[byte])
      examples[classCount++] = static_cast<uint8_t>(byte);
    classes[byte] = static_cast<uint8_t>(classCount - 1);
  }
}

} // namespace llmir::constraint
