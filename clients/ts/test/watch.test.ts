import assert from "node:assert/strict";
import { before, test } from "node:test";

import type { Interceptor } from "@connectrpc/connect";
import { Code, ConnectError } from "@connectrpc/connect";

import type { Client, WatchItem } from "../src/index.js";
import { SessionNotFoundError } from "../src/index.js";
import { ErrorInfoSchema } from "../src/gen/google/rpc/error_details_pb.js";
import { TestDaemon } from "./fixture/daemon.js";
import { Proxy } from "./fixture/proxy.js";

let daemon: TestDaemon;
let client: Client;

before(async () => {
  daemon = await TestDaemon.start();
  client = daemon.client();
});

/** The sequences of so many items. */
async function sequences(items: AsyncIterable<WatchItem>, count: number): Promise<number[]> {
  const found: number[] = [];
  for await (const item of items) {
    found.push(item.case === "event" ? -1 : item.value.sequence);
    if (found.length === count) {
      return found;
    }
  }
  return found;
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

test("a watch yields the log from a sequence on, and what is written then", async () => {
  const session = await client.createSession();
  await session.append(["One.", "Two."]);
  const watching = sequences(session.watch({ fromSequence: 1 }), 4);
  await session.append("Three.");
  await session.checkpoint();
  assert.deepEqual(await watching, [1, 2, 3, 4]);
});

test("without_content leaves out the parts", async () => {
  const session = await client.createSession();
  await session.append("One.");
  for await (const item of session.watch({ fromSequence: 1, withoutContent: true })) {
    assert.equal(item.case, "message");
    assert.deepEqual([item.value.message?.parts.length, item.value.partSizes], [0, [4]]);
    break;
  }
});

test("the events of compactions come where they are asked for", async () => {
  const session = await client.createSession({
    policy: { contextWindow: 4000, strategy: { summarize: { recentTokens: 50 } } },
  });
  await session.append("abcdefgh".split("").map((c) => `${c} `.repeat(500)));
  const cases: (string | undefined)[] = [];
  const events = session.watch({ fromSequence: 0, events: true });
  await events.next();
  const compacting = session.compact();
  for await (const item of events) {
    if (item.case === "event") {
      cases.push(item.value.event.case);
      if (item.value.event.case === "completed") {
        break;
      }
    }
  }
  await compacting;
  assert.equal(cases[0], "started");
});

test("a watch goes on over broken connections, without a gap and nothing twice", async () => {
  const proxy = await Proxy.start(daemon.socket);
  const session = await client.createSession();
  const far = daemon.client({ address: proxy.address }).session(session.id);
  const found: number[] = [];
  for await (const item of far.watch({ fromSequence: 0 })) {
    assert.notEqual(item.case, "event");
    found.push(item.case === "event" ? -1 : item.value.sequence);
    if (found.length === 6) {
      break;
    }
    proxy.breakConnections();
    await session.append(`Message ${found.length}`);
  }
  assert.deepEqual(found, upTo(6));
});

test("a watch goes on after the daemon was killed and started again", async () => {
  const own = await TestDaemon.start();
  const session = await own.client().createSession();
  const watching = sequences(session.watch({ fromSequence: 0 }), 3);
  await session.append("One.");
  await own.kill();
  await own.startAgain();
  await session.append("Two.");
  assert.deepEqual(await watching, upTo(3));
});

/** Ends each of the first streams after so many items, as the daemon ends a watch that is not read for a minute. */
function slowFor(streams: number, items: number): Interceptor {
  let left = streams;
  async function* ended<T>(messages: AsyncIterable<T>): AsyncGenerator<T> {
    let read = 0;
    for await (const message of messages) {
      if (read++ === items) {
        const value = { reason: "WATCHER_TOO_SLOW", domain: "compactord", metadata: { next_sequence: "0" } };
        throw new ConnectError("too slow", Code.ResourceExhausted, {}, [{ desc: ErrorInfoSchema, value }]);
      }
      yield message;
    }
  }
  return (next) => async (request) => {
    const response = await next(request);
    return response.stream && left-- > 0 ? { ...response, message: ended(response.message) } : response;
  };
}

test("a watch goes on where the daemon ended it because its loop was too slow", async () => {
  const session = await client.createSession();
  await session.append(["One.", "Two.", "Three.", "Four."]);
  const slow = daemon.client({ interceptors: [slowFor(2, 3)] }).session(session.id);
  assert.deepEqual(await sequences(slow.watch({ fromSequence: 0 }), 5), upTo(5));
  const once = daemon.client({ interceptors: [slowFor(1, 3)], retry: false }).session(session.id);
  await assert.rejects(sequences(once.watch({ fromSequence: 0 }), 5), { reason: "WATCHER_TOO_SLOW" });
});

test("a watch ends with the session, and with the signal's reason", async () => {
  const session = await client.createSession();
  const items = session.watch({ fromSequence: 0 });
  await items.next();
  const ended = assert.rejects(items.next(), SessionNotFoundError);
  await session.delete();
  await ended;
  const stop = new AbortController();
  const other = await client.createSession();
  const watch = other.watch({ fromSequence: 0, signal: stop.signal });
  await watch.next();
  const waiting = watch.next();
  const reason = new Error("seen enough");
  stop.abort(reason);
  await assert.rejects(waiting, reason);
});
