/**
 * The adapter of the OpenAI Agents SDK, the package `@openai/agents`: a filter of what models are sent, and a session.
 *
 * @packageDocumentation
 */
import { isDeepStrictEqual } from "node:util";

import type { AgentInputItem, CallModelInputFilter, RunContext, Session as AgentsSession, Tool } from "@openai/agents";
import { tool } from "@openai/agents";

import { elementOf } from "./openaiAgentsItems.js";
import type { Responses } from "./openaiAgentsView.js";
import { itemsIn, shown } from "./openaiAgentsView.js";
import { checkSession, warnOnce } from "./mistakes.js";
import { recalled, recallDefinitions } from "./recallTools.js";
import { synced } from "./wholeList.js";

/**
 * Makes a `callModelInputFilter` for runs: the model is sent the view of the session in place of all items. Take one filter
 * for a conversation, and give it to each run of the conversation. Agents that are tools do not inherit it.
 *
 * Where a compaction fails, Node warns and the call goes on with what is not compacted. A run rejects with a
 * SyncConflictError where another process has written to the session what its items lack, and with an UnavailableError
 * where no daemon answers.
 *
 * @param session The conversation's session, in the dialect of Responses:
 * `client.openSession(ID, { dialect: "openai_responses", policy: { contextWindow: 200_000 } })`. A TypeError where it has
 * another.
 */
export function compactordFilter(session: Responses): CallModelInputFilter {
  return new ModelInput(session).filter;
}

/**
 * A session of the SDK that keeps its items in the daemon's log. Give runs `modelInput` as the `callModelInputFilter`, too:
 * without it nothing is ever compacted.
 */
export class CompactordSession implements AgentsSession {
  /** The `callModelInputFilter` for runs with this session. */
  readonly modelInput: CallModelInputFilter;
  /** Has the SDK give the context of a run to the calls that the run makes. */
  readonly acceptsRunContext = true;
  readonly #input: ModelInput;
  #items: readonly AgentInputItem[] | undefined;
  /** Whether the newest run has had the filter. */
  #wasFiltered = false;

  /** @param session As for {@link compactordFilter}. */
  constructor(private readonly session: Responses) {
    this.#input = new ModelInput(session);
    this.modelInput = (call) => {
      this.#wasFiltered = true;
      return this.#input.filter(call);
    };
  }

  /** The id of the daemon's session. */
  getSessionId(): Promise<string> {
    return Promise.resolve(this.session.id);
  }

  /**
   * The view: what came before its summary is in the log, but not here.
   *
   * @param limit Return only the newest items. Default: all.
   * @param run The context of the run that begins with the items. Default: no run does.
   */
  async getItems(limit?: number, run?: RunContext): Promise<AgentInputItem[]> {
    if (run !== undefined && limit === undefined) {
      this.#wasFiltered = false;
    }
    const items = await this.#read();
    return limit === undefined ? [...items] : items.slice(Math.max(0, items.length - Math.max(0, limit)));
  }

  /**
   * Appends items, which are on disk then. What a model call has appended already is not appended again. Where a model has
   * answered in a run without the filter, Node warns.
   *
   * @param run The context of the run that adds the items. Default: no run does.
   */
  async addItems(items: AgentInputItem[], run?: RunContext): Promise<void> {
    if (run !== undefined && !this.#wasFiltered && items.some(isAnswer)) {
      const give = "run(agent, input, { session, callModelInputFilter: session.modelInput })";
      warnOnce(this.session, `a run has not had the filter of its CompactordSession, so it is not compacted: ${give}`);
    }
    const all = [...(await this.#held()), ...items];
    if (!this.#input.holds(all.map(elementOf))) {
      await this.#bring(all);
    }
    this.#items = all;
  }

  /** Puts aside the newest item, and returns it; undefined where there is none. The log keeps it. */
  async popItem(): Promise<AgentInputItem | undefined> {
    const held = await this.#held();
    const last = held.at(-1);
    if (held.length === 1) {
      await this.clearSession();
    } else if (held.length > 1) {
      const rest = held.slice(0, -1);
      this.#input.forget();
      await this.#bring(rest);
      this.#items = rest;
    }
    return last;
  }

  /** Puts aside all items. The log keeps them. */
  async clearSession(): Promise<void> {
    this.#items = [];
    this.#input.forget();
    await this.session.clear();
  }

  async #held(): Promise<readonly AgentInputItem[]> {
    return this.#items ?? (await this.#read());
  }

  async #read(): Promise<AgentInputItem[]> {
    const items = await itemsIn(this.session);
    this.#items = items;
    return items;
  }

  async #bring(items: readonly AgentInputItem[]): Promise<void> {
    await this.session.sync(items.map(elementOf), { compact: false, view: false });
  }
}

/**
 * Makes the tools by which the model reads what its view does not show: `recall_content` and `search_messages`. Give them with
 * your own: `tools: [...tools, ...recallTools(session)]`. Their answers are bounded, and say how to read on.
 *
 * @param session As for {@link compactordFilter}. Where an agent is made once for many conversations: a function that takes
 * the session of a run from its context, such as `({ context }) => context.session`.
 */
export function recallTools<Context = unknown>(
  session: Responses | ((run: RunContext<Context>) => Responses | Promise<Responses>),
): Tool<Context>[] {
  if (typeof session !== "function") {
    checkSession(session);
  }
  const sessionOf = typeof session === "function" ? session : (): Responses => session;
  return recallDefinitions().map(({ name, description, parameters }) => {
    const { properties, required = [] } = parameters;
    return tool({
      name,
      description,
      parameters: { type: "object", properties, required, additionalProperties: true },
      strict: false,
      execute: async (input: unknown, run?: RunContext<Context>, details?: { readonly signal?: AbortSignal }) => {
        if (run === undefined) {
          throw new TypeError(`${name}: the call belongs to no run`);
        }
        return (await recalled(await sessionOf(run), name, input, details?.signal)).text;
      },
    });
  });
}

/** Whether a model has made this. What programs write as an answer has no type. */
function isAnswer({ type, ...item }: AgentInputItem): boolean {
  const isMessage = type === "message" && "role" in item && item.role === "assistant";
  return isMessage || type === "function_call" || type === "reasoning";
}

/** What model calls of a conversation are sent. */
class ModelInput {
  /** The items of the last call, of which the session still holds all. */
  #elements: readonly object[] = [];

  constructor(private readonly session: Responses) {
    checkSession(session);
    const { dialect }: { readonly dialect: string | undefined } = session;
    if (dialect !== "openai_responses") {
      throw new TypeError("session: must be opened in the dialect openai_responses");
    }
  }

  readonly filter: CallModelInputFilter = async ({ modelData }) => {
    const { instructions } = modelData;
    const { input } = modelData;
    const elements = input.map(elementOf);
    this.#elements = elements;
    const system = instructions === undefined || instructions === "" ? {} : { system: instructions };
    const { view } = await synced(this.session, elements, system);
    // While calls wait for outputs, the provider says what is wrong.
    return view === undefined ? modelData : { ...modelData, input: shown(view.messagesJson, elements, input) };
  };

  /** Whether the items are the first of those of the last model call. */
  holds(elements: readonly object[]): boolean {
    return isDeepStrictEqual(this.#elements.slice(0, elements.length), elements);
  }

  /** Notes that the session no longer holds all items of the last model call. */
  forget(): void {
    this.#elements = [];
  }
}
