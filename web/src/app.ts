import { addChunk, chatRequest, textRequest } from "./answer";
import { Announcer } from "./announcer";
import { Client, ServerError } from "./client";
import { ConversationStore, idOfKey, titleOf, type Conversation, type Message } from "./conversations";
import { Observable } from "./hooks";
import { parse } from "./json";
import { defaultSettings, readSettings, type Settings } from "./settings";

/** An answer that is being streamed. */
interface Stream {
  readonly abort: AbortController;
  /** The answer as far as it has arrived; the conversation gets it a few times per second. */
  answer: Message;
  shownAt: number;
  /** How long it took to show it the last time. */
  cost: number;
  timer: number | undefined;
}

const settingsKey = "llmir.settings";
const apiKey = "llmir.key";
/** Between two updates of the page while an answer is streamed, and between two writes to the storage. */
const shownEvery = 60;
const storedEvery = 1000;
const askAgainAfter = 2000;

/** The state of the page, and what the user can do. */
export class App extends Observable {
  readonly client: Client;
  private readonly store = new ConversationStore(localStorage);
  private readonly streams = new Map<string, Stream>();
  private readonly storedAt = new Map<string, number>();
  /** The newest first. */
  conversations: Conversation[];
  /** The open one: a new one is not in the list before its first message. */
  current: Conversation;
  view: "conversation" | "engine" = "conversation";
  models: string[] = [];
  model = "";
  /** What is wrong with the server or the storage, for the whole page. */
  trouble = "";
  /** The server's words, while it asks for a key. */
  keyWanted = "";
  private answerKey: ((key: string | undefined) => void) | undefined;
  /** What a screen reader is to say. */
  announcements: { id: number; text: string }[] = [];
  private announced = 0;

  constructor() {
    super();
    this.client = new Client(
      { get: () => sessionStorage.getItem(apiKey) ?? "", set: (key) => sessionStorage.setItem(apiKey, key) },
      (said) => this.askForKey(said),
    );
    this.conversations = this.store.all();
    this.current = this.conversations[0] ?? this.empty("chat");
    window.addEventListener("storage", (event) => this.changedElsewhere(event.key));
    window.addEventListener("pagehide", () => this.storeStreams());
    void this.loadModels();
  }

  async loadModels(): Promise<void> {
    try {
      this.models = await this.client.models();
      if (!this.models.includes(this.model)) this.model = this.models[0] ?? "";
      this.trouble = this.model ? "" : "The server offers no model.";
    } catch (error) {
      this.trouble = message(error);
      // The server is loading its model.
      if (error instanceof ServerError && error.status === 503) window.setTimeout(() => void this.loadModels(), askAgainAfter);
    }
    this.changed();
  }

  chooseModel(model: string): void {
    this.model = model;
    this.changed();
  }

  show(view: App["view"]): void {
    this.view = view;
    this.changed();
  }

  //--- Conversations

  start(kind: Conversation["kind"]): void {
    this.current = this.empty(kind);
    this.show("conversation");
  }

  select(id: string): void {
    const found = this.conversations.find((each) => each.id === id);
    if (found) this.current = found;
    this.show("conversation");
  }

  rename(id: string, title: string): void {
    this.update(id, (conversation) => ({ ...conversation, title: title.trim() || conversation.title, named: true }));
  }

  remove(id: string): void {
    this.stop(id);
    this.streams.delete(id);
    this.store.remove(id);
    this.conversations = this.conversations.filter((each) => each.id !== id);
    if (this.current.id === id) this.current = this.conversations[0] ?? this.empty("chat");
    this.changed();
  }

  changeSettings(settings: Settings): void {
    localStorage.setItem(settingsKey, JSON.stringify(settings));
    if (this.conversations.includes(this.current)) this.update(this.current.id, (each) => ({ ...each, settings }));
    else this.current = { ...this.current, settings };
    this.changed();
  }

  private empty(kind: Conversation["kind"]): Conversation {
    const stored = localStorage.getItem(settingsKey);
    return {
      id: newId(),
      kind,
      title: kind === "chat" ? "New chat" : "New text",
      named: false,
      changedAt: Date.now(),
      settings: stored ? readSettings(parse(stored)) : defaultSettings,
      messages: [],
      text: "",
    };
  }

  private update(id: string, change: (conversation: Conversation) => Conversation): void {
    const before = this.current.id === id ? this.current : this.conversations.find((each) => each.id === id);
    if (!before) return;
    const after = change(before);
    if (this.current.id === id) this.current = after;
    const known = this.conversations.some((each) => each.id === id);
    this.conversations = known
      ? this.conversations.map((each) => (each.id === id ? after : each))
      : [after, ...this.conversations];
    const now = Date.now();
    if (!this.streams.has(id) || now - (this.storedAt.get(id) ?? 0) >= storedEvery) this.storeNow(after, now);
    this.changed();
  }

  private storeNow(conversation: Conversation, now: number): void {
    this.storedAt.set(conversation.id, now);
    if (!this.store.put(conversation))
      this.trouble = "The browser's storage is full: this conversation is lost when the page is closed. Delete others.";
  }

  private storeStreams(): void {
    for (const id of this.streams.keys()) {
      this.flush(id);
      const conversation = this.conversations.find((each) => each.id === id);
      if (conversation) this.storeNow(conversation, Date.now());
    }
  }

  /** Another tab has changed the storage. */
  private changedElsewhere(key: string | null): void {
    const id = key === null ? undefined : idOfKey(key);
    if (key !== null && (id === undefined || this.streams.has(id))) return;
    this.conversations = this.store.all();
    this.current = this.conversations.find((each) => each.id === this.current.id) ?? this.current;
    this.changed();
  }

