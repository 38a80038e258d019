import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { describe, it } from "node:test";

import { Code } from "@connectrpc/connect";

import { AgentTools, assistant, developer, ConflictError, UnavailableError, user } from "../src/index.js";
import { WrongNextIndexError, type Session } from "../src/index.js";
import { Origin, type AppendMessagesRequest } from "../src/v1.js";
import { TestDaemon } from "./fixture/daemon.js";
import { FakeModel, Gate } from "./fixture/fakeModel.js";
import { conversation, smallWindow, transcript } from "./fixture/transcript.js";

const daemon = await TestDaemon.start(["--log-level", "error"]);
const client = daemon.client();
const other = daemon.client();

const steps = ["before the first answer", "between the call and its result", "after the result"] as const;
const own = {
  [steps[0]]: ["USER Go on."],
  [steps[1]]: ["USER Go on.", "ASSISTANT look({})"],
  [steps[2]]: ["USER Go on.", "ASSISTANT look({})", "TOOL seen"],
};
const others = ["USER And I?", "ASSISTANT look({})", "TOOL seen by the other", "ASSISTANT The other is done."];
const conflict =
  "another process, or another session object of this one, has written to the session during this turn: nothing of " +
  "the rejected append was written; run the turns of a session in one process at a time, and start this turn anew";

const begin = (): Promise<Session> => client.createSession({ policy: smallWindow });
const calling = (id: string): object => ({
  role: "ROLE_ASSISTANT",
  parts: [{ toolCall: { id, name: "look", arguments: "{}" } }],
});

/** A whole turn on the same session by a client of its own. */
async function othersTurn({ id }: Session): Promise<void> {
  const model = new FakeModel(calling("call-2"), assistant("The other is done."));
  const turn = await other.session(id).runTurn(model.call, "And I?", { runTool: () => "seen by the other" });
  assert.equal(turn.done, true);
}

/** A turn with one call, in which something happens at one step. */
function turnWith(session: Session, step: (typeof steps)[number], then: () => unknown): Promise<unknown> {
  const at = async (place: string): Promise<void> => {
    await (place === step && then());
  };
  const model = new FakeModel(
    () => at(steps[0]).then(() => calling("call-1")),
    () => at(steps[2]).then(() => assistant("Done.")),
  );
  return session.runTurn(model.call, "Go on.", { runTool: () => at(steps[1]).then(() => "seen") });
}

/** Fails the next append: before it reaches the daemon, or on the way back. */
function failAppend(reached: boolean): void {
  const real = client.sessions.appendMessages;
  client.sessions.appendMessages = async (request, options) => {
    client.sessions.appendMessages = real;
    if (reached) {
      await real(request, options);
    }
    throw new UnavailableError("the answer was lost", { code: Code.Unavailable, reason: "UNAVAILABLE" });
  };
}

/** A program that runs such a turn, and waits at one step until a line comes. */
const program = `
import { createInterface } from "node:readline";
import { assistant, Client } from ${JSON.stringify(join(import.meta.dirname, "../src/index.js"))};

const [address, id, step] = process.argv.slice(1);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const at = async (place) => {
  if (place === step) {
    console.log("reached");
    await lines.next();
  }
};
const client = new Client({ address });
const call = { role: "ROLE_ASSISTANT", parts: [{ toolCall: { id: "call-1", name: "look", arguments: "{}" } }] };
const callModel = async (view) => {
  await at(view.length === 1 ? "0" : "2");
  return view.length === 1 ? call : assistant("Done.");
};
const runTool = async () => {
  await at("1");
  return "seen";
};
try {
  await client.session(id).runTurn(callModel, "Go on.", { runTool });
} catch (error) {
  console.log(error.name + ": " + error.message);
}
await client.close();
process.exit();
`;

