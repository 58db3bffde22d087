// Tests the built page in headless Chromium, against a server that says what the test wrote down:
// node test/browser.mjs [PART OF A TEST'S NAME]
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { launch } from "./chromium.mjs";
import { startServer } from "./scripted_server.mjs";

const folder = path.dirname(fileURLToPath(import.meta.url));
const html = await readFile(path.join(folder, "../dist/index.html"), "utf8");
const browser = await launch();
const tests = [];
const test = (name, options, body) => tests.push({ name, options, body });

const words = (text) => text.match(/[^]{1,5}/gu).map((content) => ({ content }));
const usage = { prompt_tokens: 40, completion_tokens: 21, prompt_tokens_details: { cached_tokens: 32 } };
const say = (text, more = {}) => () => ({ deltas: words(text), usage, ...more });
const lastAnswer = (page) => page.locator(".message.assistant").last();

async function send(page, text) {
  await page.getByLabel("Message", { exact: true }).fill(text);
  await page.keyboard.press("Enter");
}

async function finished(page) {
  await lastAnswer(page).locator(".actions").waitFor();
}

test("an answer is streamed, in pieces that end within characters", { script: say("Grüße, 世界 🎉: **bold** and `code`.", { pieceBytes: 1 }) },
  async ({ page, server }) => {
    await page.getByText("model-1b").first().waitFor();
    await send(page, "Hello");
    await finished(page);
    assert.equal(await lastAnswer(page).locator(".markdown").innerText(), "Grüße, 世界 🎉: bold and code.");
    assert.equal(await lastAnswer(page).locator("strong").innerText(), "bold");
    assert.match(await lastAnswer(page).locator(".measured").innerText(), /21 tokens · .*first after .* · prompt 40, 32 of them cached/);
    assert.deepEqual(server.requests, [
      { model: "scripted/model-1b", messages: [{ role: "user", content: "Hello" }], stream: true, stream_options: { include_usage: true } },
    ]);
    assert.equal(await page.title(), "Hello – LLMIR");
  });

const hostile = `<img src=x onerror="hacked=1"> <script>hacked=1</script>
<svg onload=hacked=1> <iframe src="javascript:hacked=1"></iframe> <style>*{display:none}</style>

![pixel](ELSEWHERE/pixel.png) ![x](javascript:hacked=1) [js](javascript:hacked=1) [data](data:text/html,<script>hacked=1</script>)
[local](/v1/models) [out](ELSEWHERE/out) <a href="ELSEWHERE/a" ping="ELSEWHERE/ping">a</a> <link rel=stylesheet href=ELSEWHERE/css>

\`\`\`"><script>hacked=1</script>
</code></pre><script>hacked=1</script>
\`\`\`

| <b onmouseover=hacked=1>x</b> | <meta http-equiv=refresh content="0;url=ELSEWHERE"> |
|---|---|
| <form action=ELSEWHERE><input name=x></form> | <base href=ELSEWHERE> |
`;

test("nothing that the model says is executed or fetched", {
  script: (path, body) => ({ deltas: [...words(body.messages.at(-1).content).map(({ content }) => ({ reasoning_content: content })), ...words(body.messages.at(-1).content), { tool_calls: [{ index: 0, function: { name: "<img src=x onerror=hacked=1>", arguments: hostile } }] }] }),
}, async ({ page, server }) => {
  const elsewhere = await startServer({ page: "" , script: say("") });
  const text = hostile.replaceAll("ELSEWHERE", elsewhere.url.slice(0, -1));
  await send(page, text);
  await finished(page);
  await page.locator(".thought summary").click();
  await page.waitForTimeout(300);
  assert.equal(await page.evaluate(() => "hacked" in window), false);
  const inMessages = (selector) => page.locator(`.messages ${selector}`).count();
  for (const element of ["img", "script", "iframe", "style", "link", "meta", "base", "form", "object", "svg:not(.icon)", "[onerror]", "[onmouseover]", "[ping]", "[style]"])
    assert.equal(await inMessages(element), 0, element);
  const addresses = await page.locator(".messages a").evaluateAll((links) => links.map((link) => [link.href, link.rel, link.target]));
  assert.ok(addresses.length >= 4);
  for (const [href, rel, target] of addresses) {
    assert.ok(href.startsWith(elsewhere.url), href);
    assert.deepEqual([rel, target], ["noopener noreferrer nofollow", "_blank"]);
  }
  assert.deepEqual(elsewhere.paths, []);
  assert.deepEqual([...new Set(server.paths)], ["/", "/v1/models", "/v1/chat/completions"]);
  await page.reload();
  await finished(page);
  assert.equal(await page.evaluate(() => "hacked" in window), false);
  await elsewhere.close();
});

