// Compares LLMIR's tokenizers with an independent implementation, the npm
// package "tokenizers" (Hugging Face, Rust), on random Unicode:
//
//   npm install --prefix /tmp/diff tokenizers
//   node test/Tokenizer/differential.mjs PROBE /tmp/diff DATA/tokenizers [COUNT] [SEED]
//
// PROBE is bin/tests/llmir-tokenizer-probe of the build folder. Prints how many
// strings were compared per tokenizer, and the first differences; exits with 1
// where there is one.
import { createRequire } from 'node:module';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const [probe, prefix, root, countText, seedText] = process.argv.slice(2);
if (!root) {
  console.error('usage: differential.mjs PROBE NPM_PREFIX TOKENIZERS [COUNT] [SEED]');
  process.exit(2);
}
const require = createRequire(path.resolve(prefix) + '/');
const { Tokenizer } = require('tokenizers');

// A small generator with a seed: the same strings on every machine.
let state = BigInt(seedText ?? 1) * 2654435769n + 1n;
function random(below) {
  state = (state * 6364136223846793005n + 1442695040888963407n) & ((1n << 64n) - 1n);
  return Number((state >> 33n) % BigInt(below));
}

// Ranges of characters: what pre-tokenizers tell apart, and all of Unicode.
const ranges = [
  [0x20, 0x7e], [0x20, 0x7e], [0x09, 0x0d], [0x20, 0x20], [0x30, 0x39], [0x27, 0x27],
  [0x00, 0x1f], [0x80, 0xff], [0x100, 0x24f], [0x300, 0x36f], [0x370, 0x3ff], [0x400, 0x4ff],
  [0x590, 0x6ff], [0x900, 0xdff], [0xe00, 0xeff], [0x1100, 0x11ff], [0x1680, 0x1680], [0x180e, 0x180e],
  [0x2000, 0x206f], [0x2070, 0x218f], [0x2460, 0x24ff], [0x2581, 0x2581], [0x3000, 0x30ff],
  [0x4e00, 0x9fff], [0xac00, 0xd7a3], [0xe000, 0xe0ff], [0xf900, 0xfaff], [0xfe00, 0xfe0f], [0xff00, 0xffef],
  [0x10000, 0x103ff], [0x1d400, 0x1d7ff], [0x1f300, 0x1faff], [0x20000, 0x2a6df], [0, 0x10ffff],
];
const words = ["'s", "'S", "'re", "'LL", "don't", "I'VE", ' the', 'Hello', '\r\n', '\n\n', '   ', '\t',
  '<s>', '</s>', '<unk>', '<|im_start|>', '<|im_end|>', '<|endoftext|>', '<|begin_of_text|>', '<|eot_id|>',
  '<0x41>', '123456', '3.14', 'ſ', 'İ', 'ǅ', 'é', 'e\u0301', '가', '👩‍👩‍👧', '...', '==='];
function character() {
  const [low, high] = ranges[random(ranges.length)];
  const c = low + random(high - low + 1);
  return c >= 0xd800 && c <= 0xdfff ? '\ufffd' : String.fromCodePoint(c);
}
function text() {
  let out = '';
  for (let n = 1 + random(24); n > 0; --n) {
    if (random(4) === 0) {
      out += words[random(words.length)];
    } else {
      const c = character();
      out += c.repeat(random(8) === 0 ? 1 + random(12) : 1);
      const [low, high] = ranges[random(ranges.length)];
      for (let k = random(6); k > 0; --k) {
        const code = low + random(high - low + 1);
        out += code >= 0xd800 && code <= 0xdfff ? 'x' : String.fromCodePoint(code);
      }
    }
  }
  return out;
}

const count = Number(countText ?? 2000);
const texts = Array.from({ length: count }, text);
let failed = false;
for (const name of fs.readdirSync(root).sort()) {
  const folder = path.join(root, name);
  const reference = Tokenizer.fromFile(path.join(folder, 'tokenizer.json'));
  const input = texts.map((t) => JSON.stringify({ text: t })).join('\n') + '\n';
  const result = spawnSync(probe, [folder], { input, maxBuffer: 1 << 30, encoding: 'utf8' });
  if (result.status !== 0) {
    console.error(`${name}: the probe failed: ${result.stderr}`);
    process.exit(1);
  }
  const lines = result.stdout.trimEnd().split('\n').map((l) => JSON.parse(l));
  let idsDiffer = 0, textsDiffer = 0;
  for (let i = 0; i < count; ++i) {
    const ids = [...(await reference.encode(texts[i], null, { addSpecialTokens: true })).getIds()];
    const plain = [...(await reference.encode(texts[i], null, { addSpecialTokens: false })).getIds()];
    const decoded = await reference.decode(plain, false);
    const skipped = await reference.decode(ids, true);
    // Ids in reverse: rows of byte tokens that are not characters.
    const reversed = await reference.decode([...plain].reverse(), false);
    const own = lines[i];
    const same = (a, b) => a.length === b.length && a.every((x, k) => x === b[k]);
    if (!same(own.ids, ids) || !same(own.plain, plain)) {
      if (++idsDiffer <= 3)
        console.log(`${name}: ${JSON.stringify(texts[i])}\n  reference ${plain}\n  llmir     ${own.plain}`);
    } else if (own.decoded !== decoded || own.skipped !== skipped || own.reversed !== reversed) {
      if (++textsDiffer <= 3)
        console.log(`${name}: decoding ${JSON.stringify(texts[i])}\n  ${JSON.stringify([decoded, skipped, reversed])}\n  ${JSON.stringify([own.decoded, own.skipped, own.reversed])}`);
    }
  }
  failed ||= idsDiffer + textsDiffer > 0;
  console.log(`${name}: ${count} strings, ${idsDiffer} with other ids, ${textsDiffer} with other decoded text`);
}
process.exit(failed ? 1 : 0);
