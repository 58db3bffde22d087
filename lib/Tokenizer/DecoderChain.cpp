//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DecoderChain.h"
#include "Stages.h"

#include <algorithm>
#include <cstdint>

namespace llmir {

/// No known decoder exceeds a factor of 6.
static constexpr size_t maxDecoderGrowth = 64;

namespace {

/// The value of a token "<0xNN>", or -1.
int byteOfToken(std::string_view token) {
  if (token.size() != 6 || token.substr(0, 3) != "<0x" || token[5] != '>')
    return -1;
  auto digit = [](char c) {
    if (c >= '0' && c <= '9')
      return c - '0';
    if (c >= 'A' && c <= 'F')
      return c - 'A' + 10;
    if (c >= 'a' && c <= 'f')
      return c - 'a' + 10;
    return -1;
  };
  int high = digit(token[3]), low = digit(token[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/// The bytes that a token represents; the token's own bytes if it contains a
/// character outside the byte-level alphabet.
std::string byteLevelBytes(std::string_view token) {
  std::string bytes;
  for (std::string_view rest = token; !rest.empty();) {
    Utf8Char c = firstUtf8Char(rest);
    int byte = byteLevelByte(c.codePoint);
    if (byte < 0)
      return std::string(token);
    bytes += static_cast<char>(byte);
    rest.remove_prefix(c.bytes);
  }
  return bytes;
}

bool isOneCharacter(std::string_view text) {
  return !text.empty() && firstUtf8Char(text).bytes == text.size();
}

/// Like the reference implementation, which replaces in this order.
std::string cleanedUp(std::string_view token) {
  constexpr std::pair<const char *, const char *> rules[] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  std::string text(token);
  if (token.find(' ') == std::string_view::npos)
    return text;
  for (auto [pattern, content] : rules)
    text = replaceAll(text, pattern, content);
  return text;
}

Status unsupportedDecoder(const char *what) {
  return Status(StatusCode::Unsupported, std::string("decoder: ") + what,
                "use a tokenizer whose decoder is ByteLevel, Metaspace or "
                "Replace, ByteFallback, Fuse, Strip");
}

} // namespace

size_t decoderGrowthOf(const std::vector<DecoderStep> &steps) {
  size_t growth = 1;
  for (const DecoderStep &step : steps) {
    size_t times = 1;
    if (step.kind == DecoderStep::JoinWithSpaces ||
        step.kind == DecoderStep::WordPiece)
      times = 2; // A space before each token, even an empty one.
    else if (step.kind == DecoderStep::ByteLevel)
      times = 3; // One character, one broken byte, U+FFFD.
    else if (step.kind == DecoderStep::ReplaceString)
      times =
          std::max<size_t>(1, (step.content.size() + step.pattern.size() - 1) /
                                  step.pattern.size());
    growth = times > SIZE_MAX / growth ? SIZE_MAX : growth * times;
  }
  return growth;
}

/// Checks the growth of all steps together.
static Status checkGrowth(const std::vector<DecoderStep> &steps) {
  const size_t growth = decoderGrowthOf(steps);
  if (growth <= maxDecoderGrowth)
    return Status::ok();
  return Status(StatusCode::Unsupported,
                "decoder: its stages may make a text " +
                    std::to_string(growth) + " times as long; the limit is " +
                    std::to_string(maxDecoderGrowth),
                "use a tokenizer whose decoder does not multiply the text");
}

Status checkDecoders(const std::vector<DecoderStep> &steps) {
  bool isFused = false;
  for (const DecoderStep &step : steps) {
    switch (step.kind) {
    case DecoderStep::JoinWithSpaces:
      break;
    case DecoderStep::ByteLevel:
    case DecoderStep::Fuse:
      isFused = true;
      break;
    case DecoderStep::ByteFallback:
      if (isFused)
        return unsupportedDecoder("ByteFallback after Fuse or ByteLevel");
      break;
    case DecoderStep::ReplaceString:
      if (step.pattern.empty())
        return Status(StatusCode::InvalidFile,
                      "decoder Replace: the pattern is empty");
      if (isFused && !isOneCharacter(step.pattern))
        return unsupportedDecoder(
            "Replace of several characters after Fuse or ByteLevel");
      break;
    case DecoderStep::Strip:
      if (!isOneCharacter(step.pattern))
        return Status(StatusCode::InvalidFile,
                      "decoder Strip: the content must be one character");
      break;
    case DecoderStep::Metaspace:
      if (!isOneCharacter(step.pattern))
        return Status(StatusCode::InvalidFile,
                      "decoder Metaspace: the replacement must be one "
                      "character");
      if (isFused)
        return unsupportedDecoder("Metaspace after Fuse or ByteLevel");
      break;
    case DecoderStep::WordPiece:
    case DecoderStep::CleanUp:
    case DecoderStep::Collapse:
      if (isFused)
        return unsupportedDecoder("WordPiece or CTC after Fuse or ByteLevel");
      break;
    case DecoderStep::WordSuffix:
      if (step.pattern.empty())
        return Status(StatusCode::InvalidFile,
                      "decoder BPEDecoder: the suffix is empty");
      if (isFused)
        return unsupportedDecoder("BPEDecoder after Fuse or ByteLevel");
      break;
    case DecoderStep::DropEmpty:
      break;
    case DecoderStep::KindCount:
      return unsupportedDecoder("unknown stage");
    }
  }
  return checkGrowth(steps);
}

DecoderChain::DecoderChain(const std::vector<DecoderStep> &steps,
                           DecoderChainOptions options)
    : steps(steps), options(options), states(steps.size()) {
  bool isFused = false;
  for (size_t i = 0; i < steps.size(); ++i) {
    states[i].isFused = isFused;
    states[i].isFirst = !options.continuesText;
    states[i].toStrip = options.continuesText ? 0 : steps[i].start;
    isFused |= steps[i].kind == DecoderStep::Fuse ||
               steps[i].kind == DecoderStep::ByteLevel;
  }
}

void DecoderChain::run(size_t stage, std::string_view token, std::string &out) {
  if (stage == steps.size()) {
    out.append(token);
    return;
  }
  const DecoderStep &step = steps[stage];
  State &state = states[stage];
  switch (step.kind) {
  case DecoderStep::JoinWithSpaces: {
    bool needsSpace = !state.isFirst;
    state.isFirst = false;
    return run(stage + 1,
               needsSpace ? " " + std::string(token) : std::string(token), out);
  }
  case DecoderStep::ByteLevel: {
    if (options.keepsBytes)
      return run(stage + 1, byteLevelBytes(token), out);
    std::string text;
    state.repair.feed(byteLevelBytes(token), text);
    return text.empty() ? void() : run(stage + 1, text, out);
  }
  case DecoderStep::ByteFallback:
    return runByteFallback(stage, token, out);
  case DecoderStep::Fuse:
    return run(stage + 1, token, out);
  case DecoderStep::ReplaceString:
    return run(stage + 1, replaceAll(token, step.pattern, step.content), out);
  case DecoderStep::Strip:
    return runStrip(stage, token, out);
  case DecoderStep::Metaspace: {
    bool drops = state.isFirst && step.dropFirst;
    state.isFirst = false;
    return run(stage + 1, replaceAll(token, step.pattern, drops ? "" : " "),
               out);
  }
  case DecoderStep::WordPiece: {
    const bool isFirst = state.isFirst;
    state.isFirst = false;
    if (isFirst)
      return run(stage + 1, token, out);
    const std::string_view prefix = step.pattern;
    if (token.substr(0, prefix.size()) == prefix)
      return run(stage + 1, token.substr(prefix.size()), out);
    return run(stage + 1, " " + std::string(token), out);
  }
  case DecoderStep::CleanUp:
    return run(stage + 1, cleanedUp(token), out);
  case DecoderStep::WordSuffix: {
    // Only the token after it tells whether one is the last.
    std::string previous = std::move(state.previous);
    const bool isFirst = state.isFirst;
    state.previous = token;
    state.isFirst = false;
    if (!isFirst)
      run(stage + 1, replaceAll(previous, step.pattern, " "), out);
    return;
  }
  case DecoderStep::Collapse: {
    const bool repeats = !state.isFirst && state.previous == token;
    state.isFirst = false;
    state.previous = token;
    return repeats ? void() : run(stage + 1, token, out);
  }
  case DecoderStep::DropEmpty:
    return token.empty() ? void() : run(stage + 1, token, out);
  case DecoderStep::KindCount:
    return;
  }
}

void DecoderChain::runByteFallback(size_t stage, std::string_view token,
                                   std::string &out) {
  State &state = states[stage];
  int byte = byteOfToken(token);
  if (byte < 0) {
    endByteRow(stage, out);
    return run(stage + 1, token, out);
  }
  if (options.keepsBytes)
    return run(stage + 1, std::string(1, static_cast<char>(byte)), out);
  if (options.wholeByteRows) {
    state.row += static_cast<char>(byte);
    return;
  }
  std::string text;
  state.repair.feed(static_cast<uint8_t>(byte), text);
  if (!text.empty())
    run(stage + 1, text, out);
}

void DecoderChain::endByteRow(size_t stage, std::string &out) {
  State &state = states[stage];
  if (!options.wholeByteRows) {
    std::string text;
    state.repair.finish(text);
    return text.empty() ? void() : run(stage + 1, text, out);
  }
  if (state.row.empty())
    return;
  std::string row;
  row.swap(state.row);
  if (validUtf8Length(row) == row.size())
    return run(stage + 1, row, out);
  for (size_t i = 0; i < row.size(); ++i)
    run(stage + 1, replacementCharacter, out);
}

void DecoderChain::runStrip(size_t stage, std::string_view token,
                            std::string &out) {
  const DecoderStep &step = steps[stage];
  State &state = states[stage];
  std::string_view text = token, unit = step.pattern;
  if (!state.isFused)
    state.toStrip = step.start;
  while (state.toStrip > 0 && text.substr(0, unit.size()) == unit) {
    text.remove_prefix(unit.size());
    --state.toStrip;
  }
  if (!text.empty())
    state.toStrip = 0;
  if (step.stop == 0)
    return run(stage + 1, text, out);

  std::string held = std::move(state.heldBack);
  state.heldBack.clear();
  held += text;
  size_t kept = held.size();
  for (uint32_t i = 0; i < step.stop && kept >= unit.size() &&
                       held.compare(kept - unit.size(), unit.size(), unit) == 0;
       ++i)
    kept -= unit.size();
  // The end of a fused text is unknown before finish().
  if (state.isFused)
    state.heldBack = held.substr(kept);
  held.resize(kept);
  run(stage + 1, held, out);
}

void DecoderChain::finish(std::string &out) {
  for (size_t stage = 0; stage < steps.size(); ++stage) {
    std::string text;
    if (steps[stage].kind == DecoderStep::ByteFallback)
      endByteRow(stage, out);
    else if (steps[stage].kind == DecoderStep::ByteLevel)
      states[stage].repair.finish(text);
    else if (steps[stage].kind == DecoderStep::WordSuffix)
      text = replaceAll(states[stage].previous, steps[stage].pattern, "");
    if (!text.empty())
      run(stage + 1, text, out);
  }
}

} // namespace llmir