test("the policy stops what the page itself would not do", { script: say("x"), expectedErrors: /Content Security Policy|Trusted|Failed to load/ }, async ({ page }) => {
  const blocked = await page.evaluate(async () => {
    const violations = new Set();
    document.addEventListener("securitypolicyviolation", (event) => violations.add(event.effectiveDirective));
    const add = (name, properties) => document.body.append(Object.assign(document.createElement(name), properties));
    add("img", { src: "/favicon.ico" });
    add("style", { textContent: "*{color:red}" });
    add("iframe", { src: "/" });
    try { add("script", { textContent: "window.hacked=1" }); } catch { violations.add("script"); }
    try { document.body.innerHTML = "<b>x</b>"; } catch { violations.add("innerHTML"); }
    await fetch("http://127.0.0.1:9/").catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 200));
    try { window.eval("1"); } catch { violations.add("eval"); } // Not before: a debugger's own call may evaluate.
    return [...violations, "hacked" in window];
  });
  for (const name of ["img-src", "style-src-elem", "frame-src", "script", "innerHTML", "eval", "connect-src", false]) assert.ok(blocked.includes(name), `${name} in ${blocked}`);
});

test("thoughts are folded, and opened by the keyboard", { script: () => ({ deltas: [{ reasoning_content: "Let me *think*." }, { content: "Done." }] }) }, async ({ page }) => {
  await send(page, "Why?");
  await finished(page);
  assert.equal(await lastAnswer(page).getByText("think").isVisible(), false);
  await lastAnswer(page).locator("summary").focus();
  await page.keyboard.press("Enter");
  assert.equal(await lastAnswer(page).locator(".thought em").isVisible(), true);
  assert.match(await lastAnswer(page).locator("summary").innerText(), /^Thought for \d/);
});

test("an answer can be stopped, and asked for again", { script: say("word ".repeat(400), { pieceDelay: 10 }) }, async ({ page, server }) => {
  await send(page, "Go on");
  await lastAnswer(page).getByText("word word").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("Stopped.", { exact: true }).first().waitFor();
  const { length } = await lastAnswer(page).locator(".markdown").innerText();
  assert.ok(length > 5 && length < 1900);
  await page.getByRole("button", { name: "Answer again" }).click();
  await page.getByRole("button", { name: "Stop" }).click();
  await finished(page);
  assert.equal(server.requests.length, 2);
  assert.deepEqual(server.requests[0], server.requests[1]);
});

test("a message can be edited: what follows is dropped", { script: (path, body) => ({ deltas: words(`You said ${body.messages.at(-1).content}.`) }) }, async ({ page, server }) => {
  await send(page, "one");
  await finished(page);
  await send(page, "two");
  await page.locator(".message", { hasText: "You said two." }).waitFor();
  await page.locator(".message.user").first().hover();
  await page.getByRole("button", { name: "Edit message" }).first().click();
  await page.getByLabel("Edited message").fill("three");
  await page.keyboard.press("Enter");
  await page.locator(".message", { hasText: "You said three." }).waitFor();
  assert.equal(await page.locator(".message").count(), 2);
  assert.deepEqual(server.requests[1].messages.map((message) => message.content), ["one", "You said one.", "two"]);
  assert.deepEqual(server.requests[2].messages, [{ role: "user", content: "three" }]);
});

test("settings become the request", { script: say("x") }, async ({ page, server }) => {
  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByLabel("Temperature").fill("3");
  assert.equal(await page.getByText("Temperature must be a number from 0 to 2.").isVisible(), true);
  assert.equal(await page.getByRole("button", { name: "Save" }).isDisabled(), true);
  const values = { "System prompt": "Be brief.", Temperature: "0.5", "Top p": "0.9", "Top k": "40", "Min p": "0.05", "Most tokens": "100", Seed: "7" };
  for (const [label, value] of Object.entries(values)) await page.getByLabel(label).fill(value);
  await page.getByRole("button", { name: "Save" }).click();
  await page.reload();
  await send(page, "Hi");
  await finished(page);
  const { model, stream, stream_options, ...rest } = server.requests[0];
  assert.deepEqual(rest, {
    messages: [{ role: "system", content: "Be brief." }, { role: "user", content: "Hi" }],
    temperature: 0.5, top_p: 0.9, top_k: 40, min_p: 0.05, max_tokens: 100, seed: 7,
  });
});

