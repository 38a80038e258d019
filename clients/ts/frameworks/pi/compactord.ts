// An extension of Pi: the model is sent the view of a session of compactord in place of all messages of the branch.
//
// README.md beside this file says how to install it.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { AssistantMessage, ImageContent, Message, TextContent, ToolCall } from "@earendil-works/pi-ai";
import {
  convertToLlm,
  sessionEntryToContextMessages,
  type ExtensionAPI,
  type ExtensionContext,
  type SessionEntry,
} from "@earendil-works/pi-coding-agent";
import {
  AgentTools,
  Client,
  CompactordError,
  ConflictError,
  InvalidRequestError,
  SessionExistsError,
  UnavailableError,
  type Session,
  type Synced,
} from "compactord";
import { MessageSchema, Role, StopReason, type Part, type ResultPart, type ViewMessage } from "compactord/v1";

type AgentMessage = ReturnType<typeof sessionEntryToContextMessages>[number];
type Content = AssistantMessage["content"][number] | ImageContent;

/** A message of the branch, with the entry that it is of, and its neutral form. */
interface Held {
  readonly entry: string;
  readonly own: Message;
  readonly neutral: Neutral;
}

export default function compactord(pi: ExtensionAPI): void {
  const client = new Client();
  let opened: Promise<Session> | undefined;
  let known: number | undefined;

  /** The session of the conversation. Where the model has another window than the session, the session gets it. */
  const open = async (id: string, contextWindow: number): Promise<Session> => {
    try {
      return await client.openSession(id, { policy: { contextWindow } });
    } catch (error) {
      if (!(error instanceof SessionExistsError)) {
        throw error;
      }
      const session = client.session(id);
      await session.update({ contextWindow });
      return session;
    }
  };

  const session = (ctx: ExtensionContext): Promise<Session> => {
    const contextWindow = ctx.model?.contextWindow ?? 128_000;
    if (contextWindow !== known) {
      opened = undefined;
    }
    known = contextWindow;
    if (opened !== undefined) {
      return opened;
    }
    const made = open(`pi-${ctx.sessionManager.getSessionId()}`, contextWindow);
    // What could not be opened is tried again.
    made.catch(() => {
      if (opened === made) {
        opened = undefined;
      }
    });
    opened = made;
    return made;
  };

  const failed = (ctx: ExtensionContext, error: unknown): void => {
    const text = `compactord: ${error instanceof Error ? error.message : String(error)}`;
    if (ctx.hasUI) {
      ctx.ui.notify(text, "warning");
    } else {
      process.stderr.write(`${text}\n`);
    }
  };

  /** What the user was told of what comes with each model call; undefined since it has worked. */
  let told: string | undefined;

  /** Says once what fails with each model call, until it works again. */
  const failedOnce = (ctx: ExtensionContext, error: unknown): void => {
    const what = error instanceof CompactordError ? error.reason : String(error);
    if (what !== told) {
      failed(ctx, error);
    }
    told = what;
  };

  /** Brings the session in line, and compacts where that is due. Where that fails, the view is not compacted. */
  const synced = async (ctx: ExtensionContext, messages: readonly Neutral[]): Promise<Synced> => {
    const held = await session(ctx);
    try {
      const made = await held.sync(messages);
      told = undefined;
      return made;
    } catch (error) {
      const ends = [InvalidRequestError, ConflictError, UnavailableError].some((kind) => error instanceof kind);
      if (ends || !(error instanceof CompactordError)) {
        throw error;
      }
      const made = await held.sync(messages, { compact: false });
      failedOnce(ctx, error);
      return made;
    }
  };

  // By which the model reads what the view does not show. The definitions are the same for each session.
  for (const { name, description, parameters } of new AgentTools(client.session("any")).definitions({
    dialect: undefined,
  })) {
    pi.registerTool({
      name,
      label: name,
      description,
      parameters,
      execute: async (_id, given, signal, _onUpdate, ctx) => {
        const tools = new AgentTools(await session(ctx));
        const output = await tools.handle({ name, arguments: JSON.stringify(given) }, signal ? { signal } : {});
        if (output === undefined || output.isError) {
          throw new Error(output?.text ?? `there is no tool ${name}`);
        }
        return { content: [{ type: "text", text: output.text }], details: {} };
      },
    });
  }

  // Before each model call. Where no daemon answers, Pi goes on as without us.
  pi.on("context", async (_event, ctx) => {
    try {
      const held = heldIn(ctx.sessionManager.getBranch());
      const { view } = await synced(
        ctx,
        held.map((one) => one.neutral),
      );
      return view === undefined ? undefined : { messages: shown(view.neutral, held).map(({ message }) => message) };
    } catch (error) {
      failedOnce(ctx, error);
      return undefined;
    }
  });

  // By /compact, and where Pi finds its context too long. Where ours makes nothing smaller, Pi's own compaction runs.
  pi.on("session_before_compact", async (event, ctx) => {
    try {
      const { reason, customInstructions: focus, signal, preparation } = event;
      const open = await session(ctx);
      const held = heldIn(event.branchEntries);
      await open.sync(
        held.map((one) => one.neutral),
        { compact: false, view: false, signal },
      );
      const { compaction } = await open.compact({ reason, signal, ...(focus !== undefined && { focus }) });
      if (compaction === undefined) {
        return undefined;
      }
      const view = (await open.view({ signal })).neutral;
      const summary = view.filter(({ origin }) => origin.case === "summaryOf").map(textIn);
      const isKept = ({ view: { origin } }: Shown): boolean =>
        origin.case === "index" && origin.value >= compaction.firstKeptIndex;
      const first = shown(view, held).find(isKept)?.entry;
      return first === undefined || summary.length === 0
        ? undefined
        : {
            compaction: {
              summary: summary.join("\n"),
              firstKeptEntryId: first,
              tokensBefore: preparation.tokensBefore,
              details: { compactordSession: open.id },
            },
          };
    } catch (error) {
      failed(ctx, error);
      return undefined;
    }
  });

  // The last answer, which no model call follows.
  pi.on("agent_settled", async (_event, ctx) => {
    try {
      const held = heldIn(ctx.sessionManager.getBranch());
      await (
        await session(ctx)
      ).sync(
        held.map((one) => one.neutral),
        { compact: false, view: false },
      );
    } catch (error) {
      failedOnce(ctx, error);
    }
  });

  pi.on("session_shutdown", () => client.close());
}

