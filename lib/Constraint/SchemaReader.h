//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Translates JSON schemas: strings and numbers in SchemaScalars.cpp, objects
// and arrays in SchemaStructures.cpp, the rest in SchemaReader.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONSTRAINT_SCHEMAREADER_H
#define LLMIR_LIB_CONSTRAINT_SCHEMAREADER_H

#include "llmir/Constraint/Sources.h"

#include <deque>
#include <map>
#include <optional>

namespace llmir::constraint {

class SchemaReader {
public:
  using Node = Grammar::Node;

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

    Schema at(const OrderedJson &part, const std::string &key) const {
      return {part, place + "/" + key, depth + 1};
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
                                        const std::string &reference) const;
  Expected<Node> reference(const Schema &schema);
  Expected<OrderedJson> withoutReference(const Schema &schema);
  Expected<Node> merged(const Schema &schema, const OrderedJson &other,
                        const std::string &key);
  Expected<Node> alternatives(const Schema &schema, const char *key);
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

  /// Keeps a schema that was made of others; fails if they are too many.
  Expected<const OrderedJson *> keep(OrderedJson schema);

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
  std::deque<OrderedJson> made;                    ///< Schemas.
  size_t parts = 0, madeValues = 0;
};

} // namespace llmir::constraint

#endif // LLMIR_LIB_CONSTRAINT_SCHEMAREADER_H