test("conversations are kept, renamed and deleted", { script: say("Fine.") }, async ({ page }) => {
  await send(page, "First <b>chat</b>");
  await finished(page);
  await page.getByRole("button", { name: "New chat" }).click();
  await send(page, "Second chat");
  await finished(page);
  const titles = () => page.locator(".conversations .row").allInnerTexts();
  assert.deepEqual(await titles(), ["Second chat", "First <b>chat</b>"]);
  await page.getByRole("button", { name: "Rename “Second chat”" }).click();
  await page.getByLabel("Title").fill("Renamed");
  await page.keyboard.press("Enter");
  await page.reload();
  assert.deepEqual(await titles(), ["Renamed", "First <b>chat</b>"]);
  await page.locator(".conversations .row", { hasText: "First" }).click();
  await page.locator(".bubble", { hasText: "First <b>chat</b>" }).waitFor();
  await page.getByRole("button", { name: "Delete “First" }).click();
  await page.getByRole("button", { name: "Cancel" }).click();
  assert.equal((await titles()).length, 2);
  await page.getByRole("button", { name: "Delete “First" }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.locator(".bubble", { hasText: "Second chat" }).waitFor();
  await page.reload();
  assert.deepEqual(await titles(), ["Renamed"]);
});

test("a refusal is shown in the server's words, and the text can be continued instead", {
  script: (path) => path === "/v1/completions" ? { deltas: [" was", " the", " word."], usage } : { status: 400, error: "The model has no chat template." },
  expectedErrors: /400/,
}, async ({ page, server }) => {
  await send(page, "In the beginning");
  await lastAnswer(page).getByText("The model has no chat template.").waitFor();
  await page.getByRole("button", { name: "Let the model continue the text instead" }).click();
  const text = page.getByLabel("Text", { exact: true });
  assert.equal(await text.inputValue(), "In the beginning");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText("21 tokens").waitFor();
  assert.equal(await text.inputValue(), "In the beginning was the word.");
  assert.deepEqual(server.requests[1], { model: "scripted/model-1b", prompt: "In the beginning", max_tokens: 200, stream: true, stream_options: { include_usage: true } });
  await page.getByRole("button", { name: "Take back" }).click();
  assert.equal(await text.inputValue(), "In the beginning");
});

test("errors in a stream, and streams that break off", {
  script: (path, body) => body.messages.length === 1 ? { deltas: words("Some text"), breakOff: true } : { deltas: words("More"), error: { message: "The model failed: out of blocks.", code: 500 } },
  expectedErrors: /ERR_INCOMPLETE_CHUNKED_ENCODING/,
}, async ({ page }) => {
  await send(page, "Hi");
  await lastAnswer(page).getByText("The connection was lost before the answer was complete.").waitFor();
  assert.equal(await lastAnswer(page).locator(".markdown").innerText(), "Some text");
  await send(page, "Again");
  await lastAnswer(page).getByText("The model failed: out of blocks.").waitFor();
});

test("the key is asked for, sent, and kept for the tab", { script: say("Secret."), key: "k1", expectedErrors: /401/ }, async ({ page }) => {
  await page.getByText("This server wants an API key.").waitFor();
  await page.locator("dialog input").fill("wrong");
  await page.keyboard.press("Enter");
  await page.waitForTimeout(200);
  await page.locator("dialog input").fill("k1");
  await page.keyboard.press("Enter");
  await send(page, "Hi");
  await page.locator(".markdown", { hasText: "Secret." }).waitFor();
  await page.reload();
  await page.locator(".model", { hasText: "scripted/model-1b" }).waitFor();
  assert.equal(await page.locator("dialog").count(), 0);
  assert.equal(await page.evaluate(() => Object.values(localStorage).some((value) => value.includes("k1"))), false);
  await page.evaluate(() => sessionStorage.clear());
  await page.reload();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("alert").getByText("This server wants an API key.").waitFor();
});

const blocks = Array.from({ length: 300 }, (_, i) => (i < 30 ? 6 : i < 100 ? 1 : i < 150 ? -1 : 0));
let generated = 0;
const engine = () => ({
  model: "scripted/model-1b", context_length: 4096, max_running: 8, uptime_s: 61,
  requests: { running: 2, waiting: 3, waiting_tokens: 1234, finished: 5, preemptions: 1 },
  tokens: { prompt: 100, generated: (generated += 50), cached: 50 },
  cache: { block_size: 16, blocks: 300, free: 150, idle: 50, used: 100 }, blocks,
  steps: [{ ms: 10, tokens: 4, sequences: 2 }, { ms: 12.5, tokens: 6, sequences: 3 }],
});

test("the live view shows the engine, and asks only while it is seen", { script: say("x"), engine }, async ({ page, server }) => {
  const asked = () => server.paths.filter((path) => path.startsWith("/engine")).length;
  assert.equal(asked(), 0);
  await page.getByRole("button", { name: "Engine" }).click();
  await page.getByText("of at most 8").waitFor();
  for (const text of ["1,234 tokens", "33 % of prompts", "300 blocks of 16 tokens."]) await page.getByText(text).waitFor();
  await page.getByRole("img", { name: "Step time: now 12.5 ms, at most 12.5 ms" }).waitFor();
  await page.getByRole("img", { name: /^Generated: now \d.*tokens\/s/ }).waitFor({ timeout: 30000 });
  assert.deepEqual(await page.locator(".legend strong").allInnerTexts(), ["150", "50", "70", "0", "0", "30"]);
  const colors = await page.locator("canvas").evaluate((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const found = new Set();
    for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255) found.add(`${data[i]} ${data[i + 1]} ${data[i + 2]}`);
    return found.size;
  });
  assert.equal(colors, 4);
  await page.locator("canvas").hover({ position: { x: 3, y: 3 } });
  await page.getByText("Block 0: used by 6 sequences.").waitFor();
  const hide = (state) => page.evaluate((value) => {
    Object.defineProperty(document, "visibilityState", { value, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, state);
  await hide("hidden");
  await page.waitForTimeout(100);
  let count = asked();
  await page.waitForTimeout(1500);
  assert.equal(asked(), count);
  await hide("visible");
  await page.waitForTimeout(300);
  assert.equal(asked(), count + 1);
  await page.getByRole("button", { name: "New chat" }).click();
  await page.waitForTimeout(100);
  count = asked();
  await page.waitForTimeout(1500);
  assert.equal(asked(), count);
});

test("the keyboard suffices", { script: say("Fine."), engine }, async ({ page, server }) => {
  const focused = () => page.evaluate(() => document.activeElement.getAttribute("aria-label") ?? document.activeElement.innerText);
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("Tab"); // After the last element comes the browser.
  const order = [];
  for (let i = 0; i < 7; i++) {
    await page.keyboard.press("Tab");
    order.push(await focused());
  }
  assert.deepEqual(order, ["Skip to the message", "New chat", "New text", "Engine", "Settings", "write a text", "Message"]);
  await page.keyboard.type("one");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("two");
  await page.keyboard.press("Enter");
  await finished(page);
  assert.equal(server.requests[0].messages[0].content, "one\ntwo");
  await page.getByRole("button", { name: "Settings" }).focus();
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.closest("dialog") !== null), true);
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.activeElement.getAttribute("aria-label") === "Settings");
});

