import assert from "node:assert/strict";
import { before, test } from "node:test";
import { setImmediate } from "node:timers/promises";

import type { Compaction, Session } from "../src/index.js";
import { Client } from "../src/index.js";
import { AttemptOutcome, ErrorReason } from "../src/v1.js";
import { TestDaemon } from "./fixture/daemon.js";
import { heldPolicy, HeldSummarizer } from "./fixture/summarizer.js";

let client: Client;
let daemon: TestDaemon;
let summarizer: HeldSummarizer;
let asked = 0;

before(async () => {
  summarizer = await HeldSummarizer.start();
  daemon = await TestDaemon.start(["--config", summarizer.config()]);
  client = daemon.client();
});

/** A session whose compaction waits for the summarizer until the test lets go of it. */
async function heldSession(): Promise<Session> {
  const session = await client.createSession({ policy: heldPolicy });
  await session.append(conversation());
  return session;
}

function conversation(): string[] {
  return Array.from({ length: 12 }, (_, i) => `Request ${i}: ${"look at the ledger and tell me. ".repeat(30)}`);
}

async function outcomes(session: Session): Promise<AttemptOutcome[]> {
  const found: AttemptOutcome[] = [];
  for await (const { kind } of session.records()) {
    assert.notEqual(kind.case, "compaction");
    if (kind.case === "attempt") {
      found.push(kind.value.outcome);
    }
  }
  return found;
}

/** Waits until the log has the record of the attempt. */
async function attemptRecorded(session: Session): Promise<void> {
  for await (const item of session.watch({ fromSequence: 0 })) {
    if (item.case === "record" && item.value.kind.case === "attempt") {
      return;
    }
  }
}

/** Reads events up to the point where the summarizer has the request. */
async function startedAndAsked(events: AsyncIterator<unknown>): Promise<void> {
  asked++;
  await events.next();
  await summarizer.asked(asked);
}

test("leaving the loop cancels the compaction, and it has ended by then", async () => {
  const session = await heldSession();
  asked++;
  for await (const { event } of session.compacting()) {
    if (event.case === "started") {
      await summarizer.asked(asked);
      break;
    }
  }
  assert.deepEqual(await outcomes(session), [AttemptOutcome.CANCELLED]);
});

test("after a loop that was left and after a signal, the next compaction runs every time", async () => {
  const session = await heldSession();
  const rounds = 12;
  for (let round = 0; round < rounds; round++) {
    asked++;
    const stop = new AbortController();
    let number = 0;
    try {
      for await (const { event } of client.session(session.id).compacting({ signal: stop.signal })) {
        if (event.case === "started") {
          await summarizer.asked(asked);
        }
        number++;
        if (number > round % 3) {
          if (round % 2 === 0) {
            break;
          }
          stop.abort();
        }
      }
    } catch (error) {
      assert.ok(stop.signal.aborted && error instanceof Error && error.name === "AbortError");
    }
  }
  assert.deepEqual(await outcomes(session), Array<AttemptOutcome>(rounds).fill(AttemptOutcome.CANCELLED));
});

test("a compaction that ends before its first event came does not keep the next one from running", async () => {
  const session = await heldSession();
  for (let round = 0; round < 6; round++) {
    const stop = new AbortController();
    const compacting = session.compact({ signal: stop.signal });
    if (round % 2 === 0) {
      // Where it has reached the daemon, or not.
      await session.info();
    }
    stop.abort();
    await assert.rejects(compacting, { name: "AbortError" });
  }
  const { result } = await completed(client.session(session.id));
  assert.equal(result?.outcome, "completed");
});

/** Compacts without the held summarizer. */
async function completed(session: Session): Promise<Compaction> {
  const compaction = session.compacting({ policy: { summary: { summarizer: "extractive" } } });
  for await (const { event } of compaction) {
    assert.notEqual(event.case, "failed");
  }
  return compaction;
}

test("cancel ends the compaction, and the loop throws", async () => {
  const session = await heldSession();
  const compaction = session.compacting();
  const events = compaction[Symbol.asyncIterator]();
  await startedAndAsked(events);
  await compaction.cancel();
  assert.deepEqual(await outcomes(session), [AttemptOutcome.CANCELLED]);
  await assert.rejects(
    async () => {
      while ((await events.next()).done !== true);
    },
    { reason: "CANCELLED" },
  );
  assert.equal(compaction.result, undefined);
});

test("the end of an await using block cancels the compaction", async () => {
  const session = await heldSession();
  {
    await using compaction = session.compacting();
    await startedAndAsked(compaction[Symbol.asyncIterator]());
  }
  assert.deepEqual(await outcomes(session), [AttemptOutcome.CANCELLED]);
});

