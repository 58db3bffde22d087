// Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// OpenAI's own client with the demo model, whole answers and streams.

import { OpenAI } from 'openai';
import { apiKey, baseURL, check, failure, finish } from './checks.mjs';

const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const model = 'demo';

const fixed = { model, max_tokens: 20, temperature: 0, seed: 1 };
const prompt = 'In the beginning';
const messages = [{ role: 'user', content: prompt }];

const models = await client.models.list();
check('models', models.data.some(each => each.id === model), models);

const completion = await client.completions.create({ ...fixed, prompt });
check('completion', completion.usage.completion_tokens === 20 && completion.choices[0].text.length > 5, completion);
let text = '';
for await (const part of await client.completions.create({ ...fixed, prompt, stream: true })) text += part.choices[0].text;
check('completion as a stream', text === completion.choices[0].text, text);

const chat = await client.chat.completions.create({ ...fixed, messages });
check('chat', chat.choices[0].message.content.length > 5 && chat.choices[0].finish_reason === 'length', chat);
const runner = client.chat.completions.stream({ ...fixed, messages, stream_options: { include_usage: true } });
const final = await runner.finalChatCompletion();
check('chat as a stream', final.choices[0].message.content === chat.choices[0].message.content, final);
check('usage of a stream', final.usage.completion_tokens === 20, final.usage);

const response = await client.responses.create({ model, input: prompt, max_output_tokens: 20, temperature: 0 });
check('response', response.output_text === chat.choices[0].message.content, response);
const events = [];
let streamed = '';
const stream = client.responses.stream({ model, input: prompt, max_output_tokens: 20, temperature: 0 });
stream.on('response.output_text.delta', event => { streamed += event.delta; });
for await (const event of stream) events.push(event.type);
const last = await stream.finalResponse();
// The final response of a stream has no output_text in this client.
check('response as a stream', streamed === response.output_text && last.output[0].content[0].text === streamed, [streamed, last]);
check('events', events[0] === 'response.created' && events.at(-1) === 'response.incomplete', events);

const wrong = await failure(client.chat.completions.create({ ...fixed, messages, temperature: -1 }));
check('an error', wrong.status === 400 && wrong.code === 'invalid_request', wrong);
const unknown = await failure(client.chat.completions.create({ ...fixed, model: 'gpt-4', messages }));
check('an unknown model', unknown.status === 404 && unknown.code === 'model_not_found', unknown);
const denied = await failure(new OpenAI({ baseURL, apiKey: 'wrong', maxRetries: 0 }).models.list());
check('a wrong key', denied.status === 401 && denied.constructor.name === 'AuthenticationError', denied);
const aborted = await client.chat.completions.create({ ...fixed, messages, max_tokens: 400, stream: true });
for await (const part of aborted) {
  if (part.choices[0].delta.content) break;
}
check('a stream that is left', true);
finish();