describe("a turn of another process", () => {
  for (const step of steps) {
    for (const again of [["Once more."], []]) {
      it(`${step} is a conflict, and ${again.length === 0 ? "without a message" : "with one"} the next goes on`, async () => {
        const session = await begin();
        await assert.rejects(
          turnWith(session, step, () => othersTurn(session)),
          (error) => {
            assert.ok(error instanceof WrongNextIndexError && error instanceof ConflictError);
            assert.equal(error.message, conflict);
            assert.equal(error.reason, "WRONG_NEXT_INDEX");
            assert.equal(error.nextIndex, own[step].length + others.length);
            return true;
          },
        );
        assert.deepEqual(await transcript(session), [...own[step], ...others]);
        // The session object goes on, and so does the other.
        const ran: string[] = [];
        const runTool = ({ id }: { id: string }): string => {
          ran.push(id);
          return "seen again";
        };
        const model = new FakeModel(calling("call-3"), assistant("Now I am done."));
        const turn = await session.runTurn(model.call, again.map(user), { runTool });
        assert.equal(turn.done, true);
        assert.deepEqual(ran, ["call-3"]);
        await othersTurn(session);
        assert.deepEqual(await transcript(session), [
          ...own[step],
          ...others,
          ...again.map((said) => `USER ${said}`),
          "ASSISTANT look({})",
          "TOOL seen again",
          "ASSISTANT Now I am done.",
          ...others,
        ]);
      });
    }
  }

  for (const [number, step] of steps.entries()) {
    it(`${step} is a conflict for a process, too`, async () => {
      const session = await begin();
      const args = ["--input-type=module", "--eval", program, daemon.address, session.id, String(number)];
      const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
      const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
      assert.equal(line, "reached");
      await othersTurn(session);
      const rest = text(child.stdout);
      child.stdin.end("\n");
      assert.equal(await rest, `WrongNextIndexError: ${conflict}\n`);
      assert.deepEqual(await transcript(session), [...own[step], ...others]);
    });
  }

  it("before or after this one is no conflict", async () => {
    const session = await begin();
    for (let round = 0; round < 2; round++) {
      await session.runTurn(new FakeModel(assistant("Done.")).call, "Go on.");
      await othersTurn(session);
      // Without a message: what is in the log is taken as it is.
      await session.runTurn(new FakeModel(assistant("Done, too.")).call, []);
      await othersTurn(session);
    }
    const round = ["USER Go on.", "ASSISTANT Done.", ...others, "ASSISTANT Done, too.", ...others];
    assert.deepEqual(await transcript(session), [...round, ...round]);
  });

  for (const [what, step] of [
    ["an answer", steps[0]],
    ["a result", steps[1]],
  ] as const) {
    for (const given of [[], ["A new question."]]) {
      it(`is not followed by ${what} that was never sent, ${given.length === 0 ? "without" : "with"} a message`, async () => {
        const session = await begin();
        const failing = turnWith(session, step, () => {
          failAppend(false);
        });
        await assert.rejects(failing, UnavailableError);
        await othersTurn(session);
        const options = { runTool: () => "seen" };
        if (given.length === 0) {
          await assert.rejects(session.runTurn(new FakeModel().call, [], options), WrongNextIndexError);
        }
        await session.runTurn(new FakeModel(assistant("Done.")).call, given.map(user), options);
        const added = given.map((said) => `USER ${said}`);
        assert.deepEqual(await transcript(session), [...own[step], ...others, ...added, "ASSISTANT Done."]);
      });
    }
  }

  it("is a conflict once where another session has got the same id", async () => {
    const session = await conversation(client);
    await session.runTurn(new FakeModel(assistant("Done.")).call, "Go on.");
    await other.session(session.id).delete();
    await other.createSession({ sessionId: session.id });
    const model = new FakeModel(assistant("Done."), assistant("Done."));
    await assert.rejects(session.runTurn(model.call, "Hello."), WrongNextIndexError);
    await session.runTurn(model.call, "Hello?");
    assert.deepEqual(await transcript(session), ["USER Hello.", "USER Hello?", "ASSISTANT Done."]);
  });

  it("lets an announcement wait for the next turn", async () => {
    const session = await conversation(client);
    let asked = 0;
    session.announce = async () => {
      // After the compaction, and after the input, nobody hears of its error.
      if (++asked <= 2) {
        throw new Error("not yet");
      }
      await othersTurn(session);
      return "Task 1 still runs.";
    };
    await session.compact();
    const model = new FakeModel(assistant("Done."));
    await assert.rejects(session.runTurn(model.call, "Go on."), WrongNextIndexError);
    await session.runTurn(model.call, "Go on again.");
    assert.deepEqual((await transcript(session)).slice(-3), [
      "USER Go on again.",
      "DEVELOPER Task 1 still runs.",
      "ASSISTANT Done.",
    ]);
    assert.equal(asked, 3);
  });
});

