/**
 * Decides what a screen reader says of an answer while it is streamed: complete sentences, and not more often than every
 * few seconds, so that the reader is neither interrupted nor flooded.
 */
export class Announcer {
  private said = 0;
  private saidAt: number;

  constructor(
    now: number,
    private readonly interval = 4000,
  ) {
    this.saidAt = now;
  }

  /** What is to be said now of an answer that is `text` so far; "" for nothing. */
  next(text: string, now: number): string {
    if (now - this.saidAt < this.interval) return "";
    let end = 0;
    for (const match of text.slice(this.said).matchAll(/[.!?…:]["')\]]*\s|\n|[。！？]/g)) end = match.index! + match[0].length;
    return end === 0 ? "" : this.say(text, this.said + end, now);
  }

  /** The rest of the complete answer. */
  finish(text: string): string {
    return this.say(text, text.length, this.saidAt);
  }

  private say(text: string, end: number, now: number): string {
    const part = text.slice(this.said, end);
    this.said = end;
    this.saidAt = now;
    return plain(part);
  }
}

/** Markdown without the marks that would be read aloud. */
export function plain(markdown: string): string {
  return markdown
    .replace(/^\s*(```|~~~).*$/gm, "")
    .replace(/^\s{0,3}(#{1,6}|>)\s+/gm, "")
    .replace(/[*_`|]+/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}
