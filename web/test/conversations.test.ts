import assert from "node:assert/strict";
import { test } from "node:test";
import { ConversationStore, idOfKey, readConversation, titleOf, type Conversation } from "../src/conversations";
import { parseNumber, readSettings, settings } from "../src/settings";

class MapStorage {
  readonly map = new Map<string, string>();
  room = Infinity;
  get length() {
    return this.map.size;
  }
  key = (index: number) => [...this.map.keys()][index] ?? null;
  getItem = (key: string) => this.map.get(key) ?? null;
  removeItem = (key: string) => void this.map.delete(key);
  setItem = (key: string, value: string) => {
    if (value.length > this.room) throw new Error("QuotaExceededError");
    this.map.set(key, value);
  };
}

const chat: Conversation = {
  id: "c1", kind: "chat", title: "Ü", named: true, changedAt: 5, text: "",
  settings: { system: "s", numbers: { temperature: 0.5, top_k: -1 } },
  messages: [
    { role: "user", content: "hi" },
    {
      role: "assistant", content: "ho", thought: "t", finish: "stop", startedAt: 1, firstAt: 2, thoughtUntil: 2, lastAt: 3,
      usage: { prompt: 1, cached: 0, generated: 2 }, calls: [{ name: "f", arguments: "{}" }],
    },
    { role: "user", content: "hi" },
    { role: "assistant", content: "", error: "refused", status: 400 },
  ],
};
const text: Conversation = {
  id: "t1", kind: "text", title: "T", named: false, changedAt: 9, settings: { system: "", numbers: {} }, messages: [],
  text: "Once upon", continuation: { role: "assistant", content: " upon" },
};

test("what was stored comes back, the newest first", () => {
  const storage = new MapStorage();
  const store = new ConversationStore(storage);
  assert.ok(store.put(chat) && store.put(text));
  storage.setItem("other", "x");
  assert.deepEqual(new ConversationStore(storage).all(), [text, chat]);
  store.remove("t1");
  assert.deepEqual(store.all(), [chat]);
  assert.deepEqual([...storage.map.keys()].map(idOfKey), ["c1", undefined]);
});

test("a full storage is told, and keeps what it had", () => {
  const storage = new MapStorage();
  const store = new ConversationStore(storage);
  store.put(chat);
  storage.room = 10;
  assert.equal(store.put({ ...chat, title: "new" }), false);
  assert.deepEqual(store.all(), [chat]);
});

test("damaged conversations are left out, damaged parts dropped", () => {
  const storage = new MapStorage();
  for (const [i, value] of ["", "{", "null", "[]", "7", '{"id":"x"}', '{"id":"other","kind":"chat"}', '{"id":"d7","kind":"evil"}'].entries())
    storage.setItem(`llmir.conversation.d${i}`, value);
  assert.deepEqual(new ConversationStore(storage).all(), []);
  const damaged = { ...chat, title: 7, settings: { numbers: { temperature: "hot", top_p: 9, seed: 3 } }, messages: [null, { role: "system", content: "x" }, { role: "user", content: {} }] };
  assert.deepEqual(readConversation("c1", damaged), {
    ...chat, title: "", settings: { system: "", numbers: { seed: 3 } }, messages: [{ role: "user", content: "" }],
  });
});

test("titles", () => {
  assert.equal(titleOf("  two\twords \nmore", "x"), "two words");
  assert.equal(titleOf(" \n ", "New chat"), "New chat");
  assert.equal(Array.from(titleOf("🎉".repeat(99), "x")).length, 60);
});

test("numbers of the settings", () => {
  const [temperature, , topK, , mostTokens] = settings;
  assert.equal(parseNumber(temperature!, " 0,7 "), 0.7);
  assert.equal(parseNumber(temperature!, ""), undefined);
  assert.equal(parseNumber(topK!, "-1"), -1);
  assert.equal(parseNumber(temperature!, "2.1"), "Temperature must be a number from 0 to 2.");
  assert.equal(parseNumber(mostTokens!, "1.5"), "Most tokens must be a whole number from 1 to 10000000.");
  assert.match(parseNumber(mostTokens!, "0x") as string, /must be/);
  assert.deepEqual(readSettings(undefined), { system: "", numbers: {} });
});
