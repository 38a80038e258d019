import assert from "node:assert/strict";
import { after, test } from "node:test";

import type { AssistantMessage, Message, ToolCall, ToolResultMessage } from "@earendil-works/pi-ai";
import type { ContextEvent, ExtensionAPI, ExtensionContext, SessionEntry } from "@earendil-works/pi-coding-agent";
import { embedded, type Session } from "compactord";
import fc from "fast-check";

import { linesOf, recordings } from "../../test/recordings.ts";
import compactord from "../compactord.ts";

// What Pi's hook before a model call gives back, of a branch that is given.

// Nothing listens at this port: the model refuses each summary.
const nobody = { kind: "openai", base_url: "http://127.0.0.1:9/v1", model: "m", context_window: 100_000, tries: 1 };
const client = await embedded({ config: { summarizers: { nobody } } });
after(() => client.close());
process.env["COMPACTORD_ADDR"] = client.address;

type Hook = (event: ContextEvent, ctx: ExtensionContext) => Promise<{ messages: unknown[] } | undefined>;

// Without edits of long results: the messages that come back are those that were given.
const contextWindow = 10_000_000;
const policy = { contextWindow, onAppend: {} };

/** Gives the hook the messages of a branch, in a session of their own; returns what the model is to be sent. */
async function shown(messages: readonly Message[], session: Session): Promise<unknown[]> {
  const [made] = await shownBeforeCalls([messages], session, (text) => assert.fail(text));
  assert.ok(made !== undefined);
  return made;
}

/** Gives the hook of one process the branch before each call; undefined where Pi is to send its own messages. */
async function shownBeforeCalls(
  branches: readonly (readonly Message[])[],
  session: Session,
  notify: (text: string) => void,
): Promise<(unknown[] | undefined)[]> {
  const hooks = new Map<string, Hook>();
  const pi = { on: (name: string, hook: Hook) => hooks.set(name, hook), registerTool: () => undefined };
  compactord(pi as unknown as ExtensionAPI);
  const window = (await session.info()).session?.policy?.contextWindow;
  const made = [];
  for (const messages of branches) {
    const entries = messages.map((message, at): SessionEntry => {
      const timestamp = new Date(0).toISOString();
      return { type: "message", id: `e${at}`, parentId: at === 0 ? null : `e${at - 1}`, timestamp, message };
    });
    const ctx = {
      hasUI: true,
      ui: { notify },
      model: { contextWindow: window },
      sessionManager: { getBranch: () => entries, getSessionId: () => session.id.replace(/^pi-/, "") },
    } as unknown as ExtensionContext;
    made.push((await hooks.get("context")?.({ type: "context", messages: [...messages] }, ctx))?.messages);
  }
  await (hooks.get("session_shutdown") as unknown as (() => Promise<void>) | undefined)?.();
  return made;
}

let sessions = 0;
function newSession(): Promise<Session> {
  sessions++;
  return client.createSession({ sessionId: `pi-${sessions}`, policy });
}

function assertSame(found: readonly unknown[], wanted: readonly unknown[]): void {
  assert.equal(found.length, wanted.length);
  found.forEach((one, at) => {
    assert.equal(one, wanted[at], `message ${at}`);
  });
}

const words = fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 }).filter((text) => text.trim() !== "");
const image = { type: "image" as const, data: "iVBORw0KGgo=", mimeType: "image/png" };

function answer(
  content: AssistantMessage["content"],
  stopReason: AssistantMessage["stopReason"],
  at: number,
): AssistantMessage {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  return {
    role: "assistant",
    content,
    api: "openai-completions",
    provider: "make-believe",
    model: "make-believe",
    usage: { input: 9, output: 5, cacheRead: 3, cacheWrite: 0, totalTokens: 17, cost },
    stopReason,
    timestamp: at,
  };
}

