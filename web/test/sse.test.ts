import assert from "node:assert/strict";
import { test } from "node:test";
import { EventSplitter } from "../src/sse";

const encoder = new TextEncoder();

function split(text: string, ends: number[]): string[] {
  const bytes = encoder.encode(text);
  const splitter = new EventSplitter();
  const events: string[] = [];
  let from = 0;
  for (const end of [...ends, bytes.length]) {
    events.push(...splitter.push(bytes.slice(from, end)));
    from = end;
  }
  return [...events, ...splitter.finish()];
}

const stream = 'data: {"a":"größer 🎉"}\r\n\r\n: comment\ndata:two\rdata: lines\r\revent: x\nid: 7\ndata\n\ndata: [DONE]\n\n';
const expected = ['{"a":"größer 🎉"}', "two\nlines", "", "[DONE]"];

test("events are the same for every two pieces", () => {
  const length = encoder.encode(stream).length;
  for (let end = 0; end <= length; end++) assert.deepEqual(split(stream, [end]), expected, `split at ${end}`);
});

test("events are the same byte by byte", () => {
  const length = encoder.encode(stream).length;
  assert.deepEqual(split(stream, Array.from({ length }, (_, i) => i)), expected);
});

test("all kinds of line ends", () => {
  for (const end of ["\n", "\r\n", "\r"]) assert.deepEqual(split(`data: a${end}${end}data: b${end}${end}`, []), ["a", "b"]);
});

test("an event without a blank line after it is dropped", () => {
  assert.deepEqual(split("data: a\n\ndata: b", []), ["a"]);
});

test("only one space after the colon is left out, and a byte order mark at the beginning", () => {
  assert.deepEqual(split("\ufeffdata:  a: b\n\n", []), [" a: b"]);
});
