import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { Code } from "@connectrpc/connect";

import { CompactordError, UnavailableError } from "../src/index.js";
import type { ReasonName } from "../src/types.js";
import { backoffMs, forward, isSafeToRepeat, pause, repeated, retryFigures } from "../src/wire/retry.js";
import { CompactionService, SessionService } from "../src/v1.js";
import { repository } from "./fixture/daemon.js";

const methods = [...SessionService.methods, ...CompactionService.methods];

/** The calls that a row of the table "Safe to send again" names. */
function documented(row: string): string[] {
  const page = readFileSync(join(repository, "docs/api.md"), "utf8");
  const section = page.slice(page.indexOf("## Safe to send again"));
  const line = section.split("\n").find((l) => l.startsWith("|") && l.includes(row));
  return [...(line?.split("|")[1] ?? "").matchAll(/`(\w+)`/g)].map(([, name]) => name ?? "").sort();
}

function names(safe: (method: (typeof methods)[number]) => boolean): string[] {
  return methods
    .filter(safe)
    .map((method) => method.name)
    .sort();
}

test("the calls that are sent again are those of docs/api.md", () => {
  const reads = names((method) => isSafeToRepeat(method, {}));
  const writes = names(
    (method) =>
      !isSafeToRepeat(method, {}) && isSafeToRepeat(method, { requestId: "r" }) && "requestId" in method.input.field,
  );
  // That call is one of operators, which the client does not have.
  assert.deepEqual([...reads, "ExportSession"].sort(), documented("writes nothing; send it"));
  const resent = [...documented("with a `request_id`"), ...documented("with or without a `request_id`")];
  assert.deepEqual(writes, resent.sort());
  assert.equal(isSafeToRepeat(SessionService.method.appendMessages, { requestId: "" }), false);
  assert.equal(isSafeToRepeat(SessionService.method.deleteSession, { sessionId: "s" }), false);
});

test("pauses grow by 2.5 from 0.2 s to 5 s at most, and the upper half of each is chance", () => {
  assert.deepEqual(
    [2, 3, 4, 5, 6].map((attempt) => backoffMs(attempt, () => 1)),
    [200, 500, 1250, 3125, 5000],
  );
  assert.deepEqual(
    [2, 6].map((attempt) => backoffMs(attempt, () => 0)),
    [100, 2500],
  );
  assert.equal(retryFigures.attempts, 5);
});

function unavailable(): UnavailableError {
  return new UnavailableError("gone", { code: Code.Unavailable, reason: "UNAVAILABLE" });
}

test("a call is made five times, with pauses between", async () => {
  let calls = 0;
  let pauses = 0;
  const failing = repeated(
    () => {
      calls++;
      return Promise.reject(unavailable());
    },
    () => {
      pauses++;
      return Promise.resolve();
    },
    () => true,
  );
  await assert.rejects(failing, UnavailableError);
  assert.deepEqual([calls, pauses], [5, 4]);
});

test("a call ends with its first success", async () => {
  let calls = 0;
  const answer = await repeated(
    () => (++calls < 3 ? Promise.reject(unavailable()) : Promise.resolve("answer")),
    () => Promise.resolve(),
    () => true,
  );
  assert.deepEqual([answer, calls], ["answer", 3]);
});

test("only what found no daemon is repeated, and no summarizer that is out of reach", async () => {
  for (const error of [
    new CompactordError("busy", { code: Code.Unavailable, reason: "SUMMARIZER_UNAVAILABLE" }),
    new CompactordError("no", { code: Code.Aborted, reason: "STATE_CHANGED" }),
    new TypeError("wrong"),
  ]) {
    let calls = 0;
    await assert.rejects(
      repeated(
        () => {
          calls++;
          return Promise.reject(error);
        },
        () => Promise.resolve(),
        () => true,
      ),
      error,
    );
    assert.equal(calls, 1);
  }
});

function refused(reason: ReasonName, retryAfterMs?: number): CompactordError {
  return new CompactordError("busy", { code: Code.ResourceExhausted, reason, retryAfterMs });
}

test("a busy daemon is asked again when it says, also for calls that are not safe to repeat", async () => {
  for (const reason of ["MEMORY_EXHAUSTED", "TOO_MANY_WAITING", "SLOW_READER"] as const) {
    const pauses: number[] = [];
    const answers = [() => Promise.reject(refused(reason, 1000)), () => Promise.resolve("done")];
    const answer = await repeated(
      () => answers.shift()?.() ?? Promise.reject(new Error("one call too many")),
      (ms) => {
        pauses.push(ms);
        return Promise.resolve();
      },
      () => false,
    );
    assert.equal(answer, "done");
    assert.equal(pauses.length, 1);
    assert.ok(pauses.every((ms) => ms >= 1000 && ms <= 1500));
  }
});

test("a busy daemon is asked five times", async () => {
  let calls = 0;
  const failing = repeated(
    () => {
      calls++;
      return Promise.reject(refused("MEMORY_EXHAUSTED", 1));
    },
    () => Promise.resolve(),
    () => false,
  );
  await assert.rejects(failing, { reason: "MEMORY_EXHAUSTED" });
  assert.equal(calls, 5);
});

test("what is not safe to repeat, and other refusals, are final", async () => {
  for (const error of [unavailable(), refused("LIMIT_EXCEEDED", 1000), refused("MEMORY_EXHAUSTED")]) {
    let calls = 0;
    const failing = repeated(
      () => {
        calls++;
        return Promise.reject(error);
      },
      () => Promise.resolve(),
      () => false,
    );
    await assert.rejects(failing, error);
    assert.equal(calls, 1);
  }
});

test("a pause ends with the signal", async () => {
  const stop = new AbortController();
  const reason = new Error("enough");
  const waiting = pause(60_000, undefined, stop.signal);
  stop.abort(reason);
  await assert.rejects(waiting, reason);
  await assert.rejects(pause(60_000, stop.signal), reason);
  await pause(0);
});

test("signals are forwarded until released", () => {
  const [first, second, target] = [new AbortController(), new AbortController(), new AbortController()];
  const release = forward([first.signal, undefined, second.signal], target);
  release();
  first.abort();
  assert.equal(target.signal.aborted, false);
  forward([second.signal], target);
  second.abort("why");
  assert.equal(target.signal.reason, "why");
});
