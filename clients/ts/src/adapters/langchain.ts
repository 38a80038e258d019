/**
 * The adapter of LangChain and LangGraph, the package `langchain`: a middleware of agents.
 *
 * @packageDocumentation
 */
import { createHash } from "node:crypto";

import type { AgentMiddleware, BaseMessage } from "langchain";
import { createMiddleware, HumanMessage, tool, ToolMessage } from "langchain";

import { neutral, shown } from "./langchainMessages.js";
import { checkPolicy } from "./mistakes.js";
import { OpenedSessions } from "./openedSessions.js";
import { recalled, recallDefinitions } from "./recallTools.js";
import { conversationOf, madeRoom, synced } from "./wholeList.js";
import type { Client, Session } from "../client/client.js";
import type { PolicyLike } from "../contract/policy.js";

export { neutral, shown };

/** The settings of the middleware. */
export interface CompactordMiddlewareOptions {
  /**
   * When and how sessions are compacted. It should have at least `{ contextWindow: 200_000 }`. A thread that
   * exists with another one gets it.
   */
  readonly policy: PolicyLike;
  /**
   * Whether agents get the tools by which the model reads what its view does not show: `recall_content` and
   * `search_messages`. Default true. A model that takes no tools needs false.
   */
  readonly recall?: boolean;
}

/** A middleware that gives each thread a session. */
export type CompactordMiddleware = AgentMiddleware & {
  /** The session of a thread, to read its log, to pin messages, or to go back. It is made where there is none. */
  readonly session: (threadId: string) => Promise<Session>;
};

/** What a hook is told of the run, as far as it is read here. */
interface Run {
  readonly configurable?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
}

/** What a tool is told of its call, as far as it is read here. */
interface Called extends Run {
  readonly toolCall?: { readonly id?: string };
}

/**
 * Makes a middleware for `createAgent`: the model is sent the view of a session in place of all messages of the thread. The
 * state of the graph keeps all messages, as without it. Each thread is a session of its own, with the thread's id; so is
 * each call of an agent that is a tool of another one. Put it first among the middleware: then what others add for one
 * call alone does not come into the log.
 *
 * Where the provider says that the context is too long, the session is compacted and the model called once more. Where a
 * compaction fails, Node warns and the call goes on with what is not compacted. A run rejects with a SyncConflictError
 * where another process has written to the session what its messages lack, with an UnavailableError where no daemon
 * answers, and with a TypeError where its configuration has no `thread_id`.
 */
export function compactordMiddleware(client: Client, options: CompactordMiddlewareOptions): CompactordMiddleware {
  const sessions = new OpenedSessions(client, checkPolicy(client, options));
  const session = (threadId: string): Promise<Session> => sessions.get(sessionId(threadId));
  const made = createMiddleware({
    name: "CompactordMiddleware",
    tools: (options.recall ?? true) ? recallTools((run) => session(threadOf(run))) : [],
    wrapModelCall: async (request, handler) => {
      const run: Run = request.runtime;
      const held = await session(threadOf(run));
      const own = request.messages;
      const instructions = request.systemMessage.text === "" ? [] : [neutral(request.systemMessage)];
      const { view } = await synced(held, [...instructions, ...own.map(neutral)], run);
      if (view === undefined) {
        // Calls without results: the provider says what is wrong.
        return handler(request);
      }
      try {
        return await handler({ ...request, messages: joined(shown(conversationOf(view.neutral), own)) });
      } catch (error) {
        if (!(await madeRoom(held, error, run))) {
          throw error;
        }
      }
      return handler({ ...request, messages: joined(shown(conversationOf((await held.view()).neutral), own)) });
    },
    // The last answer, which no model call follows.
    afterAgent: async (state: { readonly messages: readonly BaseMessage[] }, runtime) => {
      const held = await session(threadOf(runtime));
      await held.sync(state.messages.map(neutral), { compact: false, view: false });
    },
  });
  return Object.assign(made, { session });
}

/** The tools by which the model reads what its view does not show, each for the thread in which it is called. */
function recallTools(sessionOf: (run: Run) => Promise<Session>) {
  return recallDefinitions().map(({ name, description, parameters: schema }) =>
    tool(
      async (input: unknown, config: Called) => {
        const { text, isError } = await recalled(await sessionOf(config), name, input, config.signal);
        return new ToolMessage({
          name,
          content: text,
          tool_call_id: config.toolCall?.id ?? "",
          status: isError ? "error" : "success",
        });
      },
      { name, description, schema },
    ),
  );
}

/**
 * Messages in which what the view says in the user's name, such as a summary, is in one message with what the user says
 * next: not each package of a provider joins them, as providers want it.
 */
function joined(messages: readonly BaseMessage[]): BaseMessage[] {
  const made: BaseMessage[] = [];
  for (const message of messages) {
    const last = made.at(-1);
    const joins =
      last?.type === "human" && message.type === "human" && (last.id === undefined || message.id === undefined);
    if (joins) {
      const { id, name } = message.id === undefined ? last : message;
      const content = [...blocksIn(last), ...blocksIn(message)];
      made[made.length - 1] = new HumanMessage({
        content,
        ...(id !== undefined && { id }),
        ...(name !== undefined && { name }),
      });
    } else {
      made.push(message);
    }
  }
  return made;
}

function blocksIn({ content }: BaseMessage): Exclude<BaseMessage["content"], string> {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

/** What the messages belong to: the thread, and the call of a tool within which the agent runs. */
function threadOf({ configurable = {} }: Run): string {
  const { thread_id: thread, checkpoint_ns: place } = configurable;
  if (typeof thread !== "string" || thread === "") {
    throw new TypeError('give the thread: { configurable: { thread_id: "..." } }');
  }
  const outer = typeof place === "string" ? place.split("|").slice(0, -1) : [];
  return [thread, ...outer].join("|");
}

/** The id of the session of a thread: the same, where a session can have it. */
function sessionId(thread: string): string {
  return /^[!-~]{1,128}$/.test(thread) ? thread : createHash("sha256").update(thread).digest("hex");
}
