import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { Code } from "@connectrpc/connect";

import { assistant, CompactordError, UnavailableError, user, type Session } from "../src/index.js";
import type { AppendMessagesRequest } from "../src/v1.js";
import { TestDaemon } from "./fixture/daemon.js";
import { FakeModel, throwing } from "./fixture/fakeModel.js";
import { conversation, smallWindow, transcript } from "./fixture/transcript.js";

const daemon = await TestDaemon.start(["--log-level", "error"]);
const client = daemon.client();
const overflow = (): Error => Object.assign(new Error("prompt is too long"), { status: 400 });
const begin = (): Promise<Session> => client.createSession({ policy: smallWindow });

/** Fails the next such append: before it reaches the daemon, or on the way back. */
function failAppend(
  which: (request: AppendMessagesRequest) => boolean,
  {
    reached,
    as = new UnavailableError("the answer was lost", { code: Code.Unavailable, reason: "UNAVAILABLE" }),
  }: { reached: boolean; as?: CompactordError },
): void {
  const real = client.sessions.appendMessages;
  client.sessions.appendMessages = async (request, options) => {
    if (!which(request as AppendMessagesRequest)) {
      return real(request, options);
    }
    client.sessions.appendMessages = real;
    if (reached) {
      await real(request, options);
    }
    throw as;
  };
}

const isAnswer = ({ modelAnswer }: AppendMessagesRequest): boolean => modelAnswer;
const isResult = ({ messages }: AppendMessagesRequest): boolean =>
  messages.some(({ parts }) => parts.some(({ kind }) => kind.case === "toolResult"));
const calling = (id: string): object => ({
  role: "ROLE_ASSISTANT",
  parts: [{ toolCall: { id, name: "read", arguments: "{}" } }],
});

