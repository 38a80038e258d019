// A plugin of opencode: a session of compactord keeps all that was said, and its digest of what a compaction is about to
// cover goes into the prompt of opencode's own summary.
//
// README.md beside this file says how to install it.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { tool, type Hooks, type Plugin, type PluginInput, type ToolDefinition } from "@opencode-ai/plugin";
import type { Message, Part } from "@opencode-ai/sdk";
import {
  AgentTools,
  Client,
  SessionExistsError,
  type PolicyLike,
  type Session,
  type ToolDefinition as AgentTool,
} from "compactord";
import { MessageSchema, Role, type PartSchema } from "compactord/v1";

interface Said {
  readonly info: Message;
  readonly parts: readonly Part[];
}

/** The context window of a model of which opencode does not know it, in tokens: a digest for it leaves room in any. */
const UNKNOWN_WINDOW = 16_000;

/**
 * opencode says when it compacts. A digest has four fifths of the reserve, about as much as opencode leaves out of the prompt of
 * its summary, for the newest messages. A longer one could bring the prompt over the window.
 */
function policyFor(contextWindow: number): PolicyLike {
  return { contextWindow, trigger: { enabled: false, reserveTokens: Math.min(10_000, Math.floor(contextWindow / 4)) } };
}

interface Opened {
  readonly contextWindow: number;
  readonly session: Promise<Session<undefined>>;
}

export const CompactordPlugin: Plugin = ({ client: opencode }) => {
  const client = new Client();

  const opened = new Map<string, Opened>();
  /** The context windows of models, as far as opencode knows them. */
  const windows = new Map<string, number>();
  /** The models of which opencode's log says that it does not know the window. */
  const unknown = new Set<string>();
  /** What is being written: a process that ends waits for it. */
  const writing = new Set<Promise<unknown>>();

  const open = async (id: string, policy: PolicyLike): Promise<Session<undefined>> => {
    try {
      return await client.openSession(id, { policy });
    } catch (error) {
      if (!(error instanceof SessionExistsError)) {
        throw error;
      }
      const session = client.session(id);
      await session.update({ policy });
      return session;
    }
  };

  /** The session of a conversation. Another model's window replaces that of the policy. */
  const session = (id: string, contextWindow: number): Promise<Session<undefined>> => {
    const held = opened.get(id);
    if (held?.contextWindow === contextWindow) {
      return held.session;
    }
    const made = open(`opencode-${id}`, policyFor(contextWindow));
    // What could not be opened is tried again.
    made.catch(() => opened.delete(id));
    opened.set(id, { contextWindow, session: made });
    return made;
  };

  const failed = async (error: unknown): Promise<void> => {
    const message = `compactord: ${textOf(error)}`;
    await opencode.app.log({ body: { service: "compactord", level: "warn", message } });
  };

  /** The window of the model of a message. One that opencode does not know now is asked for again. */
  const windowOf = async (info: Message): Promise<number> => {
    const { providerID, modelID } = info.role === "user" ? info.model : info;
    const name = `${providerID}/${modelID}`;
    const held = windows.get(name);
    if (held !== undefined) {
      return held;
    }
    const { found, why } = await askedWindow(opencode, providerID, modelID);
    if (found > 0) {
      windows.set(name, found);
      return found;
    }
    if (!unknown.has(name)) {
      unknown.add(name);
      await failed(`the context window of ${name} is not known, so digests are for ${UNKNOWN_WINDOW} tokens: ${why}`);
    }
    return UNKNOWN_WINDOW;
  };

  /** Brings the log in line with a conversation of opencode; undefined where nothing has been said in it. */
  const synced = async (id: string): Promise<Session<undefined> | undefined> => {
    const { data = [] } = await opencode.session.messages({ path: { id } });
    const last = data.at(-1);
    if (last === undefined) {
      return undefined;
    }
    const held = await session(id, await windowOf(last.info));
    await held.sync(data.flatMap(neutralOf), { compact: false, view: false });
    return held;
  };

  /** Brings the log in line, and says in opencode's log where that fails. */
  const written = async (id: string): Promise<void> => {
    const done = synced(id).catch(failed);
    writing.add(done);
    await done;
    writing.delete(done);
  };

  /** A tool by which the model reads what a summary covers. */
  const recall = ({ name, description, parameters }: AgentTool): ToolDefinition =>
    tool({
      description,
      args: Object.fromEntries(Object.entries(parameters.properties).map(([key, one]) => [key, argument(one)])),
      execute: async (given, { sessionID, abort: signal }) => {
        // The model may ask before anything is in the log. The first sync sets the policy.
        const tools = new AgentTools(await client.openSession(`opencode-${sessionID}`));
        const output = await tools.handle({ name, arguments: JSON.stringify(given) }, { signal });
        if (output === undefined || output.isError) {
          throw new Error(output?.text ?? `there is no tool ${name}`);
        }
        return output.text;
      },
    });

  return Promise.resolve<Hooks>({
    tool: Object.fromEntries(
      new AgentTools(client.session("any")).definitions({ dialect: undefined }).map((one) => [one.name, recall(one)]),
    ),
    // Where no daemon answers, opencode's own compaction goes on as without us.
    "experimental.session.compacting": async ({ sessionID }, output) => {
      try {
        const held = await synced(sessionID);
        if (held === undefined) {
          return;
        }
        const { compaction } = await held.compact({ reason: "manual" });
        const digest = compaction === undefined ? undefined : (await held.view()).neutral.find(isSummary);
        const text = (digest?.message?.parts ?? []).map(({ kind }) => (kind.case === "text" ? kind.value.text : ""));
        if (text.length > 0) {
          output.context.push(
            "A digest of the conversation. Keep its facts, and the references in brackets, such as [#12], by which the " +
              `messages can be read again:\n\n${text.join("\n")}`,
          );
        }
      } catch (error) {
        await failed(error);
      }
    },
    // After each turn, and before the next one: `opencode run` may end before the first of them is done.
    event: async ({ event }) => {
      if (event.type === "session.idle") {
        await written(event.properties.sessionID);
      }
    },
    "chat.message": async ({ sessionID }) => {
      await written(sessionID);
    },
    dispose: async () => {
      await Promise.all(writing);
      await client.close();
    },
  });
};

