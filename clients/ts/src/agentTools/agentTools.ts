import { Mailbox } from "./dmail.js";
import {
  ClientClosedError,
  CompactordError,
  DeadlineExceededError,
  InternalError,
  OperationCancelledError,
  PermissionDeniedError,
  UnauthenticatedError,
  UnavailableError,
} from "../wire/errors.js";
import type { DialectName } from "../contract/messages.js";
import { recallAsked, recalledText } from "./recallTool.js";
import { foundText, searchAsked } from "./searchTool.js";
import type { SessionLog } from "../session/log.js";
import { definitionOf, inShapeOf, type AgentToolName, type ToolDefinition, type ToolShapes } from "./tools.js";
import { ToolOutput, type Mail, type ToolCall } from "../turn/toolCalls.js";
import type { SearchHit } from "../v1.js";

/** Which tools are offered. */
export interface AgentToolsOptions {
  /** `recall_content`: reads what views no longer show. Default true. */
  readonly recall?: boolean;
  /** `search_messages`: finds it. Default true. */
  readonly search?: boolean;
  /** `send_dmail`: takes the conversation back to a checkpoint, with a message. Default false. */
  readonly dmail?: boolean;
}

/**
 * Tools for the agent's model, with their handlers: what was compacted away can be recalled and searched, and with D-Mail the
 * model can put aside what it no longer needs. Views never hide again what `recall_content` and `search_messages` answered.
 */
export class AgentTools {
  /** Whether the model can send D-Mails. */
  readonly dmail: boolean;
  readonly #session: SessionLog;
  readonly #names: readonly AgentToolName[];
  readonly #mailbox = new Mailbox();

  /** Makes them for a session; `SessionLog` is the part of it that they read. */
  constructor(session: SessionLog, options: AgentToolsOptions = {}) {
    const { recall = true, search = true, dmail = false } = options;
    this.#session = session;
    this.dmail = dmail;
    this.#names = [
      ...(recall ? (["recall_content"] as const) : []),
      ...(search ? (["search_messages"] as const) : []),
      ...(dmail ? (["send_dmail"] as const) : []),
    ];
  }

  /** The definitions for a provider's request: elements of its `tools`. */
  definitions<D extends DialectName>(dialect: D): ToolShapes[D][];
  /** The definitions as name, description and parameters (a JSON Schema). */
  definitions(): ToolDefinition[];
  definitions(dialect?: DialectName): object[] {
    const tools = this.#names.map(definitionOf);
    return dialect === undefined ? tools : inShapeOf(dialect, tools);
  }

  /** Whether a tool of this name is one of these. */
  handles(name: string): boolean {
    return this.#names.some((known) => known === name);
  }

  /**
   * Answers a call of one of these tools; undefined for any other. What is wrong with the arguments, or what the log does not
   * hold, is told to the model as an error result. Throws what is no fault of the call, such as a daemon that is out of reach.
   */
  async handle(
    call: Pick<ToolCall, "name" | "arguments">,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<ToolOutput | undefined> {
    const name = this.#names.find((known) => known === call.name);
    try {
      switch (name) {
        case undefined:
          return undefined;
        case "recall_content":
          return await this.#recall(call.arguments, options);
        case "search_messages":
          return await this.#search(call.arguments, options);
        case "send_dmail":
          return await this.#mailbox.send(call.arguments, () => this.#session.checkpoints(options));
      }
    } catch (error) {
      if (error instanceof CompactordError && !isOutage(error)) {
        return new ToolOutput(error.message, { isError: true });
      }
      throw error;
    }
  }

  /** Takes out the pending D-Mail, to deliver it once the results of its step are appended. `runTurn` does it. */
  takeMail(): Mail | undefined {
    return this.#mailbox.take();
  }

  /** Discards the pending D-Mail, as where a tool of its step was rejected. `runTurn` does it. */
  discardMail(): void {
    this.#mailbox.take();
  }

  async #recall(json: string, options: { readonly signal?: AbortSignal }): Promise<ToolOutput> {
    const asked = recallAsked(json);
    if (typeof asked === "string") {
      return new ToolOutput(asked, { isError: true });
    }
    const { id: sessionId, client } = this.#session;
    const content = await client.sessions.recallContent({ ...asked, sessionId }, options);
    return new ToolOutput(recalledText(content));
  }

  async #search(json: string, options: { readonly signal?: AbortSignal }): Promise<ToolOutput> {
    const asked = searchAsked(json);
    if (typeof asked === "string") {
      return new ToolOutput(asked, { isError: true });
    }
    const hits: SearchHit[] = [];
    const wanted = asked.skip + asked.limit;
    const { id: sessionId, client } = this.#session;
    const query = { ...asked.query, sessionId, pageSize: Math.min(wanted + 1, 1_000) };
    for (let pageToken = ""; hits.length <= wanted;) {
      const page = await client.sessions.searchMessages({ ...query, pageToken }, options);
      hits.push(...page.hits);
      pageToken = page.nextPageToken;
      if (pageToken === "") {
        break;
      }
    }
    return new ToolOutput(foundText(hits.slice(asked.skip, wanted), hits.length > wanted, asked));
  }
}

/** Whether something else than what was asked for is at fault: the model can do nothing about it. */
function isOutage(error: CompactordError): boolean {
  return [
    ClientClosedError,
    DeadlineExceededError,
    InternalError,
    OperationCancelledError,
    PermissionDeniedError,
    UnauthenticatedError,
    UnavailableError,
  ].some((kind) => error instanceof kind);
}
