//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Translates JSON schemas: strings and numbers in SchemaScalars.cpp, objects
// and arrays in SchemaStructures.cpp, references and combinations in
// SchemaCombinations.cpp, the rest in SchemaReader.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONSTRAINT_SCHEMAREADER_H
#define LLMIR_LIB_CONSTRAINT_SCHEMAREADER_H

#include "llmir/Constraint/Sources.h"

#include <deque>
#include <map>
#include <optional>
#include <unordered_map>

namespace llmir::constraint {

class SchemaReader {
public:
  using Node = Grammar::Node;

  /// Parts of a schema, those of schemas that are combined counted again; and
  /// how many may be within each other.
  static constexpr size_t mostParts = 10000;
  static constexpr int mostDepth = 100;

  /// Both must outlive it.
  SchemaReader(Grammar &grammar, const OrderedJson &document,
               const JsonStyle &style);

  Expected<Node> read();

private:
  /// A schema and where it is, as a JSON pointer, for messages.
  struct Schema {
    const OrderedJson &json;
    std::string place;
    int depth; ///< Of translations within each other.

    /// Messages have the beginning of a place.
    Schema at(const OrderedJson &part, std::string_view key) const {
      return {part, (place + "/").substr(0, 400).append(key.substr(0, 200)),
              depth + 1};
    }
    const OrderedJson *find(const char *key) const {
      const auto found = json.find(key);
      return found == json.end() ? nullptr : &*found;
    }
  };

  Expected<Node> value(const Schema &schema);
  Status checkKeywords(const Schema &schema) const;

  // Schemas that refer to others.
  Expected<const OrderedJson *> resolve(const Schema &schema,
                                        const std::string &reference);
  const OrderedJson *part(const OrderedJson &value, const std::string &key);
  Expected<Node> reference(const Schema &schema);
  Expected<OrderedJson> withoutReference(const Schema &schema);
  Expected<OrderedJson> combine(const OrderedJson &first,
                                const OrderedJson &second,
                                const Schema &schema);
  Expected<const OrderedJson *> merged(const Schema &schema,
                                       const OrderedJson &other,
                                       const std::string &key);
  Expected<Node> alternatives(const Schema &schema, const char *key);
  Expected<OrderedJson> withDiscriminator(const Schema &schema) const;
  Status checkExclusive(const Schema &schema,
                        const std::vector<const OrderedJson *> &list);
  Expected<Node> allOf(const Schema &schema);
  Expected<Node> constants(const Schema &schema, const char *key);

  // Values by their types.
  Expected<std::vector<std::string>> typesOf(const Schema &schema) const;
  Expected<Node> ofType(const Schema &schema, const std::string &type);
  Expected<Node> string(const Schema &schema);
  Expected<Node> number(const Schema &schema, bool isInteger);
  Expected<Node> object(const Schema &schema);
  Expected<Node> array(const Schema &schema);

  // Objects.
  struct Property {
    std::string name;
    const OrderedJson *schema;
    bool isRequired;
  };
  Expected<std::vector<Property>> properties(const Schema &schema);
  Expected<Node> freeObject(const Schema &schema);
  Expected<std::optional<Node>>
  additionalMember(const Schema &schema, const std::vector<Property> &named);
  Expected<Node> keyOutside(const std::vector<Property> &named);
  Expected<Node> elements(const Schema &schema, const OrderedJson *first,
                          std::optional<Node> rest);

  Status checkNumberOfValues() const;
  /// Counts values of which schemas are made; fails if they are too many.
  Status countMade(const OrderedJson &schema);
  /// Keeps a schema that was made of others; equal ones once.
  const OrderedJson *keep(OrderedJson schema);
  /// The node of a schema that keep() returned.
  Expected<Node> kept(const OrderedJson *made, const Schema &schema);

  Node anyValue();
  Node anyStringCharacter();
  Node space();
  Node separator() { return grammar.sequence({grammar.text(","), space()}); }
  Node quoted(Node text) {
    return grammar.sequence({grammar.text("\""), text, grammar.text("\"")});
  }
  Node member(Node key, Node value) {
    return grammar.sequence({key, grammar.text(":"), space(), value});
  }
  /// Brackets around parts, of which there may be none if `mayBeEmpty`.
  Node bracketed(const char *open, Node parts, bool mayBeEmpty,
                 const char *close);

  Expected<uint32_t> count(const Schema &schema, const char *key,
                           uint32_t otherwise) const;
  Status refuse(StatusCode code, const Schema &schema, const std::string &key,
                const std::string &problem, const std::string &advice) const;
  Status unsupported(const Schema &schema, const std::string &key,
                     const std::string &advice) const {
    return refuse(StatusCode::Unsupported, schema, key, "is not supported",
                  advice);
  }
  Status malformed(const Schema &schema, const std::string &key,
                   const std::string &expected) const;

  Grammar &grammar;
  const OrderedJson &document;
  const JsonStyle style;
  const OrderedJson anything = OrderedJson::object();
  std::optional<Node> spaceNode, characterNode, anyNode;
  std::map<std::string, Grammar::Rule> references; ///< By pointer.
  std::deque<std::string> pending;                 ///< Pointers.
  /// The members of objects through which references go.
  std::unordered_map<const OrderedJson *,
                     std::unordered_map<std::string_view, const OrderedJson *>>
      members;
  std::deque<OrderedJson> made;                         ///< Schemas.
  std::map<std::string, const OrderedJson *> madeTexts; ///< By JSON text.
  std::map<const OrderedJson *, Grammar::Rule> madeRules;
  size_t parts = 0, madeValues = 0;
};

} // namespace llmir::constraint

#endif // LLMIR_LIB_CONSTRAINT_SCHEMAREADER_H
