// Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// OpenAI's own client with the scripted model: calls of tools, reasoning, characters of several bytes.

import { OpenAI } from 'openai';
import { apiKey, baseURL, check, expected, finish, same } from './checks.mjs';

const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const model = 'scripted';
const parameters = { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } } };
const tools = [{ type: 'function', function: { name: 'weather', parameters } }];
const say = name => ({ model, messages: [{ role: 'user', content: name }], temperature: 0 });
const argumentsOf = calls => calls.map(call => JSON.parse(call.function.arguments));

const text = await client.chat.completions.create(say('text'));
same('text', text.choices[0].message.content, expected.text);
check('its end', text.choices[0].finish_reason === 'stop', text);
const streamed = await client.chat.completions.stream(say('text')).finalChatCompletion();
same('text as a stream', streamed.choices[0].message.content, expected.text);

for (const [name, wanted] of [['call', [expected.arguments]], ['calls', [expected.arguments, expected.more]]]) {
  const whole = await client.chat.completions.create({ ...say(name), tools });
  const message = whole.choices[0].message;
  same(name, argumentsOf(message.tool_calls), wanted);
  check(name + ': end', whole.choices[0].finish_reason === 'tool_calls', whole);
  const deltas = [];
  const stream = client.chat.completions.stream({ ...say(name), tools });
  stream.on('chunk', chunk => deltas.push(...(chunk.choices[0]?.delta.tool_calls ?? [])));
  const final = (await stream.finalChatCompletion()).choices[0];
  same(name + ' as a stream', argumentsOf(final.message.tool_calls), wanted);
  same(name + ' as a stream: content', final.message.content ?? '', message.content ?? '');
  check(name + ': arguments in parts', deltas.length > 20, deltas.length);
  check(name + ': one id and name each', deltas.filter(delta => delta.id).length === wanted.length
    && deltas.filter(delta => delta.function.name).length === wanted.length, deltas.slice(0, 3));
}

const call = (await client.chat.completions.create({ ...say('call'), tools })).choices[0].message;
const after = await client.chat.completions.create({ model, temperature: 0, tools, messages: [
  { role: 'user', content: 'call' }, call, { role: 'tool', tool_call_id: call.tool_calls[0].id, content: '21' }] });
same('after the result of a tool', after.choices[0].message.content, expected.after);

const thought = (await client.chat.completions.create(say('thought'))).choices[0].message;
same('reasoning', thought.reasoning_content.trim(), expected.reasoning);
check('content after reasoning', expected.text.startsWith(thought.content.trim()), thought);

const whole = await client.responses.stream({ model, input: 'text', temperature: 0 }).finalResponse();
check('response as a stream', whole.status === 'completed' && whole.output[0].content[0].text === expected.text, whole);

const functions = [{ type: 'function', name: 'weather', parameters, strict: false }];
const response = await client.responses.create({ model, input: 'calls', tools: functions, temperature: 0 });
const callsOf = output => output.filter(item => item.type === 'function_call').map(item => JSON.parse(item.arguments));
same('calls of a response', callsOf(response.output), [expected.arguments, expected.more]);
const parts = new Map();
const stream = client.responses.stream({ model, input: 'calls', tools: functions, temperature: 0 });
stream.on('response.function_call_arguments.delta', event =>
  parts.set(event.item_id, (parts.get(event.item_id) ?? '') + event.delta));
same('calls of a response as a stream', callsOf((await stream.finalResponse()).output), [expected.arguments, expected.more]);
same('their parts', [...parts.values()].map(each => JSON.parse(each)), [expected.arguments, expected.more]);
finish();