/** All messages of a branch, also those that a compaction of Pi covers: they are in the log. */
function heldIn(entries: readonly SessionEntry[]): Held[] {
  const edits = new Map(entries.flatMap((one) => (one.type === "context_edit" ? [[one.targetId, one]] : [])));
  return entries.flatMap((entry) => {
    const edit = edits.get(entry.id);
    if (entry.type === "compaction" || edit?.replacement === null) {
      return [];
    }
    const content = edit?.replacement?.content;
    const messages = sessionEntryToContextMessages(entry).map((message) =>
      content !== undefined && "content" in message ? ({ ...message, content } as AgentMessage) : message,
    );
    return convertToLlm(messages)
      .filter(({ role }) => role !== "system")
      .map((own) => ({ entry: entry.id, own, neutral: neutralOf(own) }));
  });
}

type Neutral = ReturnType<typeof neutralOf>;

function neutralOf(message: Message) {
  return create(MessageSchema, fieldsOf(message));
}

function fieldsOf(message: Message): MessageInitShape<typeof MessageSchema> {
  if (message.role === "toolResult") {
    const value = {
      callId: message.toolCallId,
      name: message.toolName,
      isError: message.isError,
      parts: message.content.flatMap((part) => partOf(part) as SaidPart[]),
    };
    return { role: Role.TOOL, parts: [{ kind: { case: "toolResult" as const, value } }] };
  }
  const { content } = message;
  const said: readonly Content[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const parts = said.flatMap(partOf);
  if (message.role !== "assistant") {
    return { role: Role.USER, parts };
  }
  const { input, output, cacheRead, cacheWrite } = message.usage;
  const usage = {
    inputTokens: input,
    outputTokens: output,
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
  };
  return {
    role: Role.ASSISTANT,
    parts,
    stopReason: stopReasons[message.stopReason] ?? StopReason.UNSPECIFIED,
    ...(input + cacheRead + cacheWrite > 0 && { usage }),
  };
}

type NeutralPart =
  | SaidPart
  | { kind: { case: "thinking"; value: { text: string } } }
  | { kind: { case: "toolCall"; value: { id: string; name: string; arguments: string } } };
type SaidPart =
  | { kind: { case: "text"; value: { text: string } } }
  | { kind: { case: "media"; value: { mimeType: string; source: { case: "data"; value: Uint8Array<ArrayBuffer> } } } };

/** Of a message that ended so, views show nothing. */
const stopReasons: Readonly<Record<string, StopReason>> = { error: StopReason.ERROR, aborted: StopReason.ABORTED };

function partOf(part: Content): NeutralPart[] {
  switch (part.type) {
    case "text":
      return [{ kind: { case: "text" as const, value: { text: part.text } } }];
    case "thinking":
      return [{ kind: { case: "thinking" as const, value: { text: part.thinking } } }];
    case "toolCall": {
      const value = { id: part.id, name: part.name, arguments: JSON.stringify(part.arguments) };
      return [{ kind: { case: "toolCall" as const, value } }];
    }
    case "image": {
      const source = { case: "data" as const, value: Uint8Array.from(Buffer.from(part.data, "base64")) };
      return [{ kind: { case: "media" as const, value: { mimeType: part.mimeType, source } } }];
    }
    default:
      return [];
  }
}

/** A message of a view as one of Pi, with the entry of the branch that it is of. */
interface Shown {
  readonly message: AgentMessage;
  readonly view: ViewMessage;
  readonly entry: string | undefined;
}

/** The messages of a view. One that no edit has changed is Pi's own; they are found by what they say, from the end. */
function shown(view: readonly ViewMessage[], held: readonly Held[]): Shown[] {
  const left = new Map<string, Held[]>();
  for (const one of held) {
    const key = keyOf(one.neutral.role, one.neutral.parts);
    left.set(key, [...(left.get(key) ?? []), one]);
  }
  const answer = held.map(({ own }) => own).findLast((own) => own.role === "assistant");
  return view
    .toReversed()
    .map((one): Shown => {
      const { message } = one;
      const found =
        message && one.origin.case === "index" ? left.get(keyOf(message.role, message.parts))?.pop() : undefined;
      return { message: found === undefined ? anew(one, answer) : edited(found, one), view: one, entry: found?.entry };
    })
    .reverse();
}

/** What edits leave of a message: its role, its calls or the call that it answers, and else its texts. */
function keyOf(
  role: Role,
  parts: readonly { readonly kind: { readonly case?: string | undefined; readonly value?: unknown } }[],
): string {
  const of = (name: string): Record<string, unknown>[] =>
    parts.flatMap(({ kind }) => (kind.case === name ? [kind.value as Record<string, unknown>] : []));
  const calls = [...of("toolCall").map(({ id }) => id), ...of("toolResult").map(({ callId }) => callId)];
  return JSON.stringify([role, calls.length > 0 ? calls : of("text").map(({ text }) => text)]);
}

function edited({ own }: Held, { message, edits }: ViewMessage): AgentMessage {
  const [first] = message?.parts ?? [];
  if (edits.length === 0 || message === undefined) {
    return own;
  }
  if (own.role === "toolResult" && first?.kind.case === "toolResult") {
    return { ...own, content: first.kind.value.parts.flatMap(contentOf).filter(isSaid) };
  }
  return { ...own, content: message.parts.flatMap(contentOf) } as AgentMessage;
}

/** A message that is none of Pi's: a summary, a context block, a repair, or one that an edit has made another. */
function anew({ message }: ViewMessage, answer: AssistantMessage | undefined): AgentMessage {
  const timestamp = 0;
  const [first] = message?.parts ?? [];
  if (first?.kind.case === "toolResult") {
    const { callId: toolCallId, name: toolName, isError, parts } = first.kind.value;
    return {
      role: "toolResult",
      toolCallId,
      toolName,
      isError,
      content: parts.flatMap(contentOf).filter(isSaid),
      timestamp,
    };
  }
  const content = (message?.parts ?? []).flatMap(contentOf);
  return message?.role === Role.ASSISTANT && answer !== undefined
    ? ({ ...answer, content, timestamp } as AgentMessage)
    : ({ role: "user", content, timestamp } as AgentMessage);
}

function contentOf({ kind }: Part | ResultPart): (TextContent | ImageContent | ToolCall)[] {
  switch (kind.case) {
    case "text":
      return [{ type: "text", text: kind.value.text }];
    case "toolCall": {
      const { id, name, arguments: given } = kind.value;
      return [{ type: "toolCall", id, name, arguments: JSON.parse(given || "{}") as ToolCall["arguments"] }];
    }
    case "media":
      return kind.value.source.case === "data"
        ? [
            {
              type: "image",
              data: Buffer.from(kind.value.source.value).toString("base64"),
              mimeType: kind.value.mimeType,
            },
          ]
        : [];
    default:
      return [];
  }
}

function isSaid(part: TextContent | ImageContent | ToolCall): part is TextContent | ImageContent {
  return part.type !== "toolCall";
}

/** The text of a message of a view. */
function textIn({ message }: ViewMessage): string {
  return (message?.parts ?? []).map(({ kind }) => (kind.case === "text" ? kind.value.text : "")).join("\n");
}