describe("what the session object itself writes during its turn", () => {
  const works: Record<string, (session: Session) => Promise<unknown>> = {
    "an append": (session) => session.append("a note"),
    "an announced checkpoint": (session) => session.checkpoint({ announce: true }),
    "the end of a child": async (session) => {
      const child = await session.startChild();
      await child.end("found");
    },
  };
  for (const [what, work] of Object.entries(works)) {
    it(`is no conflict: ${what}`, async () => {
      const session = await begin();
      const model = new FakeModel(() => work(session).then(() => assistant("Done.")));
      await session.runTurn(model.call, "Go on.");
      const lines = await transcript(session);
      assert.equal(lines.length, 3);
      assert.equal(lines.at(-1), "ASSISTANT Done.");
    });
  }

  it("is no conflict where it went back: the answer belongs to what was put aside", async () => {
    const session = await begin();
    await session.append([user("zero"), assistant("yes")]);
    const { id } = await session.checkpoint();
    const model = new FakeModel(async () => {
      await session.revert({ toCheckpoint: id }, { messageFromFuture: "Do not." });
      return assistant("Done.");
    });
    await assert.rejects(session.runTurn(model.call, "Go on."), { reason: "HISTORY_REVERTED" });
  });

  for (const by of ["itself", "another"]) {
    it(`is no conflict: what a compaction by ${by} adds`, async () => {
      const session = await conversation(client);
      await session.update({ policy: { ...smallWindow, overflow: { autoContinue: true } } });
      const who = by === "itself" ? session : other.session(session.id);
      const model = new FakeModel(async () => {
        await who.compact({ reason: "overflow", replay: false, abortRunning: false });
        return assistant("Done.");
      });
      await session.runTurn(model.call, []);
      const origins = [];
      for await (const { message } of session.messages()) {
        origins.push(message?.origin);
      }
      assert.deepEqual(origins.slice(-2), [Origin.CONTINUE, Origin.CLIENT]);
    });
  }

  it("is no conflict where its response comes late", async () => {
    const session = await begin();
    const real = client.sessions.appendMessages;
    const written = new Gate();
    const refused = new Gate();
    const order: string[] = [];
    const list = client.sessions.listMessages;
    client.sessions.listMessages = (request, options) => {
      order.push("the log is read");
      return list(request, options);
    };
    client.sessions.appendMessages = async (request, options) => {
      const response = await real(request, options).catch((error: unknown) => {
        refused.open();
        throw error;
      });
      if (!(request as AppendMessagesRequest).modelAnswer && response.firstIndex === 1) {
        written.open();
        await refused.opened;
        // All that can go on without this response does so first.
        await new Promise(setImmediate);
        order.push("the response is there");
      }
      return response;
    };
    let noted: Promise<unknown> | undefined;
    const model = new FakeModel(async () => {
      noted = session.append("a note");
      await written.opened;
      return assistant("Done.");
    });
    try {
      await session.runTurn(model.call, "Go on.");
      await noted;
    } finally {
      client.sessions.appendMessages = real;
      client.sessions.listMessages = list;
    }
    assert.deepEqual(order, ["the response is there"]);
    assert.deepEqual(await transcript(session), ["USER Go on.", "USER a note", "ASSISTANT Done."]);
  });

  for (const [what, step] of [
    ["an answer", steps[0]],
    ["a result", steps[1]],
  ] as const) {
    for (const reached of [true, false]) {
      it(`is no conflict for ${what} that is sent again, which the daemon ${reached ? "has" : "has not"}`, async () => {
        const session = await begin();
        const failing = turnWith(session, step, () => {
          failAppend(reached);
        });
        await assert.rejects(failing, UnavailableError);
        await session.append(developer("a note"));
        await session.runTurn(new FakeModel(assistant("Done.")).call, [], { runTool: () => "seen" });
        const lines = (await transcript(session)).filter((line) => line !== "DEVELOPER a note");
        assert.deepEqual(lines, [...own[steps[2]], "ASSISTANT Done."]);
      });
    }
  }

  it("is appended once: an announcement that is sent again in a turn", async () => {
    const session = await conversation(client);
    await session.runTurn(new FakeModel(assistant("Done.")).call, "Go on.");
    session.announce = () => "Task 1 still runs.";
    failAppend(true);
    await session.compact();
    await session.runTurn(new FakeModel(assistant("Done.")).call, "And on.");
    const lines = await transcript(session);
    assert.deepEqual(lines.slice(-3), ["DEVELOPER Task 1 still runs.", "USER And on.", "ASSISTANT Done."]);
  });

  it("is known without another call: an announced checkpoint of each step", async () => {
    const session = await begin();
    const real = client.sessions.appendMessages;
    let appends = 0;
    client.sessions.appendMessages = (request, options) => {
      appends++;
      return real(request, options);
    };
    const model = new FakeModel(calling("call-1"), assistant("Done."));
    try {
      const tools = new AgentTools(session, { dmail: true });
      await session.runTurn(model.call, "Go on.", { tools, runTool: () => "seen" });
    } finally {
      client.sessions.appendMessages = real;
    }
    // The input, the answer, the result, the last answer: none was refused and sent again.
    assert.equal(appends, 4);
  });
});