test("after a signal the daemon has ended the compaction, and the call rejects with the signal's reason", async () => {
  const session = await heldSession();
  const stop = new AbortController();
  const reason = new Error("no longer wanted");
  asked++;
  let begin: () => void = () => undefined;
  // Where the first event has not come, the client does not know which compaction to wait for.
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const follow = async (): Promise<void> => {
    for await (const { event } of session.compacting({ signal: stop.signal })) {
      assert.ok(event.case);
      begin();
    }
  };
  const compacting = follow();
  const waited = Promise.all([begun, summarizer.asked(asked)]).then(() => {
    stop.abort(reason);
  });
  await assert.rejects(compacting, reason);
  await waited;
  assert.deepEqual(await outcomes(session), [AttemptOutcome.CANCELLED]);
});

test("after a signal during a loop the daemon has ended the compaction, too", async () => {
  const session = await heldSession();
  const stop = new AbortController();
  const events = session.compacting({ signal: stop.signal })[Symbol.asyncIterator]();
  await startedAndAsked(events);
  stop.abort();
  await assert.rejects(
    async () => {
      while ((await events.next()).done !== true);
    },
    { name: "AbortError" },
  );
  assert.deepEqual(await outcomes(session), [AttemptOutcome.CANCELLED]);
});

test("the next compaction waits for one that a signal ended before its first event", async () => {
  const session = await heldSession();
  for (let i = 0; i < 5; i++) {
    const stop = new AbortController();
    asked++;
    // The daemon may or may not have sent `started` when the summarizer is asked.
    const given = assert.rejects(session.compact({ signal: stop.signal }), { name: "AbortError" });
    await Promise.race([summarizer.asked(asked), given]);
    stop.abort();
    await given;
  }
  const done = await session.compact({ policy: { summary: { summarizer: "extractive" } } });
  assert.equal(done.outcome, "completed");
});

test("what a signal does not cancel: a detached compaction", async () => {
  const session = await heldSession();
  const stop = new AbortController();
  asked++;
  const given = assert.rejects(session.compact({ detach: true, signal: stop.signal }), { name: "AbortError" });
  await summarizer.asked(asked);
  stop.abort();
  await given;
  const cancelled = await session.cancelCompaction();
  assert.equal(cancelled?.ending?.event.case, "cancelled");
});

test("a signal that has fired keeps a compaction from starting", async () => {
  const session = await heldSession();
  await assert.rejects(session.compact({ signal: AbortSignal.abort() }), { name: "AbortError" });
  assert.deepEqual(await outcomes(session), []);
});

test("closing the client ends a compaction", async () => {
  const session = await heldSession();
  const other = new Client({ address: daemon.address });
  asked++;
  const compacting = other.session(session.id).compact();
  const rejected = assert.rejects(compacting, { reason: "CLIENT_CLOSED" });
  await summarizer.asked(asked);
  await other.close();
  await rejected;
  await attemptRecorded(session);
  assert.deepEqual(await outcomes(session), [AttemptOutcome.CANCELLED]);
});

test("a failed compaction tells its end and throws the error of its reason", async () => {
  const session = await heldSession();
  asked++;
  const seen: string[] = [];
  const waited = summarizer.asked(asked).then(() => {
    summarizer.refuse();
  });
  await assert.rejects(
    async () => {
      for await (const { event } of session.compacting()) {
        seen.push(event.case === "failed" ? ErrorReason[event.value.reason] : (event.case ?? ""));
      }
    },
    { reason: "SUMMARIZER_REFUSED" },
  );
  await waited;
  assert.equal(seen[0], "started");
  assert.equal(seen.at(-1), "SUMMARIZER_REFUSED");
  assert.deepEqual(await outcomes(session), [AttemptOutcome.FAILED]);
});

test("another compaction is refused, and preempt cancels the running one", async () => {
  const session = await heldSession();
  const first = session.compacting();
  const events = first[Symbol.asyncIterator]();
  await startedAndAsked(events);
  await assert.rejects(session.compact(), { reason: "COMPACTION_RUNNING" });
  const second = session.compact({ preempt: true, policy: { summary: { summarizer: "extractive" } } });
  await assert.rejects(
    async () => {
      while ((await events.next()).done !== true);
    },
    { reason: "CANCELLED" },
  );
  assert.equal((await second).outcome, "completed");
});

test("a detached compaction outlives the loop, and cancelCompaction ends it", async () => {
  const session = await heldSession();
  asked++;
  for await (const { event } of session.compacting({ detach: true })) {
    assert.equal(event.case, "started");
    break;
  }
  await summarizer.asked(asked);
  const cancelled = await session.cancelCompaction();
  assert.equal(cancelled?.ending?.event.case, "cancelled");
});

test("where no compaction runs, cancelCompaction answers undefined", async () => {
  const session = await client.createSession();
  assert.equal(await session.cancelCompaction(), undefined);
  await assert.rejects(client.session("nobody").cancelCompaction(), { name: "SessionNotFoundError" });
});

