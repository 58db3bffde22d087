//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Server/ConstraintReader.h"

#include "AnswerGrammar.h"
#include "llmir/Constraint/Sources.h"
#include "llmir/Tokenizer/StreamDecoder.h"

#include <algorithm>

namespace llmir {

using Node = Grammar::Node;

std::shared_ptr<const TokenVocabulary>
vocabularyOf(const Tokenizer &tokenizer) {
  std::vector<std::string> texts(static_cast<size_t>(tokenizer.vocabSize()));
  for (size_t id = 0; id < texts.size(); ++id)
    if (const auto token = static_cast<int32_t>(id);
        tokenizer.hasToken(token) && !tokenizer.isSpecial(token))
      texts[id] = bytesOfToken(tokenizer, token);
  return std::make_shared<const TokenVocabulary>(std::move(texts));
}

std::shared_ptr<const TokenVocabulary>
LazyVocabulary::get(const Tokenizer &tokenizer) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!made)
    made = vocabularyOf(tokenizer);
  return made;
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

static constexpr std::string_view fields[] = {
    "response_format", "structured_outputs", "guided_json", "guided_regex",
    "guided_choice",   "guided_grammar",     "grammar",     "json_schema"};

Span<const std::string_view> constraintFields() {
  return {fields, std::size(fields)};
}

namespace {
/// Adds to a grammar what the fields of an object say.
class FieldReader {
public:
  FieldReader(Grammar &grammar, std::string where)
      : grammar(grammar), where(std::move(where)) {}

  /// The node of the answer; nullopt if no field constrains it.
  Expected<std::optional<Node>> read(const OrderedJson &request);

private:
  using Result = Expected<Node>;

  Status take(const std::string &field, Result node);
  Status readFormat(const OrderedJson &format);
  Status readStructured(const OrderedJson &value);
  Result json(const OrderedJson &value, bool hasSpace = true);
  Result regex(const OrderedJson &value);
  Result choice(const OrderedJson &value);
  Result gbnf(const OrderedJson &value);
  Status refuse(const std::string &field, const std::string &problem,
                const std::string &advice) const {
    return Status(StatusCode::InvalidArgument,
                  where + ": '" + field + "' " + problem, advice);
  }

  Grammar &grammar;
  const std::string where;
  std::string found; ///< The field of the node.
  std::optional<Node> node;
};
} // namespace

static const OrderedJson &anyObject() {
  static const OrderedJson schema = OrderedJson::parse("{\"type\":\"object\"}");
  return schema;
}

static Status expected(const OrderedJson &value, const std::string &what) {
  return Status(StatusCode::InvalidArgument,
                describeJson(Json(value)) + " is not " + what, "give " + what);
}

FieldReader::Result FieldReader::json(const OrderedJson &value, bool hasSpace) {
  if (!value.is_string())
    return addJsonSchema(grammar, value, {hasSpace});
  auto parsed =
      parseOrderedJson(value.get_ref<const std::string &>(), "the schema");
  if (!parsed)
    return parsed.takeStatus();
  return addJsonSchema(grammar, *parsed, {hasSpace});
}

FieldReader::Result FieldReader::regex(const OrderedJson &value) {
  if (!value.is_string())
    return expected(value, "a regular expression");
  return addRegex(grammar, value.get_ref<const std::string &>());
}

FieldReader::Result FieldReader::choice(const OrderedJson &value) {
  std::vector<Node> all;
  if (value.is_array())
    for (const OrderedJson &each : value)
      if (each.is_string() && !each.get_ref<const std::string &>().empty())
        all.push_back(grammar.text(each.get_ref<const std::string &>()));
  if (all.empty() || all.size() != value.size())
    return expected(value, "a list of texts that are not empty");
  return grammar.choice(all);
}

FieldReader::Result FieldReader::gbnf(const OrderedJson &value) {
  if (!value.is_string())
    return expected(value, "a grammar");
  return addGBNF(grammar, value.get_ref<const std::string &>());
}

Status FieldReader::take(const std::string &field, Result added) {
  if (!added)
    return added.takeStatus().withContext(where + ": '" + field + "'");
  if (node)
    return refuse(field, "stands beside '" + found + "'", "give one of them");
  node = *added;
  found = field;
  return Status::ok();
}

/// `response_format` of conversations, and `text.format` of /v1/responses.
Status FieldReader::readFormat(const OrderedJson &format) {
  const std::string field = "response_format";
  const OrderedJson type =
      format.is_object() ? format.value("type", OrderedJson()) : OrderedJson();
  if (type == "text")
    return Status::ok();
  if (type == "json_object")
    return take(field, json(format.contains("schema") ? format["schema"]
                                                      : anyObject()));
  if (type != "json_schema")
    return refuse(field, "is " + describeJson(Json(format)),
                  "give {\"type\": \"text\"}, \"json_object\" or "
                  "\"json_schema\"");
  const OrderedJson &holder =
      format.contains("json_schema") ? format["json_schema"] : format;
  if (!holder.is_object() || !holder.contains("schema"))
    return refuse(field, "has no schema",
                  "give {\"type\": \"json_schema\", \"json_schema\": "
                  "{\"name\": …, \"schema\": …}}");
  for (const auto &[key, value] : holder.items())
    if (key != "schema" && key != "name" && key != "description" &&
        key != "strict" && key != "type")
      return refuse(field, "has '" + printable(key) + "', which is not known",
                    "remove it");
  return take(field, json(holder["schema"]));
}

