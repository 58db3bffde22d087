// RUN: %python %S/mutant_models.py --llmir %llmir_bin/llmir --work %t.models
// RUN: env LLMIR_MUTANT_MODELS=%t.models llmir-mutants-tests
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mutated programs: texts of real programs with numbers, operands, names, words
// and lines changed. Each is rejected in one line, or runs without touching
// memory that is not its own.
//
//   LLMIR_MUTANTS=5000 LLMIR_MUTANT_SEED=7   more of them, all of which run
//
// Each mutant runs in its own process; arena, logits, tables and cache are
// between unreadable pages there.
//
//===----------------------------------------------------------------------===//

#include "AddressSpaceLimit.h"

#include "llmir/Artifact/Artifact.h"
#include "llmir/Driver/Compilation.h"
#include "llmir/Runtime/Executor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace llmir;
using namespace llmir::test;

namespace {

//===----------------------------------------------------------------------===//
// Mutation
//===----------------------------------------------------------------------===//

/// What a token of the text is, and where.
enum class Kind { Number, Value, Symbol, Text, Word };
struct Token {
  Kind kind;
  size_t begin, end;
};

bool isNamePart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' ||
         c == '$';
}

std::vector<Token> tokensOf(const std::string &text) {
  std::vector<Token> tokens;
  for (size_t i = 0; i < text.size();) {
    size_t begin = i++;
    char c = text[begin];
    auto take = [&](auto holds) {
      while (i < text.size() && holds(text[i]))
        ++i;
    };
    if (c == '"') {
      take([](char each) { return each != '"'; });
      tokens.push_back({Kind::Text, begin, ++i});
    } else if (c == '%' || c == '@') {
      take(isNamePart);
      tokens.push_back({c == '%' ? Kind::Value : Kind::Symbol, begin, i});
    } else if (std::isdigit(static_cast<unsigned char>(c))) {
      take([](char each) {
        return std::isdigit(static_cast<unsigned char>(each));
      });
      tokens.push_back({Kind::Number, begin, i});
    } else if (std::isalpha(static_cast<unsigned char>(c))) {
      take(isNamePart);
      tokens.push_back({Kind::Word, begin, i});
    }
  }
  return tokens;
}

class Mutator {
public:
  Mutator(std::string original, unsigned seed)
      : text(std::move(original)), random(seed) {}

  std::string mutant() {
    // One change as a rule; some mutants have several.
    int changes = pick(4) == 0 ? 1 + pick(4) : 1;
    for (int i = 0; i < changes; ++i)
      change();
    return text;
  }

private:
  int pick(size_t count) { return static_cast<int>(random() % count); }

  /// The start of the program, after the properties of the model.
  size_t start() const { return text.find("mllm.program.fragment"); }

  /// Most changes leave a text that can be parsed: the code after the parser is
  /// to be tried.
  void change() {
    switch (pick(10)) {
    case 0:
      return changeToken();
    case 1:
    case 2:
      return changeLines();
    case 3:
    case 4:
      return changeType();
    case 5:
    case 6:
      return changeOperand();
    default:
      return changeParameter();
    }
  }

  struct Range {
    size_t begin, end;
  };
  /// The text between the two, including the first one.
  std::vector<Range> pieces(const std::string &first, const std::string &last) {
    std::vector<Range> found;
    for (size_t i = text.find(first, start()); i != std::string::npos;
         i = text.find(first, i + 1)) {
      size_t end = text.find(last, i + first.size());
      if (end != std::string::npos)
        found.push_back({i, end});
    }
    return found;
  }
  std::string textOf(Range range) const {
    return text.substr(range.begin, range.end - range.begin);
  }

