import { fields, list, number, parse, text } from "./json";
import { EventSplitter } from "./sse";

/** A refusal, in the server's own words where it gave some. `status` is 0 if there was no answer at all. */
export class ServerError extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

/** The text that explains a failed request, from OpenAI's form of errors or a plain body. */
export function words(status: number, statusText: string, body: string, retryAfter: string | null): string {
  const answer = fields(parse(body));
  const error = fields(answer["error"]);
  const plain = body.trimStart().startsWith("<") ? "" : body.trim().slice(0, 500);
  const said =
    text(error["message"]) || text(answer["error"]) || text(answer["message"]) || text(answer["detail"]) || plain;
  const sentence = said || `The server answered ${status} ${statusText}`.trim() + ".";
  return retryAfter && /^\d+$/.test(retryAfter) ? `${sentence} Try again in ${retryAfter} s.` : sentence;
}

/** Where the API key is kept until the tab is closed. */
export interface KeyStore {
  get(): string;
  set(key: string): void;
}

const unreachable = "The server does not answer. Is it running, and is the network up?";

export class Client {
  /** Shared by requests that are refused at the same time, so that the key is asked for once. */
  private asking: Promise<string | undefined> | undefined;

  /** `askForKey` gets the server's words and returns a key, or nothing if the user has none. */
  constructor(
    private readonly key: KeyStore,
    private readonly askForKey: (words: string) => Promise<string | undefined>,
  ) {}

  /** The models' names. */
  async models(): Promise<string[]> {
    const answer = fields(await this.json("v1/models"));
    return list(answer["data"])
      .map((model) => text(fields(model)["id"]))
      .filter((id) => id !== "");
  }

  async json(path: string, signal?: AbortSignal): Promise<unknown> {
    const response = await this.request(path, { signal: signal ?? null });
    const answer = parse(await response.text());
    if (answer === undefined) throw new ServerError(`The server's answer for /${path} is not JSON.`, response.status);
    return answer;
  }

  /** The objects that the server streams in answer to `body`; ends after `[DONE]`. */
  async *stream(path: string, body: unknown, signal: AbortSignal): AsyncGenerator<unknown> {
    const response = await this.request(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      signal,
    });
    if (!response.body) throw new ServerError("The server's answer is empty.", response.status);
    const splitter = new EventSplitter();
    const reader = response.body.getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read().catch((error: unknown) => {
          if (signal.aborted) throw error;
          throw new ServerError("The connection was lost before the answer was complete.", response.status);
        });
        for (const data of done ? splitter.finish() : splitter.push(value)) {
          if (data === "[DONE]") return;
          const chunk = parse(data);
          const error = fields(chunk)["error"];
          if (error !== undefined) {
            const failed = number(fields(error)["code"]) ?? response.status;
            throw new ServerError(words(failed, "", data, null), failed);
          }
          yield chunk;
        }
        if (done) throw new ServerError("The connection ended before the answer was complete.", response.status);
      }
    } finally {
      reader.cancel().catch(() => undefined);
    }
  }

  private async request(path: string, init: RequestInit): Promise<Response> {
    for (;;) {
      const key = this.key.get();
      const headers = new Headers(init.headers);
      if (key) headers.set("Authorization", `Bearer ${key}`);
      const response = await fetch(path, { ...init, headers, cache: "no-store", redirect: "error" }).catch(
        (error: unknown) => {
          if (init.signal?.aborted) throw error;
          throw new ServerError(unreachable, 0);
        },
      );
      if (response.ok) return response;
      const said = words(
        response.status,
        response.statusText,
        await response.text().catch(() => ""),
        response.headers.get("Retry-After"),
      );
      // Another request may have got a key in the meantime.
      if (response.status === 401 && (this.key.get() !== key || (await this.newKey(said)))) continue;
      throw new ServerError(said, response.status);
    }
  }

  private async newKey(said: string): Promise<boolean> {
    this.asking ??= this.askForKey(said);
    const key = await this.asking;
    this.asking = undefined;
    if (!key) return false;
    this.key.set(key);
    return true;
  }
}