/// vLLM's `structured_outputs`.
Status FieldReader::readStructured(const OrderedJson &value) {
  const std::string name = "structured_outputs";
  if (!value.is_object())
    return refuse(name, "is " + describeJson(Json(value)), "give an object");
  const bool hasSpace =
      value.value("disable_any_whitespace", OrderedJson(false)) != true;
  for (const auto &[key, part] : value.items()) {
    const std::string field = name + "." + key;
    if (part.is_null() || key == "disable_any_whitespace")
      continue;
    Status taken;
    if (key == "json")
      taken = take(field, json(part, hasSpace));
    else if (key == "regex")
      taken = take(field, regex(part));
    else if (key == "choice")
      taken = take(field, choice(part));
    else if (key == "grammar")
      taken = take(field, gbnf(part));
    else if (key == "json_object" && part.is_boolean())
      taken = part == true ? take(field, json(anyObject(), hasSpace))
                           : Status::ok();
    else
      taken = refuse(name + "." + printable(key), "is not supported",
                     "give json, regex, choice, grammar or json_object");
    LLMIR_RETURN_IF_ERROR(taken);
  }
  return node ? Status::ok()
              : refuse(name, "says nothing",
                       "give json, regex, choice, grammar or json_object");
}

Expected<std::optional<Node>> FieldReader::read(const OrderedJson &request) {
  for (const std::string_view key : fields) {
    const std::string field(key);
    const auto value = request.find(field);
    if (value == request.end() || value->is_null())
      continue;
    Status taken;
    if (key == "response_format")
      taken = readFormat(*value);
    else if (key == "structured_outputs")
      taken = readStructured(*value);
    else if (key == "guided_regex")
      taken = take(field, regex(*value));
    else if (key == "guided_choice")
      taken = take(field, choice(*value));
    else if (key == "guided_grammar" || key == "grammar")
      taken = take(field, gbnf(*value));
    else
      taken = take(field, json(*value));
    LLMIR_RETURN_IF_ERROR(taken);
  }
  return node;
}

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

/// `field` is the one to which messages refer.
static Expected<std::shared_ptr<const Constraint>>
finish(const Grammar &grammar, const OrderedJson &request,
       const std::string &where, const PromptModel &model) {
  auto made =
      model.constraints->get(grammar, model.vocabulary->get(*model.tokenizer));
  if (made)
    return made;
  std::string field = "tool_choice";
  for (const std::string_view key : fields)
    if (request.contains(std::string(key)) &&
        !request[std::string(key)].is_null())
      field = key;
  return made.takeStatus().withContext(where + ": '" + field + "'");
}

static Status needsTokenizer(const std::string &where) {
  return Status(StatusCode::InvalidArgument,
                where + ": the model has no tokenizer, so that the form of "
                        "its answers cannot be constrained",
                "use allowed_token_ids");
}

Expected<std::shared_ptr<const Constraint>>
readConstraint(const OrderedJson &request, const std::string &where,
               const PromptModel &model) {
  Grammar grammar;
  auto content = FieldReader(grammar, where).read(request);
  if (!content)
    return content.takeStatus();
  if (!*content)
    return std::shared_ptr<const Constraint>();
  if (!model.tokenizer)
    return needsTokenizer(where);
  grammar.define(grammar.root(), **content);
  return finish(grammar, request, where, model);
}

Expected<std::shared_ptr<const Constraint>>
readConversationConstraint(const OrderedJson &request, const std::string &where,
                           const PromptModel &model,
                           const ConversationForm &conversation) {
  Grammar grammar;
  auto content = FieldReader(grammar, where).read(request);
  if (!content)
    return content.takeStatus();
  if (!*content && !conversation.forced)
    return std::shared_ptr<const Constraint>();
  if (!model.tokenizer)
    return needsTokenizer(where);
  server::AnswerGrammar answer(grammar, *model.tokenizer, conversation);
  std::vector<Node> bodies;
  if (!conversation.tools.is_null()) {
    Expected<Node> calls = answer.calls();
    if (!calls)
      return calls.takeStatus().withContext(where);
    bodies.push_back(*calls);
  }
  if (!conversation.forced)
    bodies.push_back(answer.content(**content));
  const std::string_view begin = answer.reasoningBegin();
  const bool mayReason =
      !begin.empty() && model.chat && model.chat->mentions(begin);
  Expected<Node> whole = answer.whole(grammar.choice(bodies), mayReason);
  if (!whole)
    return whole.takeStatus().withContext(where);
  grammar.define(grammar.root(), *whole);
  return finish(grammar, request, where, model);
}

} // namespace llmir
