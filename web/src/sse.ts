/**
 * Reads a stream of server-sent events. Bytes may arrive in pieces that end anywhere: within a character, between the
 * two characters of a line end, within a line.
 */
export class EventSplitter {
  private readonly decoder = new TextDecoder();
  private line = "";
  private data: string[] = [];
  private afterCarriageReturn = false;

  /** Returns the data of each event that ends within `bytes`. */
  push(bytes: Uint8Array): string[] {
    return this.lines(this.decoder.decode(bytes, { stream: true }));
  }

  /** The connection has ended: as the standard requires, an event without a blank line after it is dropped. */
  finish(): string[] {
    return this.lines(this.decoder.decode());
  }

  private lines(text: string): string[] {
    const events: string[] = [];
    let start = 0;
    for (let i = 0; i < text.length; i++) {
      const character = text[i];
      if (character !== "\n" && character !== "\r") {
        this.afterCarriageReturn = false;
        continue;
      }
      const secondHalf = character === "\n" && this.afterCarriageReturn;
      this.afterCarriageReturn = character === "\r";
      if (!secondHalf) {
        this.endLine(this.line + text.slice(start, i), events);
        this.line = "";
      }
      start = i + 1;
    }
    this.line += text.slice(start);
    return events;
  }

  private endLine(line: string, events: string[]): void {
    if (line === "") {
      if (this.data.length > 0) events.push(this.data.join("\n"));
      this.data = [];
      return;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    if (field !== "data") return; // Comments, and fields that the API does not use.
    const value = colon < 0 ? "" : line.slice(colon + 1);
    this.data.push(value.startsWith(" ") ? value.slice(1) : value);
  }
}
