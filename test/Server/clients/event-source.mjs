// Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The streams of the server through eventsource-parser, in pieces of one byte and more: how a network divides a stream
// changes nothing.

import { createParser } from 'eventsource-parser';
import { apiKey, baseURL, check, expected, finish, same } from './checks.mjs';

/** The events of a body in pieces of so many bytes, and the errors of the parser. */
function parse(body, size) {
  const events = [], errors = [], decoder = new TextDecoder('utf-8', { fatal: true });
  const parser = createParser({ onEvent: event => events.push(event), onError: error => errors.push(String(error)) });
  for (let at = 0; at < body.length; at += size)
    parser.feed(decoder.decode(body.subarray(at, at + size), { stream: true }));
  parser.feed(decoder.decode());
  return { events, errors };
}

async function bodyOf(path, request) {
  const answer = await fetch(baseURL + path, { method: 'POST', body: JSON.stringify({ model: 'scripted', stream: true,
    temperature: 0, ...request }), headers: { 'Content-Type': 'application/json', Authorization: 'Bearer ' + apiKey } });
  check(path + ': type', answer.headers.get('content-type').startsWith('text/event-stream'), answer.status);
  return new Uint8Array(await answer.arrayBuffer());
}

const tools = [{ type: 'function', function: { name: 'weather' } }];
for (const name of ['text', 'calls']) {
  const body = await bodyOf('/chat/completions', { messages: [{ role: 'user', content: name }], tools,
                                                   stream_options: { include_usage: true } });
  for (const size of [1, 2, 3, 7, body.length]) {
    const { events, errors } = parse(body, size);
    const what = `${name} in pieces of ${size}`;
    same(what + ': no errors', errors, []);
    same(what + ': the last event', events.at(-1).data, '[DONE]');
    const chunks = events.slice(0, -1).map(event => JSON.parse(event.data));
    const deltas = chunks.flatMap(chunk => chunk.choices.map(choice => choice.delta));
    if (name === 'text')
      same(what + ': content', deltas.map(delta => delta.content ?? '').join(''), expected.text);
    const inputs = [];
    for (const call of deltas.flatMap(delta => delta.tool_calls ?? []))
      inputs[call.index] = (inputs[call.index] ?? '') + (call.function.arguments ?? '');
    same(what + ': calls', inputs.map(input => JSON.parse(input)),
         name === 'calls' ? [expected.arguments, expected.more] : []);
    check(what + ': usage', chunks.at(-1).usage.completion_tokens > 20 && chunks.at(-1).choices.length === 0, chunks.at(-1));
  }
}

const body = await bodyOf('/responses', { input: 'text' });
for (const size of [1, 5, body.length]) {
  const { events, errors } = parse(body, size);
  same(`response in pieces of ${size}: no errors`, errors, []);
  check(`response in pieces of ${size}: names`, events.every(event => event.event === JSON.parse(event.data).type), events[0]);
  const text = events.filter(event => event.event === 'response.output_text.delta').map(event => JSON.parse(event.data).delta);
  same(`response in pieces of ${size}: text`, text.join(''), expected.text);
  check(`response in pieces of ${size}: end`, events.at(-1).event === 'response.completed', events.at(-1));
}
finish();
