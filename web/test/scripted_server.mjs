// A server for the tests of the page: it speaks the API and says what the test wrote down, so that a test can have what
// no model says on request. Answers are sent in pieces of a few bytes, which end within characters and lines.
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Starts a server that serves the text `page` at /.
 *
 * `script(path, body)` returns what is to be said: {status, error} for a refusal; otherwise {deltas, usage, finish,
 * pieceBytes, pieceDelay, breakOff, error}, where each delta is an object (chat) or a text (completion), `breakOff` closes
 * the connection before the end, and `error` is the event that ends the stream. `engine` is what GET /engine answers; `key`, if not empty, is the API key that all routes
 * want. The result has `url`, `requests` (the bodies, and the paths of everything that was asked for), `close()`.
 */
export async function startServer({ page, script, engine, key = "", models = ["scripted/model-1b"] }) {
  const requests = [];
  const paths = [];
  const server = createServer(async (request, response) => {
    paths.push(request.url);
    const send = (status, type, text) => response.writeHead(status, { "Content-Type": type }).end(text);
    const json = (status, value) => send(status, "application/json", JSON.stringify(value));
    if (request.method === "GET" && request.url === "/") return send(200, "text/html; charset=utf-8", page);
    if (key && request.headers.authorization !== `Bearer ${key}`)
      return json(401, { error: { message: "This server wants an API key.", type: "authentication_error", code: 401 } });
    if (request.url === "/v1/models") return json(200, { object: "list", data: models.map((id) => ({ id, object: "model" })) });
    if (request.url === "/engine?blocks=1") return engine ? json(200, engine()) : json(404, { error: { message: "No such route." } });
    if (request.method !== "POST") return json(404, { error: { message: "No such route." } });
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = JSON.parse(Buffer.concat(parts).toString("utf8"));
    requests.push(body);
    const said = script(request.url, body);
    if (said.status) return json(said.status, { error: { message: said.error, type: "invalid_request_error", code: said.status } });
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    await stream(response, request.url, said);
    return undefined;
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    requests,
    paths,
    close: () => (server.closeAllConnections(), new Promise((resolve) => server.close(resolve))),
  };
}

async function stream(response, path, { deltas, usage, finish = "stop", pieceBytes = 7, pieceDelay = 0, breakOff = false, error }) {
  const chat = path === "/v1/chat/completions";
  const event = (value) => `data: ${typeof value === "string" ? value : JSON.stringify(value)}\r\n\r\n`;
  const choice = (delta, reason = null) => ({
    choices: [chat ? { index: 0, delta, finish_reason: reason } : { index: 0, text: delta, finish_reason: reason }],
  });
  let open = true;
  response.on("close", () => (open = false));
  const write = async (text) => {
    const bytes = Buffer.from(text, "utf8");
    for (let i = 0; i < bytes.length && open; i += pieceBytes) response.write(bytes.subarray(i, i + pieceBytes));
    if (pieceDelay) await sleep(pieceDelay);
  };
  if (chat) await write(event(choice({ role: "assistant", content: "" })));
  for (const delta of deltas) await write(event(choice(delta)));
  if (breakOff) {
    await sleep(100); // Until what was written has been sent.
    return response.destroy();
  }
  if (error) return response.end(event({ error }));
  await write(event(choice(chat ? {} : "", finish)));
  if (usage) await write(event({ choices: [], usage }));
  await write(event("[DONE]"));
  return response.end();
}
