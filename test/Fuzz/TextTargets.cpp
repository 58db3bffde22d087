//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target.h"

#include "Answers.h"

#include "llmir/ChatTemplate/ChatTemplate.h"
#include "llmir/ChatTemplate/ModelTemplates.h"
#include "llmir/Hub/FileChoice.h"
#include "llmir/Support/Json.h"

using namespace llmir;
using namespace llmir::fuzz;

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void readJson(std::string_view input) {
  Expected<Json> json = parseJson(input, "t");
  Expected<OrderedJson> ordered = parseOrderedJson(input, "t");
  expect(json.status().isOk() == ordered.status().isOk(),
         "both readers of JSON agree");
  if (!json)
    return;
  Expected<Json> again = parseJson(json->dump(), "t");
  expect(again && *again == *json, "what was written is read as it was");
}

static std::vector<std::string> jsonSeeds() {
  return {R"({"a":[1,-2,3.5e-7,true,false,null,"\u00e9\ud83d\ude00\n"]})",
          R"([[[[]]],{"":{}},18446744073709551615,-9223372036854775808])"};
}

//===----------------------------------------------------------------------===//
// Chat templates
//===----------------------------------------------------------------------===//

static void renderTemplate(std::string_view input) {
  static const OrderedJson variables = *parseOrderedJson(
      R"({"messages":[{"role":"system","content":"Be brief."},
          {"role":"user","content":"Hi \u00e9 <b>"},
          {"role":"assistant","content":"","tool_calls":[{"type":"function",
           "function":{"name":"f","arguments":{"x":1,"y":[true,null,2.5]}}}]}],
          "tools":[{"type":"function","function":{"name":"f","parameters":
           {"type":"object","properties":{"x":{"type":"integer"}}}}}],
          "documents":null,"add_generation_prompt":true,"bos_token":"<s>",
          "eos_token":"</s>"})",
      "variables");
  ChatTemplateLimits limits;
  limits.steps = 200'000;
  limits.memoryBytes = 16 << 20;
  limits.outputBytes = 1 << 20;
  Expected<ChatTemplate> chat = ChatTemplate::parse(input, "t", limits);
  if (!chat)
    return expect(!chat.status().cause().empty(), "failures have words");
  Expected<std::string> text = chat->render(variables);
  if (!text)
    return expect(!text.status().cause().empty(), "failures have words");
  expect(text->size() <= limits.outputBytes, "the output is limited");
  expect(isValidUtf8(*text), "the output is UTF-8");
}

static std::vector<std::string> templateSeeds() {
  std::vector<std::string> seeds = {
      "{{ bos_token }}{% for m in messages %}{{ '<|' + m['role'] + '|>' + "
      "m.content | trim }}{% if not loop.last %}{{ eos_token }}{% endif %}"
      "{% endfor %}{% if add_generation_prompt %}{{ '<|a|>' }}{% endif %}",
      "{%- set ns = namespace(x=1, y=[]) -%}{%- for k, v in tools[0].items() "
      "recursive %}{% set ns.x = ns.x * 2 + loop.index0 %}{{ k ~ ns.x }}"
      "{% else %}-{% endfor %}{{ tools | tojson(indent=2) }}",
      "{% macro f(a, b=2, *c) %}{{ a // b }} {{ caller() if caller }}"
      "{% endmacro %}{% call f(7) %}x{% endcall %}{{ f(1, b=3) }}",
      "{% if messages | selectattr('role', 'equalto', 'user') | list | length "
      "> 0 and tools is defined %}{{ messages[::-1][0].tool_calls | first }}"
      "{% elif documents is none %}{{ raise_exception('no') }}{% endif %}",
      "{{ strftime_now('%Y') }}{{ 'a,b'.split(',') | join('-') | upper }}"
      "{{ '%s %05.2f' % ('x', 2.5) }}{{ '{:>4}'.format(3) }}"
      "{{ messages | map(attribute='content') | batch(2, '_') | list }}",
      "{% generation %}{{ range(3) | sum }}{% endgeneration %}{% filter "
      "replace('a', 'b') %}aaa{% endfilter %}{% raw %}{{ }}{% endraw %}"
      "{# c #}{{ [1, 2.0, 'x', none, true] | sort(reverse=true) "
      "| string | indent(2) }}",
      "{{ {'a': 1, 'b': [2, 3]} | dictsort | groupby(0) | list }}"
      "{{ messages | rejectattr('content') | unique(attribute='role') | list }}"
      "{{ 'x' if 1 in [1] and not 2 == 3 else 7 ** 20 % 13 }}",
  };
  for (const std::string &seed : templatesOfAllNames())
    seeds.push_back(seed);
  return seeds;
}

