import assert from "node:assert/strict";
import { before, test } from "node:test";

import { create } from "@bufbuild/protobuf";

import type { Client } from "../src/index.js";
import { identified, newSessionId } from "../src/wire/ids.js";
import { CompactionService, CreateSessionRequestSchema, SessionService } from "../src/v1.js";
import { TestDaemon } from "./fixture/daemon.js";

const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

let client: Client;

before(async () => {
  client = (await TestDaemon.start()).client();
});

test("sessions without an id get a UUID of version 7 with the time in front", async () => {
  const [earliest, id, latest] = [Date.now(), newSessionId(), Date.now()];
  assert.match(id, uuid7);
  const time = parseInt(id.replaceAll("-", "").slice(0, 12), 16);
  assert.ok(earliest <= time && time <= latest);
  assert.notEqual(newSessionId(), newSessionId());
  const session = await client.createSession();
  assert.match(session.id, uuid7);
  assert.match((await session.fork()).id, uuid7);
});

test("raw writes get a request id, so that they can be repeated, and new sessions an id with it", () => {
  const { appendMessages, createSession, forkSession, getSession, deleteSession } = SessionService.method;
  const append = identified(appendMessages, { sessionId: "s" });
  assert.match(Reflect.get(append, "requestId") as string, /^[0-9a-f-]{36}$/);
  assert.equal(Reflect.get(append, "sessionId"), "s");
  assert.deepEqual(identified(appendMessages, { requestId: "mine" }), { requestId: "mine" });
  for (const [method, field] of [
    [createSession, "sessionId"],
    [forkSession, "newSessionId"],
  ] as const) {
    assert.match(Reflect.get(identified(method, {}), field) as string, uuid7);
    assert.equal(Reflect.get(identified(method, { [field]: "given" }), field), "given");
  }
  assert.match(
    Reflect.get(identified(createSession, create(CreateSessionRequestSchema)), "sessionId") as string,
    uuid7,
  );
  for (const method of [getSession, deleteSession]) {
    assert.deepEqual(identified(method, { sessionId: "s" }), { sessionId: "s" });
  }
});

test("what works on a history of the request's own takes no request id", () => {
  const { compact, prune } = CompactionService.method;
  const target = { case: "history", value: {} };
  for (const method of [compact, prune]) {
    assert.deepEqual(identified(method, { target }), { target });
    const session = { case: "sessionId", value: "s" };
    assert.match(Reflect.get(identified(method, { target: session }), "requestId") as string, /^[0-9a-f-]{36}$/);
  }
});

test("a raw stub begins a session under an id of its own making", async () => {
  const { session } = await client.sessions.createSession({ title: "Raw" });
  assert.match(session?.sessionId ?? "", uuid7);
  assert.equal((await client.sessions.getSession({ sessionId: session?.sessionId ?? "" })).session?.title, "Raw");
});
