import assert from "node:assert/strict";
import { describe, it } from "node:test";

import {
  CompactordError,
  assistant,
  developer,
  toolResult,
  TurnAbortedError,
  user,
  type Session,
} from "../src/index.js";
import type { CompactionEvent } from "../src/v1.js";
import { TestDaemon } from "./fixture/daemon.js";
import { FakeModel, Gate, throwing } from "./fixture/fakeModel.js";
import { HeldSummarizer, heldPolicy } from "./fixture/summarizer.js";
import { conversation, transcript } from "./fixture/transcript.js";

const summarizer = await HeldSummarizer.start();
const daemon = await TestDaemon.start(["--log-level", "error", "--config", summarizer.config()]);
const client = daemon.client();
const overflow = (): Error => Object.assign(new Error("prompt is too long"), { status: 400 });
let asked = 0;

/** A session that is due for compaction, with a summarizer that the test lets fail. */
async function dueSession(): Promise<Session> {
  const session = await client.createSession({ policy: heldPolicy });
  for (let turn = 0; turn < 3; turn++) {
    await session.append([user("word ".repeat(1_000)), assistant("word ".repeat(1_000))]);
  }
  return session;
}

/** Waits for the summarizer to be asked once more, and has it refuse. */
async function refuseNext(): Promise<void> {
  await summarizer.asked(++asked);
  summarizer.refuse();
}