  //--- Answers

  isStreaming(id: string): boolean {
    return this.streams.has(id);
  }

  /** Adds the user's message to the open chat, and asks for the answer. */
  send(content: string): void {
    this.sendAt(this.current.messages.length, content);
  }

  /** Replaces the message at `index` and all after it. */
  sendAt(index: number, content: string): void {
    const { id } = this.current;
    if (this.isStreaming(id) || content.trim() === "") return;
    this.update(id, (chat) => {
      const messages = [...chat.messages.slice(0, index), { role: "user" as const, content }];
      const title = chat.named || index > 0 ? chat.title : titleOf(content, "New chat");
      return { ...chat, messages, title, changedAt: Date.now() };
    });
    void this.answer(id);
  }

  /** Asks again for the answer at `index`; what comes after it is dropped. */
  regenerate(index: number): void {
    const { id } = this.current;
    if (this.isStreaming(id)) return;
    this.update(id, (chat) => ({ ...chat, messages: chat.messages.slice(0, index) }));
    void this.answer(id);
  }

  changeText(text: string): void {
    this.update(this.current.id, ({ continuation: _, ...each }) => ({
      ...each,
      text,
      title: each.named ? each.title : titleOf(text, "New text"),
      changedAt: Date.now(),
    }));
  }

  /** Continues the open text. */
  continueText(): void {
    const { id, text } = this.current;
    if (!this.isStreaming(id) && text !== "") void this.answer(id);
  }

  /** Takes the last continuation back. */
  undoText(): void {
    const { continuation, text } = this.current;
    if (continuation && text.endsWith(continuation.content))
      this.changeText(text.slice(0, text.length - continuation.content.length));
  }

  /** Opens a text with what the last message of the open chat says. */
  completeInstead(): void {
    const asked = this.current.messages.filter((each) => each.role === "user").pop();
    this.start("text");
    if (asked) this.changeText(asked.content);
  }

  stop(id: string): void {
    this.streams.get(id)?.abort.abort();
  }

  private async answer(id: string): Promise<void> {
    const conversation = this.conversations.find((each) => each.id === id)!;
    const isChat = conversation.kind === "chat";
    const body = isChat ? chatRequest(this.model, conversation) : textRequest(this.model, conversation);
    const stream: Stream = {
      abort: new AbortController(),
      answer: { role: "assistant", content: "", startedAt: Date.now() },
      shownAt: 0,
      cost: 0,
      timer: undefined,
    };
    const announcer = new Announcer(Date.now());
    this.streams.set(id, stream);
    this.update(id, (each) =>
      isChat ? { ...each, messages: [...each.messages, stream.answer] } : { ...each, continuation: stream.answer },
    );
    this.announce(isChat ? "The model is answering." : "The model is writing.");
    try {
      const path = isChat ? "v1/chat/completions" : "v1/completions";
      for await (const chunk of this.client.stream(path, body, stream.abort.signal)) {
        stream.answer = addChunk(stream.answer, chunk, Date.now());
        this.showSoon(id, stream);
        this.announce(announcer.next(stream.answer.content, Date.now()));
      }
    } catch (error) {
      const how = stream.abort.signal.aborted ? { finish: "stopped" } : { error: message(error), ...(error instanceof ServerError ? { status: error.status } : {}) };
      stream.answer = { ...stream.answer, ...how };
    }
    if (this.streams.get(id) !== stream) return; // The conversation was deleted.
    this.flush(id);
    this.streams.delete(id);
    this.update(id, (each) => ({ ...each, changedAt: Date.now() }));
    this.announce(announcer.finish(stream.answer.content));
    this.announce(ending(stream.answer));
  }

  private showSoon(id: string, stream: Stream): void {
    if (stream.timer !== undefined) return;
    const wait = Math.max(0, stream.shownAt + Math.max(shownEvery, 3 * stream.cost) - Date.now());
    stream.timer = window.setTimeout(() => this.flush(id), wait);
  }

  /** Puts what has arrived into the conversation. */
  private flush(id: string): void {
    const stream = this.streams.get(id);
    if (!stream) return;
    window.clearTimeout(stream.timer);
    stream.timer = undefined;
    stream.shownAt = Date.now();
    const { answer } = stream;
    this.update(id, (each) => {
      if (each.kind === "chat") return { ...each, messages: [...each.messages.slice(0, -1), answer] };
      const before = each.text.length - (each.continuation?.content.length ?? 0);
      return { ...each, text: each.text.slice(0, before) + answer.content, continuation: answer };
    });
    // Long answers take long to show: they are shown less often, so that the page can still be used.
    window.setTimeout(() => (stream.cost = Date.now() - stream.shownAt));
  }

  private announce(text: string): void {
    if (text === "") return;
    this.announcements = [...this.announcements.slice(-9), { id: this.announced++, text }];
    this.changed();
  }

  //--- The key

  private askForKey(said: string): Promise<string | undefined> {
    this.keyWanted = said;
    this.changed();
    return new Promise((resolve) => (this.answerKey = resolve));
  }

  giveKey(key: string | undefined): void {
    this.keyWanted = "";
    this.answerKey?.(key);
    this.answerKey = undefined;
    this.changed();
  }
}

function message(error: unknown): string {
  return error instanceof ServerError ? error.message : `The page failed: ${String(error)}`;
}

function ending(answer: Message): string {
  if (answer.error) return `Error: ${answer.error}`;
  if (answer.finish === "stopped") return "Stopped.";
  return answer.finish === "length" ? "The answer was cut off." : "The answer is complete.";
}

/** Browsers offer randomUUID() only to pages that came over TLS or from this machine. */
function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
