import assert from "node:assert/strict";
import { test } from "node:test";
import { addChunk, chatRequest, measurements, textRequest } from "../src/answer";
import { words } from "../src/client";
import type { Conversation, Message } from "../src/conversations";

const begin: Message = { role: "assistant", content: "", startedAt: 1000 };
const delta = (value: unknown) => ({ choices: [{ index: 0, delta: value, finish_reason: null }] });

function conversation(change: Partial<Conversation>): Conversation {
  const settings = { system: "", numbers: {} };
  return { id: "1", kind: "chat", title: "", named: false, changedAt: 0, settings, messages: [], text: "", ...change };
}

test("content, thoughts and their times", () => {
  let answer = addChunk(begin, delta({ role: "assistant", content: "" }), 1100);
  assert.equal(answer.firstAt, undefined);
  answer = addChunk(answer, delta({ reasoning_content: "Hm" }), 1200);
  answer = addChunk(answer, delta({ reasoning_content: "." }), 1300);
  answer = addChunk(answer, delta({ content: "Yes" }), 1400);
  answer = addChunk(answer, delta({ content: "." }), 1500);
  answer = addChunk(answer, { choices: [{ delta: {}, finish_reason: "stop" }] }, 1600);
  const { content, thought, firstAt, thoughtUntil, finish } = answer;
  assert.deepEqual({ content, thought, firstAt, thoughtUntil, finish },
    { content: "Yes.", thought: "Hm.", firstAt: 1200, thoughtUntil: 1400, finish: "stop" });
});

test("tool calls whose arguments arrive in pieces", () => {
  let answer = addChunk(begin, delta({ tool_calls: [{ index: 1, id: "a", function: { name: "f", arguments: "" } }] }), 1);
  answer = addChunk(answer, delta({ tool_calls: [{ index: 1, function: { arguments: '{"x"' } }] }), 2);
  answer = addChunk(answer, delta({ tool_calls: [{ index: 1, function: { arguments: ":1}" } }, { index: 0, function: { name: "g" } }] }), 3);
  assert.deepEqual(answer.calls, [{ name: "g", arguments: "" }, { name: "f", arguments: '{"x":1}' }]);
});

test("an index that no answer can have takes no memory", () => {
  for (const index of [-1, 1e9, 0.5, NaN, "7"])
    assert.ok((addChunk(begin, delta({ tool_calls: [{ index, function: { name: "f" } }] }), 1).calls ?? []).length <= 1);
});

test("chunks of any shape change nothing", () => {
  const junk = [null, 7, "x", [], {}, { choices: 7 }, { choices: [null] }, { choices: [{ delta: { content: {} } }] }, { usage: { prompt_tokens: "7" } }];
  for (const chunk of junk) assert.equal(addChunk(begin, chunk, 1).content, "");
});

test("measurements of an answer", () => {
  const usage = { prompt_tokens: 40, completion_tokens: 21, prompt_tokens_details: { cached_tokens: 32 } };
  const answer = addChunk({ ...begin, firstAt: 1250, content: "x" }, { choices: [], usage }, 3250);
  assert.deepEqual(measurements(answer), ["21 tokens", "10.0 tokens/s", "first after 0.3 s", "prompt 40, 32 of them cached"]);
  assert.deepEqual(measurements(begin), []);
});

test("a request has what the settings say, and nothing for empty ones", () => {
  const messages: Message[] = [{ role: "user", content: "a" }, { role: "assistant", content: "b", thought: "c" }, { role: "user", content: "d" }];
  const streamed = { stream: true, stream_options: { include_usage: true } };
  const sent = [{ role: "user", content: "a" }, { role: "assistant", content: "b" }, { role: "user", content: "d" }];
  assert.deepEqual(chatRequest("m", conversation({ messages })), { model: "m", messages: sent, ...streamed });
  const settings = { system: "Be brief.", numbers: { temperature: 0, seed: 7, max_tokens: 5 } };
  assert.deepEqual(chatRequest("m", conversation({ messages, settings })), {
    model: "m", messages: [{ role: "system", content: "Be brief." }, ...sent], temperature: 0, seed: 7, max_tokens: 5, ...streamed,
  });
  assert.deepEqual(textRequest("m", conversation({ kind: "text", text: "Once", settings })), {
    model: "m", prompt: "Once", temperature: 0, seed: 7, max_tokens: 5, ...streamed,
  });
  assert.deepEqual(textRequest("m", conversation({ kind: "text", text: "Once" })), { model: "m", prompt: "Once", max_tokens: 200, ...streamed });
});

test("errors are in the server's words", () => {
  assert.equal(words(400, "Bad Request", '{"error":{"message":"temperature must be at most 2."}}', null), "temperature must be at most 2.");
  assert.equal(words(429, "", '{"error":{"message":"The queue is full."}}', "3"), "The queue is full. Try again in 3 s.");
  assert.equal(words(404, "", '{"error":"no such route"}', null), "no such route");
  assert.equal(words(422, "", '{"detail":"bad"}', null), "bad");
  assert.equal(words(503, "Service Unavailable", "loading the model", null), "loading the model");
  assert.equal(words(502, "Bad Gateway", "<html>…</html>", null), "The server answered 502 Bad Gateway.");
  assert.equal(words(500, "", "", "soon"), "The server answered 500.");
});
