import { fields, list, number, text } from "../json";

/** What `GET /engine?blocks=1` says. */
export interface EngineState {
  model: string;
  contextLength: number;
  mostRunning: number;
  uptime: number;
  requests: { running: number; waiting: number; waitingTokens: number; finished: number; preemptions: number };
  /** `prompt`: computed; `cached`: found in the cache instead. */
  tokens: { prompt: number; generated: number; cached: number };
  cache: { blockSize: number; blocks: number };
  /** For each block of the cache: 0 if free, -1 if idle with a kept prefix, otherwise how many sequences use it. */
  blocks: number[];
  /** The last steps, the newest last; times in milliseconds. */
  steps: { time: number; tokens: number; sequences: number }[];
}

export function readEngine(answer: unknown): EngineState {
  const from = fields(answer);
  const requests = fields(from["requests"]);
  const tokens = fields(from["tokens"]);
  const cache = fields(from["cache"]);
  const count = (value: unknown) => number(value) ?? 0;
  return {
    model: text(from["model"]),
    contextLength: count(from["context_length"]),
    mostRunning: count(from["max_running"]),
    uptime: count(from["uptime_s"]),
    requests: {
      running: count(requests["running"]),
      waiting: count(requests["waiting"]),
      waitingTokens: count(requests["waiting_tokens"]),
      finished: count(requests["finished"]),
      preemptions: count(requests["preemptions"]),
    },
    tokens: { prompt: count(tokens["prompt"]), generated: count(tokens["generated"]), cached: count(tokens["cached"]) },
    cache: { blockSize: count(cache["block_size"]), blocks: count(cache["blocks"]) },
    blocks: list(from["blocks"]).map(count),
    steps: list(from["steps"]).map((step) => {
      const each = fields(step);
      return { time: count(each["ms"]), tokens: count(each["tokens"]), sequences: count(each["sequences"]) };
    }),
  };
}

/** How the grid tells blocks apart, in the order of its legend. */
export const levels = ["free", "kept prefix", "1 sequence", "2", "3–4", "5 or more"] as const;

/** The level of a block, an index of `levels`. */
export function levelOf(users: number): number {
  if (users < 0) return 1;
  if (users <= 2) return users === 0 ? 0 : users + 1;
  return users <= 4 ? 4 : 5;
}

export function countLevels(blocks: number[]): number[] {
  const counts = levels.map(() => 0);
  for (const users of blocks) counts[levelOf(users)]!++;
  return counts;
}

export interface GridShape {
  /** The side of a cell with the gap to the next, in pixels. */
  cell: number;
  columns: number;
  rows: number;
  /** How many blocks in succession a cell stands for. */
  blocksPerCell: number;
}

const largestCell = 18;
const smallestCell = 5;

/** The largest cells with which all blocks fit; if the smallest are too many, each stands for several blocks. */
export function gridShape(blocks: number, width: number, highest: number): GridShape {
  for (let cell = largestCell; cell >= smallestCell; cell--) {
    const columns = Math.max(1, Math.floor(width / cell));
    const rows = Math.ceil(blocks / columns);
    if (rows * cell <= highest) return { cell, columns, rows, blocksPerCell: 1 };
  }
  const columns = Math.max(1, Math.floor(width / smallestCell));
  const blocksPerCell = Math.ceil(blocks / (columns * Math.max(1, Math.floor(highest / smallestCell))));
  return { cell: smallestCell, columns, rows: Math.ceil(blocks / blocksPerCell / columns), blocksPerCell };
}

/** The level of each cell: of several blocks, that of the one with the most users. */
export function cellLevels(blocks: number[], blocksPerCell: number): number[] {
  const cells: number[] = [];
  for (let i = 0; i < blocks.length; i += blocksPerCell) {
    let level = 0;
    for (let k = i; k < Math.min(blocks.length, i + blocksPerCell); k++) level = Math.max(level, levelOf(blocks[k]!));
    cells.push(level);
  }
  return cells;
}

/** Rates between the times at which the engine was asked. */
export class RateHistory {
  private last: { at: number; generated: number; prompt: number } | undefined;
  readonly generated: number[] = [];
  readonly prompt: number[] = [];

  constructor(private readonly longest = 120) {}

  /** `now` in milliseconds. A counter that went back belongs to a server that was started again. */
  add(tokens: EngineState["tokens"], now: number): void {
    const { last } = this;
    this.last = { at: now, generated: tokens.generated, prompt: tokens.prompt };
    if (!last || now <= last.at || tokens.generated < last.generated || tokens.prompt < last.prompt) return;
    const time = (now - last.at) / 1000;
    this.generated.push((tokens.generated - last.generated) / time);
    this.prompt.push((tokens.prompt - last.prompt) / time);
    if (this.generated.length > this.longest) this.generated.shift();
    if (this.prompt.length > this.longest) this.prompt.shift();
  }
}

/** A time in seconds as people say it. */
export function duration(time: number): string {
  const minutes = Math.floor(time / 60);
  if (minutes < 1) return `${Math.floor(time)} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 1) return `${minutes} min`;
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}
