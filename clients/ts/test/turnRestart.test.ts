import assert from "node:assert/strict";
import { after, describe, it } from "node:test";

import { assistant, UnavailableError, user, type Client, type Session } from "../src/index.js";
import { TestDaemon } from "./fixture/daemon.js";
import { FakeModel, throwing, type Act } from "./fixture/fakeModel.js";
import { transcript } from "./fixture/transcript.js";

const daemon = await TestDaemon.start(["--log-level", "error"]);
const client = daemon.client();
let restarting: Promise<void> = Promise.resolve();

/** Kills the daemon and starts it again; what is asked of it meanwhile finds nobody there. */
function crash(): Promise<void> {
  restarting = daemon.kill().then(() => daemon.startAgain());
  return restarting;
}

/** Kills the daemon; it comes back while the next call is being sent again. */
async function crashBeforeNextCall(): Promise<void> {
  await daemon.kill();
  restarting = daemon.startAgain();
}

/** What is done at each place of the loop; nothing, unless the test says so. */
interface Disturbance {
  readonly beforeInput?: () => Promise<void>;
  readonly inModel?: () => Promise<void>;
  readonly afterModel?: () => Promise<void>;
  readonly inTool?: () => Promise<void>;
  readonly afterTool?: () => Promise<void>;
  readonly inCompaction?: () => Promise<void>;
  readonly afterOverflow?: () => Promise<void>;
}

const policy = {
  preset: "default",
  contextWindow: 16_000,
  trigger: { triggerTokens: 3_000 },
  strategy: { summarize: { recentTokens: 200 } },
} as const;

/** Two turns with a tool call each, a compaction that is due, and one after an overflow. */
async function loop(disturb: Disturbance): Promise<Session> {
  const session = await client.createSession({ policy, dialect: "openai_chat" });
  await session.append([user("word ".repeat(2_000)), assistant("word ".repeat(2_000))]);
  const said = (act: object, during?: () => Promise<void>, behind?: () => Promise<void>): Act => {
    return async () => {
      await during?.();
      await behind?.();
      return act;
    };
  };
  // A compaction that is asked for again begins anew.
  let started = 0;
  const options = {
    runTool: async () => {
      await disturb.inTool?.();
      await disturb.afterTool?.();
      return "word ".repeat(400);
    },
    onEvent: ({ event }: { event: { case: string | undefined } }) => {
      if (event.case === "started" && started++ === 0) {
        void disturb.inCompaction?.();
      }
    },
  };
  await disturb.beforeInput?.();
  const first = new FakeModel(
    said(chat("I look.", "c1"), disturb.inModel, disturb.afterModel),
    said(chat("It says 42.")),
  );
  await session.runTurn(first.call, "What does it say?", options);
  const overflow: Act = async (view, context) => {
    await disturb.afterOverflow?.();
    return throwing(Object.assign(new Error("maximum context length"), { status: 400 }))(view, context);
  };
  const second = new FakeModel(said(chat("Again.", "c2")), overflow, said(chat("Still 42.")));
  const turn = await session.runTurn(second.call, "And now?", options);
  await restarting;
  assert.equal(turn.text, "Still 42.");
  assert.equal(first.left + second.left, 0);
  return session;
}

function chat(content: string, call?: string): object {
  const tool_calls = [{ id: call, type: "function", function: { name: "read", arguments: "{}" } }];
  return { role: "assistant", content, ...(call !== undefined && { tool_calls }) };
}

async function compactionsOf(session: Session): Promise<number> {
  let count = 0;
  for await (const entry of session.compactions()) {
    count += entry.id === "" ? 0 : 1;
  }
  return count;
}

describe("the daemon killed and started again amid an agent's loop", () => {
  const disturbances: Record<string, Disturbance> = {
    "before the input": { beforeInput: crash },
    "while the input is appended": { beforeInput: crashBeforeNextCall },
    "while a compaction runs": { inCompaction: crash },
    "while the model is called": { inModel: crash },
    "between the model's answer and its append": { afterModel: crashBeforeNextCall },
    "while a tool runs": { inTool: crash },
    "between the tool's answer and its append": { afterTool: crashBeforeNextCall },
    "between an overflow and its judgement": { afterOverflow: crashBeforeNextCall },
    everywhere: {
      beforeInput: crash,
      inCompaction: crash,
      afterModel: crashBeforeNextCall,
      afterTool: crashBeforeNextCall,
    },
  };
  const undisturbed = loop({}).then(async (session) => ({
    transcript: await transcript(session),
    compactions: await compactionsOf(session),
  }));

  for (const [place, disturbance] of Object.entries(disturbances)) {
    it(`${place}: nothing is lost or doubled`, async () => {
      const calm = await undisturbed;
      assert.ok(calm.compactions >= 2);
      const session = await loop(disturbance);
      assert.deepEqual(await transcript(session), calm.transcript);
      assert.equal(await compactionsOf(session), calm.compactions);
    });
  }

  it("for longer than calls are sent again: the next turn goes on where this one broke off", async () => {
    const impatient: Client = daemon.client({ retry: false });
    const session = impatient.session((await client.createSession({ dialect: "openai_chat" })).id, {
      dialect: "openai_chat",
    });
    let runs = 0;
    const model = new FakeModel(async () => {
      await daemon.kill();
      return chat("I look.", "c1");
    }, chat("It says 42."));
    const options = {
      runTool: async () => {
        runs++;
        await daemon.kill();
        return "42";
      },
    };
    await assert.rejects(session.runTurn(model.call, "What does it say?", options), UnavailableError);
    await daemon.startAgain();
    await assert.rejects(session.runTurn(model.call, [], options), UnavailableError);
    await daemon.startAgain();
    const turn = await session.runTurn(model.call, [], options);
    assert.equal(turn.text, "It says 42.");
    assert.equal(runs, 1);
    assert.deepEqual(await transcript(session), [
      "USER What does it say?",
      "ASSISTANT I look. read({})",
      "TOOL 42",
      "ASSISTANT It says 42.",
    ]);
  });
});

after(() => restarting);