describe("a turn that broke off", () => {
  for (const as of [
    new UnavailableError("the answer was lost", { code: Code.Unavailable, reason: "UNAVAILABLE" }),
    new CompactordError("the answer was lost", { code: Code.Canceled, reason: "CANCELLED" }),
  ]) {
    it(`does not double an answer whose append was lost, told by ${as.reason}`, async () => {
      const session = await begin();
      failAppend(isAnswer, { reached: true, as });
      await assert.rejects(session.runTurn(new FakeModel(assistant("Done.")).call, "hi"), as);
      await session.append(user("[note]"));
      assert.equal((await session.runTurn(new FakeModel().call, [])).text, "Done.");
      assert.deepEqual(await transcript(session), ["USER hi", "ASSISTANT Done.", "USER [note]"]);
    });
  }

  it("does not double a result whose append was lost", async () => {
    const session = await begin();
    failAppend(isResult, { reached: true });
    const model = new FakeModel(calling("c1"), assistant("Done."));
    const options = { runTool: () => "42" };
    await assert.rejects(session.runTurn(model.call, "hi", options), UnavailableError);
    await session.append(user("[note]"));
    await session.runTurn(model.call, [], options);
    assert.deepEqual(await transcript(session), [
      "USER hi",
      "ASSISTANT read({})",
      "TOOL 42",
      "USER [note]",
      "ASSISTANT Done.",
    ]);
  });

  it("keeps its input where that was never sent", async () => {
    const session = await begin();
    failAppend(() => true, { reached: false });
    await assert.rejects(session.runTurn(new FakeModel().call, "hi"), UnavailableError);
    await session.runTurn(new FakeModel(assistant("Done.")).call, []);
    assert.deepEqual(await transcript(session), ["USER hi", "ASSISTANT Done."]);
  });

  it("gives up input that was never sent where something else is appended", async () => {
    const session = await begin();
    failAppend(() => true, { reached: false });
    await assert.rejects(session.runTurn(new FakeModel().call, "hi"), UnavailableError);
    await session.append([user("typed later"), assistant("an answer")]);
    await session.runTurn(new FakeModel(assistant("Done.")).call, "third");
    assert.deepEqual(await transcript(session), [
      "USER typed later",
      "ASSISTANT an answer",
      "USER third",
      "ASSISTANT Done.",
    ]);
  });

  it("keeps new input where an answer that was never sent was reverted", async () => {
    const session = await begin();
    await session.append([user("zero"), assistant("yes")]);
    failAppend(isAnswer, { reached: false });
    await assert.rejects(session.runTurn(new FakeModel(assistant("Lost.")).call, "hi"), UnavailableError);
    await client.session(session.id).revert({ turns: 1 });
    await session.runTurn(new FakeModel(assistant("Done.")).call, "A new question.");
    assert.deepEqual((await transcript(session)).slice(-2), ["USER A new question.", "ASSISTANT Done."]);
  });

  for (const by of ["itself", "another"]) {
    it(`does not run the tools of calls that were reverted by ${by}`, async () => {
      const session = await begin();
      await session.append([user("zero"), assistant("yes")]);
      failAppend(isResult, { reached: false });
      let runs = 0;
      const options = { runTool: () => String(++runs) };
      await assert.rejects(session.runTurn(new FakeModel(calling("c1")).call, "hi", options), UnavailableError);
      await (by === "itself" ? session : client.session(session.id)).revert({ turns: 1 });
      await session.runTurn(new FakeModel(assistant("Done.")).call, [], options);
      assert.equal(runs, 1);
      assert.ok(!(await transcript(session)).some((line) => line.startsWith("TOOL")));
    });
  }

  it("may compact again after an overflow where the compaction failed", async () => {
    const session = await conversation(client);
    const failing = { summarizeWith: () => Promise.reject(new Error("summarizer down")) };
    await assert.rejects(session.runTurn(new FakeModel(throwing(overflow())).call, "hi", failing), /summarizer down/);
    const model = new FakeModel(throwing(overflow()), assistant("Done."));
    assert.equal((await session.runTurn(model.call, [])).compactions.length, 1);
  });

  it("ends with what onEvent throws, in a threshold compaction too", async () => {
    const session = await conversation(client);
    await session.update({ policy: { ...smallWindow, trigger: { triggerTokens: 3_000 } } });
    const onEvent = (): void => {
      throw new Error("the program broke");
    };
    await assert.rejects(session.runTurn(new FakeModel().call, "hi", { onEvent }), /the program broke/);
  });

  it("makes checkpoints again once input has ended a pause", async () => {
    const session = await client.createSession({ policy: smallWindow, dialect: "anthropic" });
    const said = (text: string, why: string): object => ({
      type: "message",
      role: "assistant",
      stop_reason: why,
      content: [{ type: "text", text }],
    });
    await session.runTurn(new FakeModel(said("Searching", "pause_turn")).call, "hi", { maxSteps: 1 });
    await session.runTurn(new FakeModel(said("Well.", "end_turn")).call, "never mind", { checkpointSteps: true });
    const ids = [];
    for await (const { checkpoint } of session.checkpoints()) {
      ids.push(checkpoint.id);
    }
    assert.deepEqual(ids, [1]);
  });

  it("tells a stream that had no events", async () => {
    const session = await begin();
    const none = new FakeModel({ [Symbol.iterator]: () => [][Symbol.iterator]() });
    await assert.rejects(session.runTurn(none.call, "hi"), /the model's stream had no events/);
  });
});

describe("an announcement that throws", () => {
  it("neither undoes what was appended nor what was compacted, and is asked for again", async () => {
    const session = await conversation(client);
    let broken = true;
    session.announce = () => {
      if (broken) {
        throw new Error("announce broke");
      }
      return "Task 1 still runs.";
    };
    const model = new FakeModel(async () => {
      assert.equal((await session.compact({ abortRunning: false })).done, true);
      return calling("c1");
    }, assistant("Done."));
    const options = { runTool: () => "42" };
    await assert.rejects(session.runTurn(model.call, "hi", options), /announce broke/);
    broken = false;
    await session.runTurn(model.call, [], options);
    assert.deepEqual((await transcript(session)).slice(-5), [
      "USER hi",
      "ASSISTANT read({})",
      "TOOL 42",
      "DEVELOPER Task 1 still runs.",
      "ASSISTANT Done.",
    ]);
  });

  it("may compact itself", async () => {
    const session = await conversation(client);
    let asked = 0;
    session.announce = async () => {
      if (asked++ === 0) {
        for (let turn = 0; turn < 3; turn++) {
          await session.append([user("word ".repeat(1_000)), assistant("word ".repeat(1_000))]);
        }
        assert.equal((await session.compact()).done, true);
      }
      return `State ${String(asked)}.`;
    };
    await session.compact();
    assert.equal(asked, 2);
  });
});