test("what a screen reader gets", { script: say(`# Title\n\n${"A sentence with some words. ".repeat(40)}\n\n\`\`\`js\nlet x;\n\`\`\``, { pieceDelay: 30 }), engine }, async ({ page }) => {
  await page.evaluate(() => {
    window.said = [];
    const region = document.querySelector("[aria-live=polite]");
    new MutationObserver((records) => records.forEach((record) => record.addedNodes.forEach((node) => window.said.push(node.textContent)))).observe(region, { childList: true });
  });
  const start = Date.now();
  await send(page, "Tell me");
  await finished(page);
  const seconds = (Date.now() - start) / 1000;
  await page.waitForTimeout(200);
  const said = await page.evaluate(() => window.said);
  assert.equal(said[0], "The model is answering.");
  assert.equal(said.at(-1), "The answer is complete.");
  assert.equal(said.slice(1, -1).join(" "), `Title ${"A sentence with some words. ".repeat(40)}let x;`);
  assert.ok(said.length >= 4 && said.length <= 4 + seconds / 4, `${said.length} announcements in ${seconds} s`);
  await page.getByRole("button", { name: "Engine" }).click();
  await page.getByText("of at most 8").waitFor();
  await page.getByRole("button", { name: "New chat" }).click();
  const nameless = await page.evaluate(() => [...document.querySelectorAll("button, a, input, textarea, select, canvas, [role=img], [tabindex]")]
    .filter((each) => !(each.getAttribute("aria-label") || each.innerText?.trim() || each.labels?.length)).map((each) => each.outerHTML));
  assert.deepEqual(nameless, []);
  for (const role of ["navigation", "main"]) assert.equal(await page.getByRole(role).count(), 1);
  assert.equal(await page.getByRole("heading", { level: 1 }).count(), 1);
});

