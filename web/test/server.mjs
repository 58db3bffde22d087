// Tests the page of a running server in headless Chromium: node test/server.mjs URL chat|text [KEY]
//
// `chat`: its model has a chat template; `text`: it has none, so that chats are refused. KEY is what the server wants.
import assert from "node:assert/strict";
import { launch } from "./chromium.mjs";

const [url, kind, key] = process.argv.slice(2);
const browser = await launch();
try {
  const page = await browser.newPage();
  page.setDefaultTimeout(60000);
  const paths = new Set();
  const errors = [];
  page.on("request", (request) => paths.add(request.url()));
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (entry) => ["error", "warning"].includes(entry.type()) && errors.push(entry.text()));
  await page.goto(url);
  if (key) {
    await page.locator("dialog input").fill(key);
    await page.keyboard.press("Enter");
  }
  await page.locator(".model", { hasText: "demo" }).waitFor();

  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByLabel("Temperature").fill("0");
  await page.getByLabel("Most tokens").fill("24");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByLabel("Message", { exact: true }).fill(kind === "chat" ? "In the beginning God created the heaven and the earth. ".repeat(12) : "In the beginning");
  await page.keyboard.press("Enter");
  const answer = page.locator(".message.assistant").last();
  await answer.locator(".actions").waitFor();
  if (kind === "chat") {
    await answer.getByText("24 tokens").waitFor();
    assert.ok((await answer.locator(".markdown").innerText()).length > 10);
    const before = await answer.locator(".markdown").innerText();
    await page.getByRole("button", { name: "Answer again" }).click();
    await page.getByText(/of them cached/).waitFor();
    assert.equal(await answer.locator(".markdown").innerText(), before);
    await page.getByRole("button", { name: "New text" }).click();
    await page.getByLabel("Text", { exact: true }).fill("In the beginning");
  } else {
    assert.match(await answer.locator(".error").innerText(), /chat template/);
    await page.getByRole("button", { name: "Let the model continue the text instead" }).click();
  }
  const text = page.getByLabel("Text", { exact: true });
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText(/24 tokens/).waitFor();
  const continued = await text.inputValue();
  assert.ok(continued.startsWith("In the beginning") && continued.length > 30, continued);
  console.log(`text: ${JSON.stringify(continued)}`);
  await page.getByRole("button", { name: "Take back" }).click();
  assert.equal(await text.inputValue(), "In the beginning");

  // A continuation that is stopped, while the engine is watched.
  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByLabel("Most tokens").fill("");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("button", { name: "Engine" }).click();
  await page.getByText(/of at most \d/).waitFor();
  await page.getByText(/\d+ blocks of \d+ tokens/).waitFor();
  await page.getByRole("img", { name: /^Step time: now \d/ }).waitFor();
  const counts = (await page.locator(".legend strong").allInnerTexts()).map((count) => Number(count.replace(/,/g, "")));
  const total = Number(/([\d,]+) blocks of/.exec(await page.locator(".grid + p").innerText())[1].replace(/,/g, ""));
  assert.equal(counts.reduce((sum, count) => sum + count), total);
  assert.ok(counts[0] < total, "no block is used or kept");
  console.log(`blocks: ${counts.join(" ")} of ${total}`);

  for (const path of paths) assert.ok(path.startsWith(url) || path.startsWith("data:"), path);
  const expected = (error) => (kind === "text" && error.includes("400")) || (key && error.includes("401"));
  assert.deepEqual(errors.filter((error) => !expected(error)), []);
  console.log("the page works");
} finally {
  await browser.close();
}
