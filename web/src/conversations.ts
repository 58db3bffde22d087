import { fields, list, number, parse, text } from "./json";
import { readSettings, type Settings } from "./settings";

export interface ToolCall {
  name: string;
  /** JSON, as far as it has arrived. */
  arguments: string;
}

export interface Usage {
  prompt: number;
  /** Those of the prompt whose keys and values were in the cache. */
  cached: number;
  generated: number;
}

/** Times are in milliseconds since 1970. */
export interface Message {
  role: "user" | "assistant";
  content: string;
  thought?: string;
  thoughtUntil?: number;
  calls?: ToolCall[];
  usage?: Usage;
  /** Why the answer ended, as the API names it; "stopped" if the user ended it. */
  finish?: string;
  /** What went wrong, in the server's words. */
  error?: string;
  /** The HTTP status of the refusal; 0 if there was no answer. */
  status?: number;
  startedAt?: number;
  firstAt?: number;
  lastAt?: number;
}

/** A chat, or a text that the model continues. Never modified: a change makes a new one. */
export interface Conversation {
  id: string;
  kind: "chat" | "text";
  title: string;
  /** Given by the user: it no longer follows from the first message. */
  named: boolean;
  changedAt: number;
  settings: Settings;
  messages: Message[];
  /** Of kind "text": the text, and what the last continuation was. */
  text: string;
  continuation?: Message;
}

/** The part of the browser's storage that is used. */
export type Storage = Pick<globalThis.Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">;

const prefix = "llmir.conversation.";

/** The key of a conversation in the browser's storage, or undefined for the key of something else. */
export function idOfKey(key: string): string | undefined {
  return key.startsWith(prefix) ? key.slice(prefix.length) : undefined;
}

/** Conversations in the browser's storage, each under a key of its own, so that tabs do not overwrite each other's. */
export class ConversationStore {
  constructor(private readonly storage: Storage) {}

  /** All that can be read, the newest first. */
  all(): Conversation[] {
    const found: Conversation[] = [];
    for (let i = 0; i < this.storage.length; i++) {
      const id = idOfKey(this.storage.key(i) ?? "");
      const conversation = id === undefined ? undefined : this.get(id);
      if (conversation) found.push(conversation);
    }
    return found.sort((a, b) => b.changedAt - a.changedAt);
  }

  get(id: string): Conversation | undefined {
    return readConversation(id, parse(this.storage.getItem(prefix + id) ?? ""));
  }

  /** False if there is no room. */
  put(conversation: Conversation): boolean {
    try {
      this.storage.setItem(prefix + conversation.id, JSON.stringify(conversation));
      return true;
    } catch {
      return false;
    }
  }

  remove(id: string): void {
    this.storage.removeItem(prefix + id);
  }
}

/** A stored conversation; undefined if it is not one. */
export function readConversation(id: string, stored: unknown): Conversation | undefined {
  const from = fields(stored);
  const kind = from["kind"];
  if (from["id"] !== id || (kind !== "chat" && kind !== "text")) return undefined;
  const conversation: Conversation = {
    id,
    kind,
    title: text(from["title"]),
    named: from["named"] === true,
    changedAt: number(from["changedAt"]) ?? 0,
    settings: readSettings(from["settings"]),
    messages: list(from["messages"]).flatMap((message) => readMessage(message) ?? []),
    text: text(from["text"]),
  };
  const continuation = readMessage(from["continuation"]);
  if (continuation) conversation.continuation = continuation;
  return conversation;
}

function readMessage(stored: unknown): Message | undefined {
  const from = fields(stored);
  const role = from["role"];
  if (role !== "user" && role !== "assistant") return undefined;
  const message: Message = { role, content: text(from["content"]) };
  for (const name of ["thought", "finish", "error"] as const) if (text(from[name])) message[name] = text(from[name]);
  for (const name of ["thoughtUntil", "status", "startedAt", "firstAt", "lastAt"] as const) {
    const value = number(from[name]);
    if (value !== undefined) message[name] = value;
  }
  const usage = fields(from["usage"]);
  const [prompt, cached, generated] = [usage["prompt"], usage["cached"], usage["generated"]].map(number);
  if (prompt !== undefined && cached !== undefined && generated !== undefined)
    message.usage = { prompt, cached, generated };
  const calls = list(from["calls"]).map(fields);
  if (calls.length > 0)
    message.calls = calls.map((call) => ({ name: text(call["name"]), arguments: text(call["arguments"]) }));
  return message;
}

/** A title from the beginning of a text. */
export function titleOf(content: string, otherwise: string): string {
  const line = content.trim().split(/\n/, 1)[0]!.replace(/\s+/g, " ").trim();
  const characters = Array.from(line);
  return characters.length > 60 ? characters.slice(0, 59).join("").trimEnd() + "…" : line || otherwise;
}