/** A message of the user, an answer with parallel calls, and their results. */
function turn(number: number): fc.Arbitrary<Message[]> {
  return fc
    .record({
      asked: words,
      seen: fc.boolean(),
      text: words,
      thinks: fc.boolean(),
      results: fc.array(fc.tuple(words, fc.boolean(), fc.boolean()), { maxLength: 3 }),
      args: fc.dictionary(words, words, { maxKeys: 2 }),
    })
    .map(({ asked, seen, text, thinks, results, args }): Message[] => {
      const calls = results.map((_, at) => ({
        type: "toolCall" as const,
        id: `call_${number}_${at}`,
        name: "look",
        arguments: { ...args },
      }));
      return [
        { role: "user", content: seen ? [{ type: "text", text: asked }, image] : asked, timestamp: number },
        answer(
          [
            ...(thinks ? [{ type: "thinking" as const, thinking: "I think.", thinkingSignature: "sealed" }] : []),
            { type: "text", text },
            ...calls,
          ],
          calls.length > 0 ? "toolUse" : "stop",
          number,
        ),
        ...results.map(([said, pictured, isError], at): ToolResultMessage => ({
          role: "toolResult",
          toolCallId: `call_${number}_${at}`,
          toolName: "look",
          content: [{ type: "text", text: said }, ...(pictured ? [image] : [])],
          details: { rows: [number] },
          isError,
          timestamp: number,
        })),
      ];
    });
}

const conversations = fc
  .integer({ min: 1, max: 4 })
  .chain((turns) => fc.tuple(...Array.from({ length: turns }, (_, number) => turn(number))))
  .map((turns) => turns.flat());

test("messages of Pi come back as they are", async () => {
  await fc.assert(
    fc.asyncProperty(conversations, async (messages) => {
      const before = JSON.stringify(messages);
      assertSame(await shown(messages, await newSession()), messages);
      assert.equal(JSON.stringify(messages), before);
    }),
    { numRuns: 40 },
  );
});

test("where a compaction fails, the model is sent the view, and the user is told once", async () => {
  sessions++;
  const strategy = { summarize: { recentTokens: 200 } };
  const summary = { summarizer: "nobody", fallback: "fail" as const };
  const session = await client.createSession({
    sessionId: `pi-${sessions}`,
    policy: { contextWindow: 4_000, strategy, summary },
  });
  const branch: Message[] = [
    { role: "user", content: "word ".repeat(2_000), timestamp: 1 },
    answer([{ type: "text", text: "Done." }], "stop", 2),
    { role: "user", content: "word ".repeat(4_000), timestamp: 3 },
  ];
  const told: string[] = [];
  const next: Message = { role: "user", content: "And now?", timestamp: 4 };
  const made = await shownBeforeCalls([branch, [...branch, next]], session, (text) => told.push(text));
  assert.deepEqual(
    made.map((one) => one?.length),
    [3, 4],
  );
  assert.equal(told.length, 1, told.join("\n"));
});

interface Line {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly { id: string; function: { name: string; arguments: string } }[];
  readonly tool_call_id?: string;
}

function recorded(
  { role, content, tool_calls: calls = [], tool_call_id: toolCallId = "" }: Line,
  at: number,
): Message[] {
  const text = typeof content === "string" ? content : "";
  switch (role) {
    case "user":
      return text === "" ? [] : [{ role: "user", content: text, timestamp: at }];
    case "assistant": {
      const made = calls.map(({ id, function: { name, arguments: given } }) => ({
        type: "toolCall" as const,
        id,
        name,
        arguments: objectIn(given),
      }));
      return [answer([...(text === "" ? [] : [{ type: "text" as const, text }]), ...made], "stop", at)];
    }
    case "tool":
      return [
        {
          role: "toolResult",
          toolCallId,
          toolName: "recorded",
          content: [{ type: "text", text }],
          isError: false,
          timestamp: at,
        },
      ];
    default:
      return [];
  }
}

function objectIn(text: string): ToolCall["arguments"] {
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === "object" && read !== null ? (read as ToolCall["arguments"]) : {};
  } catch {
    return {};
  }
}

for (const name of recordings()) {
  test(`as messages of Pi, those of ${name} come back as they are`, async () => {
    const messages = linesOf(name).flatMap((line, at) => recorded(JSON.parse(line) as Line, at));
    const session = await newSession();
    const own = new Set<unknown>(messages);
    // Where a call has no result, the view has one that says so.
    const found = (await shown(messages, session)).filter((one) => own.has(one));
    assertSame(found, messages);
    // A second time nothing changes.
    const { nextIndex } = (await session.info()).session ?? {};
    await shown(messages, session);
    assert.equal((await session.info()).session?.nextIndex, nextIndex);
  });
}