  /// A buffer type is replaced everywhere.
  void changeType() {
    std::vector<Range> types = pieces("memref<", ">");
    if (types.empty())
      return;
    const std::string old =
        textOf(types[static_cast<size_t>(pick(types.size()))]);
    std::string changed =
        textOf(types[static_cast<size_t>(pick(types.size()))]);
    if (pick(2) == 0) { // One of its sizes.
      changed = old;
      std::vector<Token> sizes = tokensOf(changed);
      const Token token =
          sizes[1 + static_cast<size_t>(pick(2)) % (sizes.size() - 1)];
      const std::string size =
          changed.substr(token.begin, token.end - token.begin);
      if (token.kind == Kind::Number)
        changed.replace(token.begin, size.size(), number(size));
    }
    for (size_t i = text.find(old, start()); i != std::string::npos;
         i = text.find(old, i + changed.size()))
      text.replace(i, old.size(), changed);
  }

  /// An operand becomes another value of its type.
  void changeOperand() {
    std::map<std::string, std::string> types;
    std::istringstream stream(text.substr(start()));
    for (std::string line; std::getline(stream, line);)
      if (size_t value = line.find('%'); value != std::string::npos)
        if (line.find(" = mllm.program.") != std::string::npos)
          types[line.substr(value, line.find(' ', value) - value)] =
              line.substr(line.rfind(": "));
    std::vector<Token> operands;
    for (const Token &token : tokensOf(text))
      if (token.kind == Kind::Value && token.begin >= start() &&
          (text[token.begin - 1] == '(' || text[token.begin - 2] == ',') &&
          types.count(text.substr(token.begin, token.end - token.begin)))
        operands.push_back(token);
    if (operands.empty())
      return;
    const Token token = operands[static_cast<size_t>(pick(operands.size()))];
    const std::string old = text.substr(token.begin, token.end - token.begin);
    std::vector<std::string> others;
    for (const auto &[name, type] : types)
      if (type == types[old])
        others.push_back(name);
    text.replace(token.begin, old.size(),
                 others[static_cast<size_t>(pick(others.size()))]);
  }

  /// Replaces an attribute of a kernel or a jump by another value or another
  /// kernel's dictionary, or removes it.
  void changeParameter() {
    std::vector<Range> values = pieces(" = ", ",");
    for (const char *before : {" below ", "set_layer ", "decode_tokens = "})
      for (Range each : pieces(before, "\n"))
        values.push_back({each.begin, each.begin + std::strlen(before) + 1});
    if (values.empty())
      return;
    const Range chosen = values[static_cast<size_t>(pick(values.size()))];
    std::string value = textOf(chosen);
    std::vector<Token> tokens = tokensOf(value);
    if (tokens.empty())
      return;
    const Token token = tokens.front();
    const std::string old = value.substr(token.begin, token.end - token.begin);
    if (token.kind == Kind::Number)
      value.replace(token.begin, old.size(), number(old));
    else if (old == "true" || old == "false")
      value.replace(token.begin, old.size(), old == "true" ? "false" : "true");
    else
      value = textOf(values[static_cast<size_t>(pick(values.size()))]);
    text.replace(chosen.begin, chosen.end - chosen.begin, value);
  }

  void changeToken() {
    std::vector<Token> tokens = tokensOf(text);
    tokens.erase(std::remove_if(
                     tokens.begin(), tokens.end(),
                     [&](const Token &token) { return token.begin < start(); }),
                 tokens.end());
    if (tokens.empty())
      return;
    Token token = tokens[static_cast<size_t>(pick(tokens.size()))];
    std::string old = text.substr(token.begin, token.end - token.begin);
    std::string changed = token.kind == Kind::Number && pick(3) != 0
                              ? number(old)
                              : another(tokens, token);
    text.replace(token.begin, old.size(), changed);
  }

  /// A number near the old one, or at the end of a range.
  std::string number(const std::string &old) {
    const auto value = static_cast<int64_t>(
        std::strtoull(old.substr(0, 18).c_str(), nullptr, 10));
    const int64_t choices[] = {0,
                               1,
                               value + 1,
                               value - 1,
                               value * 2,
                               value / 2,
                               value + 16,
                               -1,
                               int64_t(1) << 31,
                               (int64_t(1) << 28) - 1,
                               INT64_MAX};
    return std::to_string(
        choices[static_cast<size_t>(pick(std::size(choices)))]);
  }