test("a compaction ends as completed, skipped or planned", async () => {
  const session = await client.createSession({
    policy: { contextWindow: 4000, strategy: { summarize: { recentTokens: 100 } } },
  });
  await session.append(conversation());
  const planned = await session.compact({ dryRun: true });
  assert.equal(planned.outcome, "planned");
  assert.equal(planned.done, false);
  assert.ok((planned.plan?.cut?.firstKeptIndex ?? 0) > 0);
  const compaction = session.compacting({ focus: "the ledger" });
  const cases: (string | undefined)[] = [];
  for await (const { event } of compaction) {
    cases.push(event.case);
  }
  assert.equal(cases[0], "started");
  assert.equal(cases.at(-1), "completed");
  assert.equal(compaction.result?.done, true);
  assert.equal(compaction.result.compaction?.provenance?.focus, "the ledger");
  assert.ok(compaction.result.compaction.tokensAfter < compaction.result.compaction.tokensBefore);
  const again = await session.compact();
  assert.deepEqual([again.outcome, again.reason], ["skipped", "already_compacted"]);
  assert.match(
    again.message,
    /^nothing was appended .*: to compact .*, undo the last one with session\.revert\(\{ undo: true \}\)$/,
  );
  assert.match(again.message, /compact/);
  await assert.rejects(async () => {
    for await (const event of compaction) {
      assert.fail(`an event came twice: ${String(event.number)}`);
    }
  }, TypeError);
});

test("what no compaction can remove is told as an error", async () => {
  const session = await client.createSession({ policy: { contextWindow: 1000 } });
  await session.append(conversation());
  await session.pin(Array.from({ length: 12 }, (_, i) => i));
  await assert.rejects(session.compact({ reason: "threshold" }), { reason: "TARGET_UNREACHABLE" });
});

test("the program's own model writes the summary, and is told what is wrong with it", async () => {
  const policy = {
    contextWindow: 4000,
    summary: { promptOverride: "Sum it up." },
    strategy: { summarize: { recentTokens: 100 } },
  };
  const session = await client.createSession({ policy });
  await session.append(conversation());
  const complaints: string[] = [];
  const result = await session.compactWith(
    (prompt) => {
      complaints.push(prompt.complaint);
      assert.ok(prompt.text !== "" && prompt.maxAnswerTokens > 0);
      const text = prompt.complaint === "" ? "" : "The ledger was looked at twelve times.";
      return Promise.resolve({ text, model: "mine", usage: { inputTokens: 10, outputTokens: 1 }, costUsd: 0.5 });
    },
    { maxPromptTokens: 2000 },
  );
  assert.equal(result.outcome, "completed");
  const prompts = complaints.length / 2;
  assert.ok(prompts > 1, "the conversation was to be folded");
  assert.deepEqual([...new Set(complaints)].length, 2);
  assert.match(complaints.at(-1) ?? "", /empty/);
  const { compaction } = result;
  const provenance = compaction?.provenance;
  assert.deepEqual(
    [
      provenance?.summarizer,
      provenance?.model,
      provenance?.summarizerCalls,
      provenance?.costUsd,
      provenance?.usage?.inputTokens,
    ],
    ["client", "mine", prompts, 0.5 * prompts, 10 * prompts],
  );
  assert.match(compaction?.summary ?? "", /The ledger was looked at twelve times/);
  assert.equal(result.fallbackCause, "");
  const nothing = await session.compactWith(() => assert.fail("there is nothing to ask"));
  assert.deepEqual([nothing.outcome, nothing.reason], ["skipped", "already_compacted"]);
});

test("an abort does not wait for the program's own model, which gets the signal", async () => {
  const session = await client.createSession({
    policy: { contextWindow: 4000, strategy: { summarize: { recentTokens: 100 } } },
  });
  await session.append(conversation());
  const stop = new AbortController();
  const reason = new Error("no longer wanted");
  let given: AbortSignal | undefined;
  let answered = false;
  const compacting = session.compactWith(
    async (_, { signal }) => {
      given = signal;
      stop.abort(reason);
      // Whoever waits for this answer gets it, after all that an abort sets off at once.
      await setImmediate();
      answered = true;
      return "too late";
    },
    { signal: stop.signal },
  );
  await assert.rejects(compacting, reason);
  assert.equal(answered, false);
  assert.equal(given?.aborted, true);
  // Nothing is in the way of the next one.
  assert.equal((await session.compactWith(() => "The ledger was looked at twelve times.")).outcome, "completed");
});

test("what the program's own model cannot write in three tries, the fallback writes", async () => {
  const session = await client.createSession({
    policy: { contextWindow: 4000, strategy: { summarize: { recentTokens: 100 } } },
  });
  await session.append(conversation());
  let calls = 0;
  const result = await session.compactWith(() => {
    calls++;
    return Promise.resolve("");
  });
  assert.deepEqual([result.outcome, result.compaction?.provenance?.summarizer, calls], ["completed", "extractive", 3]);
  assert.match(result.fallbackCause, /^no summary by client passed the checks: /);
});

// The last one: whether the summarizer is asked in so little time is open, and no test may wait for its turn behind it.
test("the time limit ends a compaction", async () => {
  const session = await heldSession();
  await assert.rejects(session.compact({ timeoutMs: 50 }), { name: "DeadlineExceededError" });
});
