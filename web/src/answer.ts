import { fields, list, number, text } from "./json";
import type { Conversation, Message, ToolCall, Usage } from "./conversations";

/** Adds a streamed chunk of a chat or of a completion to an answer. */
export function addChunk(answer: Message, chunk: unknown, now: number): Message {
  const next = { ...answer };
  const usage = readUsage(fields(chunk)["usage"]);
  if (usage) next.usage = usage;
  const choice = fields(list(fields(chunk)["choices"])[0]);
  const delta = fields(choice["delta"]);
  const content = text(delta["content"]) || text(choice["text"]);
  const thought = text(delta["reasoning_content"]) || text(delta["reasoning"]);
  const calls = list(delta["tool_calls"]);
  if (content || thought || calls.length > 0) next.firstAt ??= now;
  if (thought) next.thought = (next.thought ?? "") + thought;
  if (next.thought && (content || calls.length > 0)) next.thoughtUntil ??= now;
  next.content += content;
  if (calls.length > 0) next.calls = calls.reduce<ToolCall[]>(addCall, next.calls ?? []);
  const finish = text(choice["finish_reason"]);
  if (finish) next.finish = finish;
  next.lastAt = now;
  return next;
}

/** The most tool calls of an answer: an index comes from outside. */
const mostCalls = 128;

function addCall(calls: ToolCall[], delta: unknown): ToolCall[] {
  const from = fields(delta);
  const index = number(from["index"]) ?? 0;
  if (!Number.isInteger(index) || index < 0 || index >= mostCalls) return calls;
  const next = calls.slice();
  while (next.length <= index) next.push({ name: "", arguments: "" });
  const call = next[index]!;
  const said = fields(from["function"]);
  next[index] = { name: call.name + text(said["name"]), arguments: call.arguments + text(said["arguments"]) };
  return next;
}

export function readUsage(value: unknown): Usage | undefined {
  const from = fields(value);
  const prompt = number(from["prompt_tokens"]);
  const generated = number(from["completion_tokens"]);
  if (prompt === undefined || generated === undefined) return undefined;
  return { prompt, generated, cached: number(fields(from["prompt_tokens_details"])["cached_tokens"]) ?? 0 };
}

/** The body of the request for the next answer of a conversation. */
export function chatRequest(model: string, conversation: Conversation): unknown {
  const { system, numbers } = conversation.settings;
  const messages = conversation.messages
    .filter((message) => message.role === "user" || message.content !== "")
    .map(({ role, content }) => ({ role, content }));
  if (system.trim() !== "") messages.unshift({ role: "system" as Message["role"], content: system });
  return { model, messages, ...numbers, ...streamed };
}

/** The body of the request that continues a text. */
export function textRequest(model: string, conversation: Conversation): unknown {
  return { model, prompt: conversation.text, max_tokens: continuationTokens, ...conversation.settings.numbers, ...streamed };
}

/** Of a text, if the settings do not say: servers that follow OpenAI's API would end after 16. */
export const continuationTokens = 200;

const streamed = { stream: true, stream_options: { include_usage: true } };

/** What is known about the speed of an answer, in short phrases; times are in milliseconds. */
export function measurements(answer: Message): string[] {
  const phrases: string[] = [];
  const { usage, startedAt, firstAt, lastAt } = answer;
  if (usage) phrases.push(usage.generated === 1 ? "1 token" : `${usage.generated} tokens`);
  if (usage && firstAt !== undefined && lastAt !== undefined && usage.generated > 1 && lastAt > firstAt + 10)
    phrases.push(`${rate(((usage.generated - 1) * 1000) / (lastAt - firstAt))} tokens/s`);
  if (startedAt !== undefined && firstAt !== undefined)
    phrases.push(`first after ${seconds(firstAt - startedAt)}`);
  if (usage) phrases.push(`prompt ${usage.prompt}` + (usage.cached > 0 ? `, ${usage.cached} of them cached` : ""));
  return phrases;
}

export function rate(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

export function seconds(milliseconds: number): string {
  const value = milliseconds / 1000;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} s`;
}