/// Templates of an artifact.
static void loadTemplates(std::string_view input) {
  (void)ModelTemplates::load(
      {reinterpret_cast<const uint8_t *>(input.data()), input.size()});
}

static std::vector<std::string> storedTemplateSeeds() {
  ModelTemplates templates;
  templates.set("default", "{{ messages }}");
  templates.set("tool_use", "{{ tools }}");
  templates.tokens["bos_token"] = "<s>";
  const std::vector<uint8_t> bytes = templates.serialize();
  return {std::string(bytes.begin(), bytes.end())};
}

//===----------------------------------------------------------------------===//
// Answers of the Hub
//===----------------------------------------------------------------------===//

/// The listing of a repository, and after a byte 0 its index of safetensors.
static void readListing(std::string_view input) {
  const size_t end = input.find('\0');
  (void)hub::commitOfAnswer(input.substr(0, end), "t");
  std::vector<hub::FileEntry> files;
  if (!hub::addListing(input.substr(0, end), "t", files))
    return;
  const std::string index(end == input.npos ? std::string_view()
                                            : input.substr(end + 1));
  for (const char *selector : {"", "Q4_K_M", "m.gguf"}) {
    hub::ModelReference reference;
    reference.repository = "org/name";
    reference.selector = selector;
    auto choice = hub::chooseFiles(
        files, reference,
        [&](const hub::FileEntry &) -> Expected<std::string> { return index; });
    if (!choice)
      continue;
    for (size_t file : choice->files) {
      const std::string &path = files.at(file).path;
      expect(hub::checkFileName(path).isOk() && path[0] != '/' &&
                 path.find("..") != 0,
             "chosen files stay in their directory");
    }
  }
}

static std::vector<std::string> listingSeeds() {
  const std::string hash(40, 'b'), large(64, 'a');
  auto entry = [&](const std::string &path) {
    return R"({"type":"file","path":")" + path + R"(","size":7,"oid":")" +
           hash + "\"}";
  };
  return {"[" + entry("config.json") + "," + entry("model.safetensors") + "," +
              R"({"type":"directory","path":"a","size":0,"oid":"x"}])",
          "[" + entry("config.json") + "," +
              entry("model.safetensors.index.json") + "," +
              entry("m-1.safetensors") + "]" + std::string(1, '\0') +
              R"({"weight_map":{"w":"m-1.safetensors"}})",
          R"([{"type":"file","path":"m-Q4_K_M-00001-of-00001.gguf","size":1,)"
          R"("oid":")" +
              hash + R"(","lfs":{"oid":")" + large + R"(","size":9}},)" +
              entry("m.gguf") + "]",
          R"({"id":"org/name","sha":")" + hash + "\"}"};
}

/// The lines of the head of an answer.
static void readHead(std::string_view input) {
  hub::HttpHead head;
  while (!input.empty()) {
    const size_t end = input.find('\n');
    head.takeLine(input.substr(0, end));
    input.remove_prefix(end == input.npos ? input.size() : end + 1);
  }
  expect(head.status >= 0 && head.status < 10000, "the status is a number");
  const double wait = hub::requestedWait(head);
  expect(wait == -1 || wait >= 0, "a wait is not negative");
  static const hub::Url base =
      *hub::Url::parse("https://huggingface.co/api/models/org/name/tree/main");
  for (const std::string &address : {hub::nextPage(head), head["location"]})
    if (auto url = hub::Url::parse(address, &base))
      expect((url->scheme == "https" || url->scheme == "http") &&
                 !url->host.empty(),
             "addresses are of the web");
}

static std::vector<std::string> headSeeds() {
  return {"HTTP/1.1 200 OK\r\nLink: <?cursor=1>; rel=\"next\"\r\n"
          "X-Linked-Etag: \"abc\"\r\nContent-Range: bytes 0-4/5\r\n",
          "HTTP/2 429\r\nRetry-After: Wed, 21 Oct 2026 07:28:00 GMT\r\n"
          "RateLimit: \"resolvers\";r=0;t=172\r\n",
          "HTTP/1.1 302 Found\r\nLocation: //cdn.example.com/x?y#z\r\n"
          "Retry-After: 7\r\n"};
}

std::vector<Target> fuzz::textTargets() {
  return {
      {"json", "JSON", readJson, jsonSeeds},
      {"chat-template", "a chat template", renderTemplate, templateSeeds},
      {"template-bytes", "the chat templates of an artifact", loadTemplates,
       storedTemplateSeeds},
      {"hub-listing", "a listing of the Hub, a byte 0, an index of safetensors",
       readListing, listingSeeds},
      {"hub-head", "the status line and headers of an answer", readHead,
       headSeeds},
  };
}
