//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/MLLMText/MLIRForms.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace {

/// Checks text against the grammar of MLIRForms.h. Every function returns
/// false, with `why` set, on failure.
class FormReader {
public:
  FormReader(StringRef text, int mostDepth)
      : rest(text), mostDepth(mostDepth), depthLeft(mostDepth) {}

  std::string read() {
    if (attribute() && !atEnd())
      refuse();
    return why;
  }

  /// The text of a module.
  std::string readModule() {
    StringRef all = rest;
    while (!atEnd())
      if (!token()) {
        size_t line = all.drop_back(rest.size()).count('\n') + 1;
        return "line " + std::to_string(line) + ": " + why;
      }
    return {};
  }

private:
  // Characters and tokens.
  void skipBlanks() { rest = rest.ltrim(" \t\n\r"); }
  bool atEnd() {
    skipBlanks();
    return rest.empty();
  }
  bool sees(StringRef token) {
    skipBlanks();
    return rest.starts_with(token);
  }
  bool consume(StringRef token) {
    skipBlanks();
    return rest.consume_front(token);
  }
  bool expect(StringRef token) { return consume(token) || refuse(); }
  bool fail(const Twine &problem) {
    if (why.empty())
      why = problem.str();
    return false;
  }
  /// Reports that the rest does not start with a valid form.
  bool refuse() {
    if (atEnd())
      return fail("the text is not complete");
    StringRef line = rest.split('\n').first;
    return fail("MLIR's text is limited to numbers, texts, symbols, types, "
                "lists, array<…>, dense<…>, affine_map<…>, locations and the "
                "attributes of this program's dialects; '" +
                line.take_front(40) + (line.size() > 40 ? "…" : "") +
                "' begins none of these");
  }
  StringRef word() {
    skipBlanks();
    if (rest.empty() || !(isAlpha(rest[0]) || rest[0] == '_'))
      return {};
    StringRef found = rest.take_while(
        [](char c) { return isAlnum(c) || c == '_' || c == '$' || c == '.'; });
    rest = rest.drop_front(found.size());
    return found;
  }

  // Terminals.
  bool comment();
  bool text();
  bool number();
  bool integer();
  bool symbol();

  // The grammar.
  bool attribute();
  bool wordAttribute();
  bool type();
  bool functionType();
  bool shapedType();
  bool array();
  bool dense();
  bool elements();
  bool strided();
  bool affineMap();
  bool affineNumber(bool isDivisor);
  bool affineExpression();
  bool dialectForm();
  bool dialectBody(char close);
  bool location();
  bool dictionary();
  bool token();
  bool wordToken();
  /// Comma-separated items up to `close`.
  bool list(StringRef close, function_ref<bool()> item);

  /// Runs a function one nesting level deeper.
  bool nested(function_ref<bool()> inner) {
    if (--depthLeft < 0)
      return fail("nests more than " + Twine(mostDepth) + " levels deep");
    scope_exit leave([&] { ++depthLeft; });
    return inner();
  }

  StringRef rest;
  const int mostDepth;
  int depthLeft;
  std::string why;
};

} // namespace

static bool isScalarName(StringRef name) {
  static constexpr StringLiteral others[] = {
      "index",         "none",      "f16",        "bf16",     "f32",
      "f64",           "f80",       "f128",       "tf32",     "f8E5M2",
      "f8E4M3",        "f8E4M3FN",  "f8E5M2FNUZ", "f8E3M4",   "f8E4M3FNUZ",
      "f8E4M3B11FNUZ", "f8E8M0FNU", "f6E2M3FN",   "f6E3M2FN", "f4E2M1FN"};
  if (is_contained(others, name))
    return true;
  if (!name.consume_front("si") && !name.consume_front("ui") &&
      !name.consume_front("i"))
    return false;
  return !name.empty() && name.size() <= 3 && all_of(name, isDigit);
}

