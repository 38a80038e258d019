import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http2";
import { join } from "node:path";
import { before, test } from "node:test";

import type { Interceptor } from "@connectrpc/connect";

import { TestDaemon, temporaryFolder } from "./fixture/daemon.js";

const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

let daemon: TestDaemon;
let audit: string;

before(async () => {
  audit = join(temporaryFolder(), "audit.log");
  daemon = await TestDaemon.start(["--audit-log", audit]);
});

/** Sends the trace of the program, as an instrumentation would. */
const traced: Interceptor = (next) => (request) => {
  request.header.set("traceparent", traceparent);
  return next(request);
};

test("what an interceptor sends reaches the server with calls and streams, and none sees the token", async () => {
  const seen: (string | undefined)[] = [];
  let arrived: () => void = () => undefined;
  const server = createServer();
  server.on("stream", (stream, headers) => {
    seen.push(`${headers[":path"] ?? ""} ${String(headers["traceparent"])} ${headers.authorization ?? ""}`);
    stream.respond({ ":status": 401 }, { endStream: true });
    arrived();
  });
  const path = join(temporaryFolder(), "socket");
  await new Promise<void>((resolve) => {
    server.listen(path, resolve);
  });
  const tokens: (string | null)[] = [];
  const looks: Interceptor = (next) => (request) => {
    tokens.push(request.header.get("authorization"));
    return next(request);
  };
  const client = daemon.client({ address: `unix:${path}`, token: "abc", interceptors: [looks, traced] });
  await assert.rejects(client.sessions.getSession({ sessionId: "s" }), { name: "UnauthenticatedError" });
  const all = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  await assert.rejects(client.session("s").compact(), { name: "UnauthenticatedError" });
  await all;
  assert.deepEqual(seen, [
    `/compactord.v1.SessionService/GetSession ${traceparent} Bearer abc`,
    `/compactord.v1.CompactionService/Compact ${traceparent} Bearer abc`,
  ]);
  assert.deepEqual(tokens, [null, null]);
  await client.close();
  server.close();
});

test("a daemon takes what an interceptor sends", async () => {
  const named: Interceptor = (next) => (request) => {
    request.header.set("x-request-id", "of-the-interceptor");
    return next(request);
  };
  const client = daemon.client({ interceptors: [traced, named] });
  const session = await client.createSession();
  await session.append("Hi.");
  await daemon.kill("SIGTERM");
  const lines = readFileSync(audit, "utf8").trim().split("\n");
  const ids = lines.map((line) => (JSON.parse(line) as { request_id: string }).request_id);
  assert.deepEqual(ids.filter((id) => id === "of-the-interceptor").length, 2);
});
