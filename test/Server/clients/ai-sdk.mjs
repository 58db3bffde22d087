// Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The AI SDK, with its provider for servers that have OpenAI's API, and the scripted model.

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, generateText, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';
import { apiKey, baseURL, check, expected, failure, finish, same } from './checks.mjs';

const provider = createOpenAICompatible({ name: 'llmir', baseURL, apiKey, includeUsage: true });
const fixed = { model: provider.chatModel('scripted'), temperature: 0, maxRetries: 0 };
const inputSchema = z.object({ city: z.string(), days: z.number() }).loose();
const tools = { weather: tool({ description: 'The weather', inputSchema }) };
const bytes = new TextEncoder().encode(expected.text).length;

const text = await generateText({ ...fixed, prompt: 'text' });
same('text', text.text, expected.text);
check('its end', text.finishReason === 'stop' && text.usage.outputTokens >= bytes, [text.finishReason, text.usage]);

const stream = streamText({ ...fixed, prompt: 'text' });
const parts = [];
for await (const part of stream.textStream) parts.push(part);
same('text as a stream', parts.join(''), expected.text);
check('whole characters', parts.every(part => !part.includes('\ufffd')) && parts.length > 20, parts);
const usage = await stream.usage;
check('usage of a stream', usage.outputTokens === text.usage.outputTokens, usage);

for (const [name, wanted] of [['call', [expected.arguments]], ['calls', [expected.arguments, expected.more]]]) {
  const whole = await generateText({ ...fixed, prompt: name, tools });
  same(name, whole.toolCalls.map(call => call.input), wanted);
  check(name + ': end', whole.finishReason === 'tool-calls', whole.finishReason);
  const inputs = new Map();
  let deltas = 0;
  const events = streamText({ ...fixed, prompt: name, tools });
  for await (const event of events.fullStream) {
    if (event.type === 'tool-input-delta') {
      inputs.set(event.id, (inputs.get(event.id) ?? '') + event.delta);
      ++deltas;
    } else if (event.type === 'error') {
      check(name + ' as a stream: an error', false, String(event.error));
    }
  }
  same(name + ' as a stream', (await events.toolCalls).map(call => call.input), wanted);
  same(name + ': inputs in parts', [...inputs.values()].map(each => JSON.parse(each)), wanted);
  check(name + ': many parts', deltas > 20, deltas);
}

const executed = [];
const running = { weather: tool({ inputSchema, execute: async input => { executed.push(input); return 21; } }) };
const steps = await generateText({ ...fixed, prompt: 'call', tools: running, stopWhen: stepCountIs(3) });
same('a tool that is executed', executed, [expected.arguments]);
same('the answer to its result', steps.text, expected.after);
const streamedSteps = streamText({ ...fixed, prompt: 'call', tools: running, stopWhen: stepCountIs(3) });
same('the same as a stream', await streamedSteps.text, expected.after);

const thought = await generateText({ ...fixed, prompt: 'thought' });
same('reasoning', thought.reasoningText?.trim(), expected.reasoning);

const completion = await failure(generateText({ ...fixed, model: provider.completionModel('scripted'), prompt: 'x',
                                                maxOutputTokens: 5 }));
check('a completion', typeof completion.text === 'string' && completion.usage.outputTokens <= 5, String(completion));
const wrong = await failure(generateText({ ...fixed, prompt: 'text', temperature: -1 }));
check('an error', APICallError.isInstance(wrong) && wrong.statusCode === 400 && wrong.message.includes('temperature'),
      String(wrong));
const unknown = await failure(generateText({ ...fixed, model: provider.chatModel('gpt-4'), prompt: 'text' }));
check('an unknown model', APICallError.isInstance(unknown) && unknown.statusCode === 404, String(unknown));
finish();