bool FormReader::list(StringRef close, function_ref<bool()> item) {
  if (consume(close))
    return true;
  while (item()) {
    if (consume(close))
      return true;
    if (!expect(","))
      return false;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Terminals
//===----------------------------------------------------------------------===//

/// The rest starts with '/'.
bool FormReader::comment() {
  if (!rest.starts_with("//"))
    return refuse();
  rest = rest.drop_while([](char c) { return c != '\n'; });
  return true;
}

bool FormReader::text() {
  if (!consume("\""))
    return refuse();
  for (size_t i = 0; i < rest.size() && rest[i] != '\n'; ++i) {
    if (rest[i] == '\\') {
      ++i;
    } else if (rest[i] == '"') {
      rest = rest.drop_front(i + 1);
      return true;
    }
  }
  return fail("a text in MLIR's text does not end");
}

/// The longest match: "0x7F", "-1.5e+30".
bool FormReader::number() {
  skipBlanks();
  StringRef start = rest;
  rest.consume_front("-");
  if (rest.empty() || !isDigit(rest[0]))
    return rest = start, refuse();
  if (rest.consume_front("0x")) {
    rest = rest.drop_while(isHexDigit);
  } else {
    rest = rest.drop_while(isDigit);
    if (rest.consume_front("."))
      rest = rest.drop_while(isDigit);
    StringRef exponent = rest;
    if (exponent.consume_front("e") || exponent.consume_front("E")) {
      if (!exponent.consume_front("+"))
        exponent.consume_front("-");
      if (!exponent.empty() && isDigit(exponent[0]))
        rest = exponent.drop_while(isDigit);
    }
  }
  return start.size() - rest.size() <= 64 ||
         fail("a number has more than 64 characters");
}

/// Digits, or `?`.
bool FormReader::integer() {
  if (consume("?"))
    return true;
  consume("-");
  StringRef digits = rest.take_while(isDigit);
  if (digits.empty() || digits.size() > 64)
    return refuse();
  rest = rest.drop_front(digits.size());
  return true;
}

/// "@a::@b"
bool FormReader::symbol() {
  do {
    if (!consume("@"))
      return refuse();
    if (rest.starts_with("\"\""))
      return fail("a symbol has no name");
    if (rest.starts_with("\"")) {
      if (!text())
        return false;
    } else if (word().empty()) {
      return refuse();
    }
  } while (consume("::"));
  return true;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

bool FormReader::attribute() {
  return nested([&] {
    skipBlanks();
    char first = rest.empty() ? '\0' : rest[0];
    switch (first) {
    case '#':
      return dialectForm();
    case '"':
      return text() && (!consume(":") || type());
    case '@':
      return symbol();
    case '[':
      rest = rest.drop_front();
      return list("]", [&] { return attribute(); });
    case '{':
      return dictionary();
    default:
      if (first == '-' || isDigit(first))
        return number() && (!consume(":") || type());
      return wordAttribute();
    }
  });
}

bool FormReader::wordAttribute() {
  StringRef start = rest, name = word();
  if (name == "true" || name == "false" || name == "unit")
    return true;
  if (name == "array" && consume("<"))
    return array();
  if (name == "dense" && consume("<"))
    return dense();
  if (name == "strided" && consume("<"))
    return strided();
  if (name == "affine_map" && consume("<"))
    return affineMap();
  if (name == "loc" && consume("("))
    return location() && expect(")");
  rest = start;
  return type();
}

bool FormReader::dictionary() {
  return expect("{") && list("}", [&] {
           bool named = sees("\"") ? text() : !word().empty() || refuse();
           return named && (!consume("=") || attribute());
         });
}

/// "i64: 1, 2>". MLIR's parser queries the width of any type, which some do not
/// have.
bool FormReader::array() {
  static constexpr StringLiteral types[] = {"i1",  "i8",  "i16", "i32",
                                            "i64", "f32", "f64"};
  StringRef name = word();
  if (!is_contained(types, name))
    return fail("array<…> holds numbers of type i1, i8, i16, i32, i64, f32 or "
                "f64, not '" +
                name.take_front(40) + "'");
  if (consume(">"))
    return true;
  return expect(":") && list(">", [&] {
           return consume("true") || consume("false") || number();
         });
}

/// "[1, 2]> : tensor<2xi8>"
bool FormReader::dense() {
  if (!consume(">") && !(elements() && expect(">")))
    return false;
  return expect(":") && type();
}

bool FormReader::elements() {
  return nested([&] {
    if (consume("["))
      return list("]", [&] { return elements(); });
    if (consume("(")) // A complex number.
      return number() && expect(",") && number() && expect(")");
    if (sees("\"")) // All numbers, in hexadecimal.
      return text();
    return consume("true") || consume("false") || number();
  });
}

/// "[1, ?], offset: 4>"
bool FormReader::strided() {
  return expect("[") && list("]", [&] { return integer(); }) &&
         (!consume(",") || (expect("offset") && expect(":") && integer())) &&
         expect(">");
}

/// "(d0, d1)[s0] -> (d0 floordiv 2, s0)>". MLIR's parser folds constants, and
/// nests sums as deep as they are long.
bool FormReader::affineMap() {
  StringRef start = rest;
  auto name = [&] { return !word().empty() || refuse(); };
  return expect("(") && list(")", name) && (!consume("[") || list("]", name)) &&
         expect("->") && expect("(") &&
         list(")", [&] { return affineExpression(); }) && expect(">") &&
         (start.size() - rest.size() <= 1024 ||
          fail("an affine map has more than 1024 characters"));
}

/// A literal of an affine map; a divisor is not 0.
bool FormReader::affineNumber(bool isDivisor) {
  skipBlanks();
  StringRef digits = rest.take_while(isDigit);
  if (digits.empty() || digits.size() > 12 ||
      (isDivisor && digits.ltrim('0').empty()))
    return refuse();
  rest = rest.drop_front(digits.size());
  return true;
}

bool FormReader::affineExpression() {
  return nested([&] {
    do {
      consume("-");
      skipBlanks();
      if (consume("(")) {
        if (!affineExpression() || !expect(")"))
          return false;
      } else if (!rest.empty() && isDigit(rest[0])) {
        if (!affineNumber(/*isDivisor=*/false))
          return false;
      } else if (word().empty()) {
        return refuse();
      }
      while (consume("mod ") || consume("floordiv ") || consume("ceildiv "))
        if (!affineNumber(/*isDivisor=*/true))
          return false;
    } while (consume("+") || sees("-") || consume("*"));
    return true;
  });
}

bool FormReader::location() {
  return nested([&] {
    if (sees("\"")) {
      if (!text())
        return false;
      if (consume("(")) // A name and its location.
        return location() && expect(")");
      if (!consume(":"))
        return true;
      if (!integer() || !expect(":") || !integer())
        return false;
      return !consume("to") ||
             ((sees(":") || integer()) && expect(":") && integer());
    }
    StringRef name = word();
    if (name == "unknown")
      return true;
    if (name == "callsite")
      return expect("(") && location() && expect("at") && location() &&
             expect(")");
    if (name == "fused")
      return (!consume("<") || (attribute() && expect(">"))) && expect("[") &&
             list("]", [&] { return location(); });
    return fail("this is not a location");
  });
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

bool FormReader::type() {
  return nested([&] {
    if (sees("!"))
      return dialectForm();
    if (sees("("))
      return functionType();
    skipBlanks();
    StringRef start = rest, name = word();
    if (isScalarName(name))
      return true;
    if ((name == "tensor" || name == "memref" || name == "vector") &&
        consume("<"))
      return shapedType();
    if (name == "complex" && consume("<"))
      return type() && expect(">");
    if (name == "tuple" && consume("<"))
      return list(">", [&] { return type(); });
    rest = start;
    return refuse();
  });
}

/// "(types) -> type", "(types) -> (types)"
bool FormReader::functionType() {
  auto types = [&] { return expect("(") && list(")", [&] { return type(); }); };
  return types() && expect("->") && (sees("(") ? types() : type());
}

/// "2x?xf32, encoding>"
bool FormReader::shapedType() {
  for (skipBlanks(); !rest.empty() &&
                     (isDigit(rest[0]) || StringRef("?*").contains(rest[0]));) {
    if (!(consume("*") || integer()) || !expect("x"))
      return false;
  }
  if (!type())
    return false;
  while (consume(","))
    if (!attribute())
      return false;
  return expect(">");
}

//===----------------------------------------------------------------------===//
// Dialects
//===----------------------------------------------------------------------===//

/// "#mllm.range<…>", "!llm.quantized_tensor<…>", "#mllm<comparison less>", or
/// an alias without a dialect.
bool FormReader::dialectForm() {
  skipBlanks();
  StringRef start = rest;
  rest = rest.drop_front(); // '#' or '!'
  if (rest.empty() || !(isAlpha(rest[0]) || rest[0] == '_'))
    return rest = start, refuse();
  StringRef name = word(), dialect = name.split('.').first;
  bool isAlias = dialect == name && !sees("<");
  if (!isAlias && dialect != "mllm" && dialect != "llm" && dialect != "arith")
    return rest = start, refuse();
  return isAlias || !consume("<") || dialectBody('>');
}

/// The parameters, which are parsed by the dialects, up to `close`. Nested
/// types and attributes, which these pass to MLIR's parser, must have valid
/// forms.
bool FormReader::dialectBody(char close) {
  return nested([&] {
    while (!atEnd()) {
      char c = rest[0];
      if (c == close)
        return rest = rest.drop_front(), true;
      bool isRead;
      if (c == '"') {
        isRead = text();
      } else if (c == '#' || c == '!') {
        isRead = dialectForm();
      } else if (c == '@') {
        isRead = symbol();
      } else if (isDigit(c)) {
        isRead = number();
      } else if (StringRef(",=:+-*?").contains(c)) {
        rest = rest.drop_front(rest.starts_with("->") ? 2 : 1);
        isRead = true;
      } else if (size_t bracket = StringRef("([{<").find(c);
                 bracket != StringRef::npos) {
        rest = rest.drop_front();
        isRead = dialectBody(")]}>"[bracket]);
      } else {
        StringRef start = rest;
        isRead = !word().empty() || refuse();
        if (isRead && rest.starts_with("<")) {
          rest = start;
          isRead = attribute();
        }
      }
      if (!isRead)
        return false;
    }
    return refuse();
  });
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// A token of a module's text, or a whole attribute or type.
bool FormReader::token() {
  char c = rest[0];
  switch (c) {
  case '/':
    return comment();
  case '"':
    return text();
  case '#':
  case '!':
    return dialectForm();
  case '@':
    return symbol();
  case '%':
  case '^':
    rest = rest.drop_front().drop_while([](char each) {
      return isAlnum(each) || StringRef("_$.-").contains(each);
    });
    if (c == '%' && rest.consume_front("#")) // One of several results.
      rest = rest.drop_while(isDigit);
    return true;
  default:
    if (isDigit(c))
      return number();
    if (isAlpha(c) || c == '_')
      return wordToken();
    if (!StringRef("()[]{}<>:,=+-*?|").contains(c))
      return isPrint(c) ? refuse()
                        : fail("the byte " +
                               Twine(unsigned(static_cast<unsigned char>(c))) +
                               " has no meaning in MLIR's text");
    rest = rest.drop_front();
    return true;
  }
}

/// A keyword, op name or attribute name, or a construct that starts with a
/// word.
bool FormReader::wordToken() {
  StringRef start = rest, name = word();
  if (sees("<") && (name == "fastmath" || name == "overflow")) // arith flags.
    return consume("<") &&
           list(">", [&] { return !word().empty() || refuse(); });
  if (sees("<") || (name == "loc" && sees("("))) {
    rest = start;
    return attribute();
  }
  return true;
}

std::string llmir::mllm::whyNotMLIRText(StringRef text, int mostDepth) {
  return FormReader(text, mostDepth).readModule();
}

std::string llmir::mllm::whyNotMLIRForm(StringRef text, int mostDepth) {
  return FormReader(text, mostDepth).read();
}
