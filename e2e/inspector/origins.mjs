// Calls a daemon from pages of other origins, in a browser: what a browser lets through is refused by the daemon, and a page
// that is allowed speaks each protocol.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { withBrowser } from "./page.mjs";

const { executable, daemon, foreign, allowed, token } = JSON.parse(readFileSync(0, "utf8"));
const rebound = new URL(daemon);
rebound.hostname = "rebound.example";

await withBrowser(executable, async (browser) => {
  await refusesForeignPages(await browser.newPage());
  await answersAllowedPages(await browser.newPage());
  await refusesOtherNames(await browser.newPage());
}, "--host-resolver-rules=MAP rebound.example 127.0.0.1");

// tried returns the status of a call that a page makes, or that the browser refuses it.
function tried(page, path, options) {
  return page.evaluate(async ([address, how]) => {
    try {
      const response = await fetch(address, how);
      return response.type === "opaque" ? "unreadable" : response.status;
    } catch (error) {
      return `refused: ${error.name}`;
    }
  }, [daemon + path, options]);
}

async function refusesForeignPages(page) {
  await page.goto(foreign);
  const refused = [];
  page.on("response", (r) => { if (r.url().startsWith(daemon)) refused.push(r.status()); });
  const rpc = "/compactord.v1.SessionService/ListSessions";
  const body = "{}";
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token}` };
  assert.equal(await tried(page, rpc, { method: "POST", headers, body }), "refused: TypeError", "a call with a token needs leave");
  assert.equal(await tried(page, rpc, { method: "POST", body }), "refused: TypeError", "what a form could send");
  assert.equal(await tried(page, rpc, { method: "POST", body, mode: "no-cors" }), "unreadable");
  assert.equal(await tried(page, "/openapi.json", {}), "refused: TypeError");
  assert.ok(refused.length > 0 && refused.every((status) => status === 403), `statuses ${refused}`);
  const framed = await page.evaluate((address) => new Promise((resolve) => {
    const frame = document.createElement("iframe");
    frame.src = address;
    frame.onload = () => resolve(frame.contentDocument === null ? "apart" : "open");
    document.body.append(frame);
  }), `${daemon}/inspect/`);
  assert.equal(framed, "apart");
  assert.equal(page.frames()[1].url(), "chrome-error://chromewebdata/", "no other page shows the inspector in a frame");
}

async function answersAllowedPages(page) {
  await page.goto(allowed);
  const headers = { Authorization: `Bearer ${token}` };
  const json = { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body: "{}" };
  assert.equal(await tried(page, "/compactord.v1.SessionService/ListSessions", json), 200);
  assert.equal(await tried(page, "/compactord.v1.SessionService/ListSessions", { ...json, headers: { "Content-Type": "application/json" } }), 401);

  // gRPC-Web, unary and streaming: frames of a flag, a length and a message, the last one with the status.
  const [sessions, ended] = await grpcWeb(page, "SessionService/ListSessions", {}, headers);
  assert.deepEqual(sessions, [{}]);
  assert.match(ended, /grpc-status: 0/i);
  const [, missing] = await grpcWeb(page, "SessionService/GetSession", { sessionId: "none" }, headers);
  assert.match(missing, /grpc-status: 5/i);
  const history = { messages: [{ role: "ROLE_USER", parts: [{ text: { text: "Hello." } }] }] };
  const [events, done] = await grpcWeb(page, "CompactionService/Compact", { history }, headers);
  assert.ok(events.length > 0, "events of a compaction");
  assert.match(done, /grpc-status: 0/i);
}

// grpcWeb makes a call from a page, and returns the messages and the trailer of its answer.
async function grpcWeb(page, rpc, request, headers) {
  const frames = await page.evaluate(async ([address, message, given]) => {
    const content = new TextEncoder().encode(JSON.stringify(message));
    const body = new Uint8Array(5 + content.length);
    new DataView(body.buffer).setUint32(1, content.length);
    body.set(content, 5);
    const response = await fetch(address, {
      method: "POST", body, headers: { ...given, "Content-Type": "application/grpc-web+json", "X-Grpc-Web": "1" },
    });
    const answer = new Uint8Array(await response.arrayBuffer());
    const found = [];
    for (let at = 0; at < answer.length;) {
      const length = new DataView(answer.buffer).getUint32(at + 1);
      found.push([answer[at], new TextDecoder().decode(answer.subarray(at + 5, at + 5 + length))]);
      at += 5 + length;
    }
    const status = response.headers.get("grpc-status");
    return status === null ? found : [...found, [0x80, `grpc-status: ${status}`]];
  }, [`${daemon}/compactord.v1.${rpc}`, request, headers]);
  const messages = frames.filter(([flag]) => flag === 0).map(([, content]) => JSON.parse(content));
  return [messages, frames.find(([flag]) => flag === 0x80)?.[1]];
}

async function refusesOtherNames(page) {
  const response = await page.goto(`${rebound.origin}/inspect/`);
  assert.equal(response.status(), 403, "a name that somebody has point here");
  const status = await page.evaluate(async (credential) => (await fetch("/compactord.v1.SessionService/ListSessions", {
    method: "POST", headers: { "Content-Type": "application/json", Authorization: `Bearer ${credential}` }, body: "{}",
  })).status, token);
  assert.equal(status, 403);
}
