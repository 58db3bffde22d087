import assert from "node:assert/strict";
import { test } from "node:test";
import { Announcer } from "../src/announcer";
import { barPath, linePath } from "../src/engine/chart";
import { RateHistory, cellLevels, countLevels, duration, gridShape, readEngine } from "../src/engine/state";

test("a screen reader gets complete sentences, and not too often", () => {
  const announcer = new Announcer(0);
  assert.equal(announcer.next("One. Two", 1000), "");
  assert.equal(announcer.next("One. Two", 4000), "One.");
  assert.equal(announcer.next("One. Two. Three. Fo", 5000), "");
  assert.equal(announcer.next("One. Two. Three. Fo", 8000), "Two. Three.");
  assert.equal(announcer.next("One. Two. Three. Four", 99000), "");
  assert.equal(announcer.finish("One. Two. Three. Four"), "Four");
  assert.equal(announcer.finish("One. Two. Three. Four"), "");
});

test("marks are not read aloud", () => {
  assert.equal(new Announcer(0).finish("# Title\n\n**bold** and `code`\n```py\nx = 1\n```\n> quote"), "Title bold and code x = 1 quote");
});

test("the engine's answer, and what is missing in it", () => {
  const state = readEngine({
    model: "m", context_length: 256, max_running: 4, uptime_s: 2.5,
    requests: { running: 1, waiting: 2, waiting_tokens: 30, finished: 4, preemptions: 5 },
    tokens: { prompt: 6, generated: 7, cached: 8 }, cache: { block_size: 16, blocks: 3, free: 1, idle: 1, used: 1 },
    blocks: [0, -1, 2], steps: [{ ms: 1.5, tokens: 9, sequences: 2 }],
  });
  assert.deepEqual(state, {
    model: "m", contextLength: 256, mostRunning: 4, uptime: 2.5,
    requests: { running: 1, waiting: 2, waitingTokens: 30, finished: 4, preemptions: 5 },
    tokens: { prompt: 6, generated: 7, cached: 8 }, cache: { blockSize: 16, blocks: 3 },
    blocks: [0, -1, 2], steps: [{ time: 1.5, tokens: 9, sequences: 2 }],
  });
  assert.deepEqual(readEngine("x").blocks, []);
});

test("levels of blocks", () => {
  const blocks = [0, -1, 1, 2, 3, 4, 5, 99];
  assert.deepEqual(cellLevels(blocks, 1), [0, 1, 2, 3, 4, 4, 5, 5]);
  assert.deepEqual(cellLevels(blocks, 3), [2, 4, 5]);
  assert.deepEqual(countLevels(blocks), [1, 1, 1, 1, 2, 2]);
});

test("the grid fits, with the largest cells that do", () => {
  for (const blocks of [0, 1, 64, 1200, 30000, 1000000])
    for (const width of [300, 900]) {
      const { cell, columns, rows, blocksPerCell } = gridShape(blocks, width, 340);
      assert.ok(columns * cell <= width && rows * cell <= 340 && columns * rows * blocksPerCell >= blocks);
    }
  assert.equal(gridShape(64, 900, 340).cell, 18);
  assert.equal(gridShape(1000000, 900, 340).blocksPerCell, 82);
});

test("rates between two answers, and after a restart", () => {
  const history = new RateHistory(3);
  const add = (generated: number, prompt: number, now: number) => history.add({ generated, prompt, cached: 0 }, now);
  add(100, 10, 1000);
  add(150, 10, 2000);
  add(150, 30, 4000);
  assert.deepEqual([history.generated, history.prompt], [[50, 0], [0, 10]]);
  add(5, 0, 5000);
  assert.equal(history.generated.length, 2);
  add(10, 0, 6000);
  add(20, 0, 7000);
  assert.deepEqual(history.generated, [0, 5, 10]);
});

test("paths of charts have numbers only", () => {
  for (const values of [[], [0], [0, 0], [1, 2, 3], Array.from({ length: 256 }, (_, i) => i)])
    for (const path of [barPath(values, Math.max(0, ...values)), linePath(values, Math.max(0, ...values))]) assert.doesNotMatch(path, /NaN|Infinity|undefined/);
});

test("durations", () => {
  assert.deepEqual([5.9, 65, 3700, 999999].map(duration), ["5 s", "1 min", "1 h 1 min", "11 days"]);
});