  /// The text of another token of that kind.
  std::string another(const std::vector<Token> &tokens, const Token &token) {
    std::vector<Token> same;
    for (const Token &other : tokens)
      if (other.kind == token.kind)
        same.push_back(other);
    Token chosen = same[static_cast<size_t>(pick(same.size()))];
    return text.substr(chosen.begin, chosen.end - chosen.begin);
  }

  /// Removes a line, repeats it, or swaps two lines.
  void changeLines() {
    // Every other time an instruction is one line.
    const bool whole = pick(2) == 0;
    bool inside = false;
    std::vector<std::string> lines;
    std::istringstream stream(text.substr(start()));
    for (std::string line; std::getline(stream, line);) {
      if (inside)
        lines.back() += "\n" + line;
      else
        lines.push_back(line);
      if (whole && line.rfind("    mllm.program.instruction", 0) == 0)
        inside = true;
      else if (line == "    }")
        inside = false;
    }
    const std::string head = text.substr(0, start());
    auto at = [&] { return static_cast<size_t>(pick(lines.size())); };
    size_t one = at(), other = at();
    switch (pick(4)) {
    case 0:
      lines.erase(lines.begin() + static_cast<ptrdiff_t>(one));
      break;
    case 1:
      lines.insert(lines.begin() + static_cast<ptrdiff_t>(other), lines[one]);
      break;
    case 2:
      std::swap(lines[one], lines[other]);
      break;
    default:
      std::swap(lines[one], lines[std::min(one + 1, lines.size() - 1)]);
    }
    text = head;
    for (const std::string &line : lines)
      text += line + "\n";
  }

  std::string text;
  std::mt19937 random;
};

//===----------------------------------------------------------------------===//
// What becomes of one
//===----------------------------------------------------------------------===//

enum Verdict : int { Ran = 0, Refused = 3, RefusedBadly = 4, Accepted = 5 };

