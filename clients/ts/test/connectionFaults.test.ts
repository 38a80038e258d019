import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHTTPServer } from "node:http";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { before, mock, test } from "node:test";

import { Client, DeadlineExceededError, type Session, UnavailableError, user } from "../src/index.js";
import { toBuild } from "../src/wire/binary.js";
import { atEnd } from "./fixture/cleanup.js";
import { TestDaemon, temporaryFolder } from "./fixture/daemon.js";

let daemon: TestDaemon;

before(async () => {
  daemon = await TestDaemon.start();
});

/** Has a server listen on a port of this machine until the tests of the file end. */
async function listening(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  atEnd(() => {
    server.close();
  });
  const at = server.address();
  return `127.0.0.1:${String(at === null || typeof at === "string" ? 0 : at.port)}`;
}

test("a port that speaks no HTTP/2 fails the call, and does not end the program", async () => {
  const shell = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.write("SSH-2.0-OpenSSH_9\r\n");
  });
  for (const server of [createHTTPServer((_, response) => response.end("hi")), shell]) {
    const address = await listening(server);
    for (const tls of [false, true]) {
      const client = new Client({ address, retry: false, tls });
      for (let call = 0; call < 2; call++) {
        await assert.rejects(client.createSession(), (e) => {
          assert.ok(e instanceof UnavailableError);
          assert.ok(e.message.startsWith(`no gRPC server answers at ${address}: `), e.message);
          return true;
        });
      }
      await client.close();
    }
  }
});

test("who finds no daemon is told at once where it was looked for, and what starts one", async () => {
  const socket = `unix:${join(temporaryFolder(), "nothing")}`;
  for (const [address, start, why] of [
    ["127.0.0.1:1", "compactord serve --listen 127.0.0.1:1", "nothing listens there"],
    [socket, `compactord serve --listen ${socket}`, "there is no such socket"],
    ["there.invalid:7440", "compactord serve", "there is no host of this name"],
  ] as const) {
    const first: ((session: Session) => Promise<unknown>)[] = [
      ({ client }) => client.createSession(),
      (session) => session.view(),
      (session) => session.revert({ turns: 1 }),
      (session) => session.sync([user("Hi.")]),
      (session) => session.compact(),
      (session) => session.compacting()[Symbol.asyncIterator]().next(),
      (session) => session.watch().next(),
      ({ client }) => client.compacted([user("Hi.")]),
    ];
    const pauses: number[] = [];
    const pausing = mock.method(globalThis, "setTimeout", (done: () => void, ms: number) => {
      // Longer ones are time limits.
      if (ms < 10_000) {
        pauses.push(ms);
        queueMicrotask(done);
      }
      return { unref: () => undefined };
    });
    try {
      for (const call of first) {
        await using client = new Client({ address });
        await assert.rejects(call(client.session("one")), (e) => {
          assert.ok(e instanceof UnavailableError);
          const told = e.message.replace("npx ", "");
          assert.equal(
            told,
            `no daemon answers at ${address}: start one with \`${start}\`${toBuild()}, or set COMPACTORD_ADDR (${why})`,
          );
          return true;
        });
      }
    } finally {
      pausing.mock.restore();
    }
    assert.deepEqual(pauses, []);
  }
});

test("a token that never comes ends with the time limit, the signal and the client", async () => {
  const token = (): Promise<string> => new Promise(() => undefined);
  const client = daemon.client({ token });
  await assert.rejects(client.health({ timeoutMs: 20 }), DeadlineExceededError);
  const stop = new AbortController();
  const reason = new Error("no longer wanted");
  const stopped = assert.rejects(client.health({ signal: stop.signal, timeoutMs: Infinity }), reason);
  const closed = assert.rejects(client.health({ timeoutMs: Infinity }), { reason: "CLIENT_CLOSED" });
  setImmediate(() => {
    stop.abort(reason);
  });
  await stopped;
  await client.close();
  await closed;
});

test("a token that is none is refused, and never printed", async () => {
  for (const token of ["s3cr\net", "", "s3cret token", 5 as unknown as string]) {
    const about = { name: "TypeError", message: /^token: (?!.*s3cr)/s };
    assert.throws(() => new Client({ address: "unix:/s", token }), about);
    await assert.rejects(daemon.client({ token: () => token }).health(), (e) => {
      assert.ok(e instanceof TypeError && e.cause === undefined);
      assert.match(e.message, about.message);
      return true;
    });
  }
  await assert.rejects(daemon.client({ token: () => undefined as unknown as string }).health(), TypeError);
});

test("what the program's own function throws for a token comes back as it is", async () => {
  const mine = new Error("the vault is shut");
  const token = (): string => {
    throw mine;
  };
  await assert.rejects(daemon.client({ token }).health(), mine);
});

test("time limits are numbers, and long ones do not fire at once", async () => {
  const client = daemon.client();
  const wrong: [unknown, string][] = [
    [Number.NaN, "RangeError"],
    [-5, "RangeError"],
    [0, "RangeError"],
    ["100", "TypeError"],
  ];
  for (const [timeoutMs, name] of wrong) {
    const given = { timeoutMs: timeoutMs as number };
    const about = { name, message: /^timeoutMs: / };
    assert.throws(() => new Client(given), about);
    await assert.rejects(client.health(given), about);
    await assert.rejects(client.session("s").compact(given), about);
  }
  for (const timeoutMs of [2 ** 31, 1e12, Number.POSITIVE_INFINITY]) {
    assert.equal(await client.health({ timeoutMs }), true);
    assert.equal(await daemon.client({ timeoutMs }).health(), true);
  }
});

test("many calls at once on one signal warn of no leak, and leave nothing behind", async () => {
  const warnings: Error[] = [];
  const warned = (warning: Error): void => {
    warnings.push(warning);
  };
  process.on("warning", warned);
  const stop = new AbortController();
  const client = daemon.client();
  const { id } = await client.createSession();
  const session = client.session(id);
  const calls = Array.from({ length: 30 }, () => session.info({ signal: stop.signal }));
  const watches = Array.from({ length: 30 }, async () => {
    for await (const { case: kind } of session.watch({ signal: stop.signal, fromSequence: 0 })) {
      assert.equal(kind, "record");
    }
  });
  const ended = Promise.allSettled(watches);
  await Promise.all(calls);
  stop.abort(new Error("enough"));
  await ended;
  // Warnings are told in a turn of the event loop of their own.
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", warned);
  assert.deepEqual(warnings, []);
});
