//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parses what chat models answer, while it arrives: reasoning, content and
// calls of tools, each in the markup of the model's family.
//
//   Expected<ChatOutputFormat> format =
//       ChatOutputFormat::choose(templateSource, "auto", "auto");
//   ChatOutputParser parser(*format, prompt, ChatTools(tools));
//   ChatAnswer answer;
//   for (each piece of text)
//     for (const ChatDelta &delta : parser.feed(piece))
//       answer.append(delta);
//   for (const ChatDelta &delta : parser.finish())
//     answer.append(delta);
//
// How to decode. Many markers are special tokens, which decoding usually skips.
// Decode with StreamDecoderOptions::skipSpecialTokens = false and
// continuesText = true, but leave out the special tokens that are no markers,
// such as the end of a turn:
//
//   if (!tokenizer.isSpecial(id) || format.isMarker(tokenizer.tokenText(id)))
//     deltas = parser.feed(decoder.feed(id));
//
// A token that ends the generation need not be fed, even if it is a marker.
//
// The deltas, concatenated by kind and call, do not depend on how the text is
// split into pieces, not even within a character. Only what may be the
// beginning of a marker is held back, and values that are converted as a whole.
// What is not a well-formed call is returned as text; nothing is lost but
// markers and blank text between them.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CHATOUTPUT_CHATOUTPUT_H
#define LLMIR_CHATOUTPUT_CHATOUTPUT_H

#include "llmir/Support/Json.h"
#include "llmir/Support/Status.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmir {

namespace chatoutput {
struct ToolSyntax;
struct ReasoningSyntax;
class ToolSchemas;
class Machine;
} // namespace chatoutput

/// How a model writes calls whose arguments are JSON objects: the texts around
/// each call's name and arguments, and around all calls.
struct CallSpelling {
  std::string begin, beforeName, beforeArguments, afterArguments;
  std::string separator; ///< Between calls.
  std::string end;
  bool onlyOne = false; ///< Calls have numbers, or cannot follow each other.
};

/// The markers of an answer without calls; empty where there are none.
struct AnswerSpelling {
  std::string reasoningBegin, reasoningEnd;
  std::string contentBegin, contentEnd;
  bool isUnknown = false; ///< The answer has further markup.
};

/// The markup of a family: how its tool calls and its reasoning are written.
/// A small value; the default one parses nothing: everything is content.
class ChatOutputFormat {
public:
  ChatOutputFormat() = default;

  /// `toolCallParser` and `reasoningParser` have vLLM's names (see
  /// toolCallParsers()), or are "auto" (detected from the text of the chat
  /// template, which may be empty) or "none". InvalidArgument for other names.
  static Expected<ChatOutputFormat> choose(std::string_view chatTemplate,
                                           std::string_view toolCallParser,
                                           std::string_view reasoningParser);
  /// The names that choose() knows, besides "auto" and "none", in order.
  static std::vector<std::string_view> toolCallParsers();
  static std::vector<std::string_view> reasoningParsers();

  /// The name of the chosen parser, "none" if there is none.
  std::string_view toolCallParser() const;
  std::string_view reasoningParser() const;

  /// How calls are written; nullopt if there are none, or if their arguments
  /// are not JSON.
  std::optional<CallSpelling> callSpelling() const;
  AnswerSpelling answerSpelling() const;

  /// Whether a special token of this text must reach the parser: it is a marker
  /// or part of one.
  bool isMarker(std::string_view tokenText) const;

  /// An id for a call to which the model gave none, in the form that the
  /// family's chat template accepts in the next turn: "call_" and 16 digits, or
  /// 9 letters and digits for Mistral. `random` must differ between calls.
  std::string callId(uint64_t random) const;

private:
  friend class chatoutput::Machine;
  friend class ChatOutputParser;

  const chatoutput::ToolSyntax *tools = nullptr;
  const chatoutput::ReasoningSyntax *reasoning = nullptr;
  std::shared_ptr<const std::vector<std::string_view>> markers; ///< Of both.
  bool hasArgsMarker = false; ///< The template writes calls with [ARGS].
};

/// The tools of a request. Copies share them.
class ChatTools {
public:
  /// Calls are not looked for: their text is content.
  ChatTools() = default;
  /// `tools` is a list in OpenAI's form, whose schemas give the types of
  /// arguments that the markup leaves open; other values count as empty lists.
  explicit ChatTools(const Json &tools);
  explicit operator bool() const { return schemas != nullptr; }

private:
  friend class chatoutput::Machine;

  std::shared_ptr<const chatoutput::ToolSchemas> schemas;
};

/// A part of an answer.
struct ChatDelta {
  enum class Kind {
    Reasoning,     ///< `text` continues the reasoning.
    Content,       ///< `text` continues the content.
    CallStart,     ///< A call of the tool `name`; `id` may be empty.
    CallArguments, ///< `text` continues the JSON text of the arguments.
    CallEnd,       ///< The call is complete; its arguments are a JSON object.
    /// The call that was started turned out not to be well-formed, or the
    /// answer ended within it without having been cut off: it is void. `text`
    /// is all that the model wrote for it, and counts as content.
    CallWithdrawn,
  };

  Kind kind;
  std::string text;
  size_t index = 0; ///< Of a call: they are counted from 0 as they start.
  std::string name, id;
};

/// Deltas put together: a whole answer.
struct ChatAnswer {
  struct Call {
    size_t index = 0; ///< As in ChatDelta; withdrawn calls leave gaps.
    std::string name, id;
    std::string arguments;   ///< The text of a JSON object.
    bool isComplete = false; ///< Otherwise the answer was cut off within it.
  };

  std::string reasoning, content;
  std::vector<Call> calls;

  void append(const ChatDelta &delta);
};

/// The parser of one answer. Not thread-safe; movable.
class ChatOutputParser {
public:
  /// `prompt` is the text that the model continues: reasoning may have begun in
  /// it; only its end is read.
  explicit ChatOutputParser(const ChatOutputFormat &format,
                            std::string_view prompt = {},
                            const ChatTools &tools = {});
  ChatOutputParser(ChatOutputParser &&) noexcept;
  ChatOutputParser &operator=(ChatOutputParser &&) noexcept;
  ~ChatOutputParser();

  /// The deltas that `text` makes certain, in order, none of them empty. Each
  /// text consists of whole characters if the answer is UTF-8.
  std::vector<ChatDelta> feed(std::string_view text);
  /// Ends the answer and returns the rest. Nothing may be fed afterwards.
  /// `isCutOff`: by a limit of tokens; a call that has begun then stays,
  /// without its end, since clients may have seen it.
  std::vector<ChatDelta> finish(bool isCutOff = false);
  /// Whether what was fed last is reasoning.
  bool isReasoning() const;

private:
  std::unique_ptr<chatoutput::Machine> machine;
};

} // namespace llmir

#endif // LLMIR_CHATOUTPUT_CHATOUTPUT_H