std::string readFile(const std::string &path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// One line of cause and advice.
Verdict verdictOf(const Status &status) {
  const std::string &message = status.message();
  std::fprintf(stderr, "%s\n", message.substr(0, 300).c_str());
  return message.empty() || message.find('\n') != std::string::npos
             ? RefusedBadly
             : Refused;
}

Status runSteps(const std::string &artifact) {
  auto opened = Artifact::open(artifact);
  if (!opened)
    return opened.takeStatus();
  ExecutorOptions options;
  options.threads = 2;
  options.guardPages = true;
  options.contextLength = 128;
  options.kvBlocks = 8;
  auto executor = Executor::create(*opened, options);
  if (!executor)
    return executor.takeStatus();
  LLMIR_RETURN_IF_ERROR((*executor)->cache().createSequence(0));
  // Many tokens and few.
  for (int64_t tokens : {100, 1, 7, 1}) {
    std::vector<int32_t> ids;
    for (int64_t i = 0; i < tokens; ++i)
      ids.push_back(
          static_cast<int32_t>((i * 37 + 5) % (*executor)->info().vocabSize));
    SequenceStep step;
    step.sequence = 0;
    step.tokens = ids;
    auto logits = (*executor)->step({&step, 1});
    if (!logits)
      return logits.takeStatus();
  }
  return Status::ok();
}

Verdict judge(const std::string &base, const std::string &program, bool runs) {
  CompilationOptions options;
  options.model = base;
  options.program = program;
#if defined(__x86_64__)
  options.target = "x86-64-v3";
#endif
  options.form = Form::Lowered;
  options.formOutput = program + ".lowered";
  std::string report;
  if (Status status = Compilation(options).run(report); !status.isOk())
    return verdictOf(status);
  if (!runs)
    return Accepted;
  options.form = std::nullopt;
  options.output = program + ".llmir";
  if (Status status = Compilation(options).run(report); !status.isOk())
    return verdictOf(status);
  Status status = runSteps(options.output);
  unlink(options.output.c_str());
  return status.isOk() ? Ran : verdictOf(status);
}

int64_t numberFrom(const char *variable, int64_t otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::strtoll(text, nullptr, 10) : otherwise;
}

//===----------------------------------------------------------------------===//
// The test
//===----------------------------------------------------------------------===//

class ProgramMutants : public testing::TestWithParam<const char *> {
protected:
  /// Seconds that a mutant may run: one may jump for ever.
  static constexpr unsigned kMaxSeconds = 120;

  /// Checks a mutant in a child process; returns its status from waitpid.
  int judgeApart(const std::string &base, const std::string &program,
                 bool runs) {
    pid_t child = fork();
    if (child == 0) {
      alarm(kMaxSeconds);
      std::optional<AddressSpaceLimit> limit;
      if (canLimitAddressSpace)
        limit.emplace(int64_t(6) << 30);
      _exit(judge(base, program, runs));
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
  }
};

TEST_P(ProgramMutants, AreRefusedOrKeepToTheirMemory) {
  const char *folder = std::getenv("LLMIR_MUTANT_MODELS");
  ASSERT_TRUE(folder) << "LLMIR_MUTANT_MODELS names the directory";
  const std::string base = std::string(folder) + "/" + GetParam() + ".llmir";
  const std::string original =
      readFile(std::string(folder) + "/" + GetParam() + ".txt");
  const std::string program =
      std::string(folder) + "/" + GetParam() + "-mutant.txt";
  ASSERT_FALSE(original.empty());
  const bool isLong = std::getenv("LLMIR_MUTANTS");
  const int64_t count = numberFrom("LLMIR_MUTANTS", 300) / 3;
  const auto seed = static_cast<unsigned>(numberFrom("LLMIR_MUTANT_SEED", 1));
  const int64_t mostRuns = isLong ? count : 12;

  std::ofstream(program) << original;
  int status = judgeApart(base, program, true);
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == Ran)
      << "the program itself does not run: status " << status;

  int64_t refused = 0, ran = 0, accepted = 0, endless = 0;
  for (int64_t i = 0; i < count; ++i) {
    const unsigned own = seed * 100003 + static_cast<unsigned>(i);
    const std::string mutant = Mutator(original, own).mutant();
    std::ofstream(program) << mutant;
    status = judgeApart(base, program, ran + endless < mostRuns);
    const int verdict = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    ran += verdict == Ran;
    refused += verdict == Refused;
    accepted += verdict == Accepted;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
      ++endless;
      continue;
    }
    if (verdict != Ran && verdict != Refused && verdict != Accepted) {
      const std::string kept = std::string(folder) + "/" + GetParam() + "-" +
                               std::to_string(own) + ".txt";
      std::ofstream(kept) << mutant;
      ADD_FAILURE() << "mutant " << own << ": "
                    << (WIFSIGNALED(status) ? "signal " : "exit code ")
                    << (WIFSIGNALED(status) ? WTERMSIG(status) : verdict)
                    << "; kept as " << kept;
    }
  }
  std::printf("%s: %lld refused, %lld ran, %lld would compile, %lld did not "
              "end\n",
              GetParam(), static_cast<long long>(refused),
              static_cast<long long>(ran), static_cast<long long>(accepted),
              static_cast<long long>(endless));
  if (count < 60) // Too few to say more.
    return;
  // Changes that mean nothing and changes that mean everything.
  EXPECT_GT(refused, count / 5);
  EXPECT_GT(ran, std::min<int64_t>(mostRuns, count / 20) / 2);
}

INSTANTIATE_TEST_SUITE_P(Programs, ProgramMutants,
                         testing::Values("llama", "gpt2", "moe"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

} // namespace