const wide = `${"x".repeat(300)}\n\n\`\`\`c\n${"int y; ".repeat(60)}\n\`\`\`\n\n|${" column |".repeat(12)}\n|${"---|".repeat(12)}\n|${" cell |".repeat(12)}\n\nhttps://a.b/${"c".repeat(300)}`;

test("a screen of 360 pixels", { script: say(wide), engine, viewport: { width: 360, height: 640 } }, async ({ page }) => {
  const fits = async (what) => assert.ok(await page.evaluate(() => [document.scrollingElement, document.querySelector(".scroll") ?? document.body].every((each) => each.scrollWidth <= Math.min(360, each.clientWidth))), what);
  await fits("welcome");
  await send(page, "y".repeat(300));
  await finished(page);
  await fits("chat");
  await page.getByRole("button", { name: "Settings" }).click();
  await fits("settings");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Conversations" }).click();
  assert.equal(await page.evaluate(() => document.activeElement.innerText), "New chat");
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Conversations");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Engine" }).click();
  await page.getByText("of at most 8").waitFor();
  await fits("engine");
});

for (const colorScheme of ["light", "dark"])
  test(`colors can be told from the ground, ${colorScheme}`, { script: say("x"), colorScheme }, async ({ page }) => {
    const low = await page.evaluate(() => {
      const style = getComputedStyle(document.documentElement);
      const luminance = (name) => {
        const hex = style.getPropertyValue(name).trim().slice(1);
        const [r, g, b] = [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const contrast = (a, b) => (Math.max(luminance(a), luminance(b)) + 0.05) / (Math.min(luminance(a), luminance(b)) + 0.05);
      const code = ["comment", "string", "number", "keyword", "call"].map((kind) => [`--code-${kind}`, "--ground", 4.5]);
      const pairs = [["--text", "--raised", 7], ["--soft", "--raised", 4.5], ["--soft", "--side", 4.5], ["--accent", "--ground", 4.5], ["--on-accent", "--accent", 4.5], ["--danger", "--danger-ground", 4.5], ["--danger", "--ground", 4.5], ["--strong-line", "--ground", 3], ...code];
      return pairs.filter(([a, b, least]) => !(contrast(a, b) >= least)).map(([a, b]) => `${a} on ${b}: ${contrast(a, b).toFixed(2)}`);
    });
    assert.deepEqual(low, []);
  });

test("texts are copied", { script: say("Use:\n\n```sh\nls -l\n```") }, async ({ page }) => {
  await send(page, "How?");
  await finished(page);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Copy code" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "ls -l");
  await page.getByRole("button", { name: "Copy answer" }).click();
  await page.waitForTimeout(100);
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "Use:\n\n```sh\nls -l\n```");
});

/** Runs a test with a server and a page of its own. Errors in the browser's console are failures, too. */
async function run({ options, body }) {
  const server = await startServer({ page: html, ...options });
  const context = await browser.newContext({ viewport: options.viewport ?? { width: 1100, height: 800 }, colorScheme: options.colorScheme ?? "light" });
  const page = await context.newPage();
  page.setDefaultTimeout(60000);
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (entry) => ["error", "warning"].includes(entry.type()) && errors.push(entry.text()));
  try {
    await page.goto(server.url);
    await body({ page, server });
    assert.deepEqual(errors.filter((error) => !options.expectedErrors?.test(error)), [], "the browser's console");
  } finally {
    await context.close();
    await server.close();
  }
}

let failed = 0;
const chosen = tests.filter(({ name }) => name.includes(process.argv[2] ?? ""));
for (const each of chosen) {
  try {
    await run(each);
    console.log(`ok: ${each.name}`);
  } catch (error) {
    failed++;
    console.log(`FAILED: ${each.name}\n${error.stack}`);
  }
}
await browser.close();
console.log(`${chosen.length - failed} passed, ${failed} failed`);
process.exitCode = failed > 0 || chosen.length === 0 ? 1 : 0;