describe("compactions and turns", () => {
  it("case 163: a compaction that fails after an overflow ends the turn with its error, and nothing is tried again", async () => {
    const session = await dueSession();
    await session.update({ policy: { ...heldPolicy, trigger: { enabled: false } } });
    const model = new FakeModel(throwing(overflow()));
    const turn = session.runTurn(model.call, "Go on.");
    await Promise.all([assert.rejects(turn, { reason: "SUMMARIZER_REFUSED" }), refuseNext()]);
    assert.equal(model.views.length, 1);
    assert.equal((await transcript(session)).at(-1), "USER Go on.");
  });

  it("case 164: a threshold compaction that fails is told once, and is not tried again in the turn", async () => {
    const session = await dueSession();
    const events: CompactionEvent[] = [];
    const model = new FakeModel(assistantCalling("c1"), assistantCalling("c2"), assistant("Done."));
    const [turn] = await Promise.all([
      session.runTurn(model.call, "Go on.", { runTool: () => "fine", onEvent: (event) => events.push(event) }),
      refuseNext(),
    ]);
    assert.equal(turn.text, "Done.");
    assert.equal(turn.steps, 3);
    assert.equal(turn.compactions.length, 1);
    const [failed] = turn.compactions;
    assert.equal(failed instanceof CompactordError && failed.reason, "SUMMARIZER_REFUSED");
    assert.deepEqual(events.filter(({ event }) => event.case === "failed").length, 1);
    assert.deepEqual(events.filter(({ event }) => event.case === "started").length, 1);
    assert.equal(turn.report?.shouldCompact, true);
    const next = new FakeModel(assistant("Again."));
    const [again] = await Promise.all([session.runTurn(next.call, "And now?"), refuseNext()]);
    assert.equal(again.compactions.length, 1);
  });

  it("case 164: nothing to compact is silent", async () => {
    const session = await client.createSession({ policy: { contextWindow: 4_000, trigger: { triggerTokens: 100 } } });
    const model = new FakeModel(assistant("Hello."));
    const events: CompactionEvent[] = [];
    const turn = await session.runTurn(model.call, "word ".repeat(300), { onEvent: (event) => events.push(event) });
    assert.deepEqual(turn.compactions, []);
    assert.deepEqual(events, []);
    assert.equal(turn.text, "Hello.");
  });

  it("case 168: a compaction aborts the turn that runs, and what its model still says is never appended", async () => {
    const session = await conversation(client);
    const gate = new Gate<string>();
    const called = new Gate();
    const signals: AbortSignal[] = [];
    const turn = session.runTurn((_, { signal }) => {
      signals.push(signal);
      called.open();
      return gate.opened;
    }, "Go on.");
    await called.opened;
    const [result] = await Promise.all([
      session.compact(),
      assert.rejects(turn, (error: unknown) => error instanceof TurnAbortedError && error.reason === "TURN_ABORTED"),
    ]);
    assert.equal(result.done, true);
    assert.equal(signals[0]?.aborted, true);
    gate.open("too late");
    assert.equal((await transcript(session)).at(-1), "USER Go on.");
    const next = await session.runTurn(new FakeModel(assistant("Here.")).call, []);
    assert.equal(next.text, "Here.");
  });

  it("case 168: it does not wait for a tool that runs, whose result is dropped", async () => {
    const session = await conversation(client);
    const called = new Gate();
    const never = new Gate<string>();
    const turn = session.runTurn(new FakeModel(assistantCalling("c1")).call, "Go on.", {
      runTool: () => {
        called.open();
        return never.opened;
      },
    });
    await called.opened;
    await Promise.all([session.compact(), assert.rejects(turn, TurnAbortedError)]);
    never.open("too late");
    assert.equal((await transcript(session)).at(-1), "ASSISTANT read({})");
  });

  it("case 168: a compaction of the turn itself is cancelled first", async () => {
    const session = await dueSession();
    const turn = session.runTurn(new FakeModel().call, "Go on.");
    await summarizer.asked(++asked);
    const manual = session.compact({ policy: { summary: { summarizer: "extractive" } } });
    await assert.rejects(turn, TurnAbortedError);
    assert.equal((await manual).done, true);
    summarizer.refuse();
  });

  it("goes on beside a turn with abortRunning false", async () => {
    const session = await conversation(client);
    const gate = new Gate<string>();
    const called = new Gate();
    const turn = session.runTurn(() => {
      called.open();
      return gate.opened;
    }, "Go on.");
    await called.opened;
    assert.equal((await session.compact({ abortRunning: false })).done, true);
    gate.open("In time.");
    assert.equal((await turn).text, "In time.");
  });

  it("aborts at the caller's word and at the caller's signal, and takes one turn at a time", async () => {
    const session = await client.createSession();
    const called = new Gate();
    const hanging = (): Promise<string> => {
      called.open();
      return new Promise(() => undefined);
    };
    const turn = session.runTurn(hanging, "Hello");
    await assert.rejects(session.runTurn(hanging, "Hello"), { reason: "TURN_RUNNING" });
    await called.opened;
    const [aborted] = await Promise.all([session.abortTurn(), assert.rejects(turn, TurnAbortedError)]);
    assert.equal(aborted, true);
    assert.equal(await session.abortTurn(), false);

    const controller = new AbortController();
    const reason = new Error("enough");
    const other = session.runTurn(
      () => {
        controller.abort(reason);
        return new Promise<string>(() => undefined);
      },
      [],
      { signal: controller.signal },
    );
    await assert.rejects(other, (error: unknown) => error === reason);
    assert.deepEqual(await transcript(session), ["USER Hello"]);
  });

  it("case 170: input of a turn that begins during a compaction is appended at once, and the model is called after its end", async () => {
    const session = await dueSession();
    await session.update({ policy: { ...heldPolicy, trigger: { enabled: false } } });
    const order: string[] = [];
    const compaction = session.compact().then(
      () => order.push("completed"),
      () => order.push("failed"),
    );
    await summarizer.asked(++asked);
    const appended = watchFor(session, "Meanwhile");
    const turn = session.runTurn(() => {
      order.push("model");
      return "Here.";
    }, "Meanwhile");
    await appended;
    assert.deepEqual(order, []);
    await session.append(developer("Mind the tide."));
    summarizer.refuse();
    await compaction;
    assert.equal((await turn).text, "Here.");
    assert.deepEqual(order, ["failed", "model"]);
    assert.deepEqual((await transcript(session)).slice(-3), [
      "USER Meanwhile",
      "DEVELOPER Mind the tide.",
      "ASSISTANT Here.",
    ]);
  });

  it("waits for another client's compaction, and then looks again whether one is due", async () => {
    const session = await dueSession();
    const order: string[] = [];
    const other = daemon
      .client()
      .session(session.id)
      .compact()
      .then(
        () => order.push("completed"),
        () => order.push("failed"),
      );
    await summarizer.asked(++asked);
    const refused = new Gate();
    const compacting = session.compacting.bind(session);
    session.compacting = (options) => {
      const compaction = compacting(options);
      const finish = compaction.finish.bind(compaction);
      compaction.finish = async (onEvent) => {
        try {
          return await finish(onEvent);
        } catch (error) {
          if (error instanceof CompactordError && error.reason === "COMPACTION_RUNNING") {
            refused.open();
          }
          throw error;
        }
      };
      return compaction;
    };
    const turn = session.runTurn(() => {
      order.push("model");
      return "Here.";
    }, "Go on.");
    await refused.opened;
    summarizer.refuse();
    await other;
    await refuseNext();
    assert.equal((await turn).compactions.length, 1);
    assert.deepEqual(order, ["failed", "model"]);
  });

  it("case 174: what is to be known again is appended after a compaction, before the model is called", async () => {
    const session = await conversation(client);
    let compactions = 0;
    session.announce = (result) => {
      assert.equal(result.done, true);
      return `Background task ${String(++compactions)} still runs.`;
    };
    await session.compact();
    assert.equal((await transcript(session)).at(-1), "DEVELOPER Background task 1 still runs.");

    for (let turn = 0; turn < 2; turn++) {
      await session.append([user("word ".repeat(1_000)), assistant("word ".repeat(1_000))]);
    }
    const model = new FakeModel(throwing(overflow()), assistant("Here."));
    await session.runTurn(model.call, "Go on.");
    assert.equal(compactions, 2);
    assert.deepEqual((await transcript(session)).slice(-2), [
      "DEVELOPER Background task 2 still runs.",
      "ASSISTANT Here.",
    ]);
    const last = model.views[1]?.neutral.at(-1)?.message?.parts[0]?.kind;
    assert.equal(last?.case === "text" && last.value.text, "Background task 2 still runs.");
  });

  it("case 174: while calls are open it is put off until they are answered", async () => {
    const session = await conversation(client);
    session.announce = () => "Background task 1 still runs.";
    const open = await session.runTurn(new FakeModel(assistantCalling("c1")).call, "Look.");
    assert.equal(open.toolCalls.length, 1);
    await session.compact();
    assert.equal((await transcript(session)).at(-1), "ASSISTANT read({})");
    const [call] = open.toolCalls;
    assert.ok(call);

    const turn = await session.runTurn(new FakeModel(assistant("Here.")).call, toolResult(call, "fine"));
    assert.equal(turn.text, "Here.");
    assert.deepEqual((await transcript(session)).slice(-3), [
      "TOOL fine",
      "DEVELOPER Background task 1 still runs.",
      "ASSISTANT Here.",
    ]);
  });

  it("has the summaries of its compactions written by the caller's own model", async () => {
    const session = await conversation(client);
    const prompts: string[] = [];
    const model = new FakeModel(throwing(overflow()), assistant("Here."));
    const turn = await session.runTurn(model.call, "Go on.", {
      summarizeWith: ({ text }) => {
        prompts.push(text);
        return Promise.resolve("nothing that passes the checks");
      },
    });
    assert.ok(prompts.length > 0);
    assert.equal(turn.text, "Here.");
  });
});

function assistantCalling(id: string): object {
  return { role: "ROLE_ASSISTANT", parts: [{ toolCall: { id, name: "read", arguments: "{}" } }] };
}

/** Settles once the log has a message with this text. */
async function watchFor(session: Session, text: string): Promise<void> {
  for await (const item of client.session(session.id).watch({ fromSequence: 0 })) {
    const kind = item.case === "message" ? item.value.message?.parts[0]?.kind : undefined;
    if (kind?.case === "text" && kind.value.text === text) {
      return;
    }
  }
}