/** The window of a model, in tokens: 0 where opencode does not know it, and why. */
async function askedWindow(opencode: PluginInput["client"], providerID: string, modelID: string) {
  try {
    const { data, error } = await opencode.config.providers();
    const model = data?.providers.find(({ id }) => id === providerID)?.models[modelID];
    return {
      found: model?.limit.context ?? 0,
      why: data === undefined ? textOf(error ?? "no answer") : "set limit.context of the model",
    };
  } catch (error) {
    return { found: 0, why: textOf(error) };
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : typeof error === "string" ? error : JSON.stringify(error);
}

/** The schema of an argument. Which are needed, and what they may be, the tool itself says to the model. */
function argument({ type, description }: AgentTool["parameters"]["properties"][string]) {
  const { schema } = tool;
  const kind = { string: schema.string(), integer: schema.number().int(), boolean: schema.boolean() }[type];
  return kind.optional().describe(description);
}

function isSummary({ origin }: { readonly origin: { readonly case: string | undefined } }): boolean {
  return origin.case === "summaryOf";
}

/** A message of opencode, and the results of the tools that it called. What a compaction wrote is none of the conversation. */
function neutralOf({ info, parts }: Said) {
  const isSummaryOfItsOwn = info.role === "assistant" && info.summary === true;
  if (isSummaryOfItsOwn || parts.some(({ type }) => type === "compaction")) {
    return [];
  }
  const said = parts.flatMap(partsOf);
  const message = { role: info.role === "user" ? Role.USER : Role.ASSISTANT, parts: said };
  const made: MessageInitShape<typeof MessageSchema>[] = [
    ...(said.length > 0 ? [message] : []),
    ...parts.flatMap(resultOf),
  ];
  return made.map((one) => create(MessageSchema, one));
}

function partsOf(part: Part): MessageInitShape<typeof PartSchema>[] {
  switch (part.type) {
    case "text":
      return part.ignored === true || part.text === ""
        ? []
        : [{ kind: { case: "text" as const, value: { text: part.text } } }];
    case "tool": {
      const { callID: id, tool: name, state } = part;
      return [{ kind: { case: "toolCall" as const, value: { id, name, arguments: JSON.stringify(state.input) } } }];
    }
    default:
      return [];
  }
}

function resultOf(part: Part): MessageInitShape<typeof MessageSchema>[] {
  if (part.type !== "tool" || (part.state.status !== "completed" && part.state.status !== "error")) {
    return [];
  }
  const isError = part.state.status === "error";
  const text = part.state.status === "error" ? part.state.error : part.state.output;
  const value = {
    callId: part.callID,
    name: part.tool,
    isError,
    parts: [{ kind: { case: "text" as const, value: { text } } }],
  };
  return [{ role: Role.TOOL, parts: [{ kind: { case: "toolResult", value } }] }];
}
