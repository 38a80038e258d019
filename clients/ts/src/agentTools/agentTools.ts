import { ArgumentError, Arguments } from "./arguments.js";
import { Mailbox } from "./dmail.js";
import { CompactordError, DeadlineExceededError, UnauthenticatedError, UnavailableError } from "../wire/errors.js";
import { checkKeys } from "../contract/arguments.js";
import type { DialectName } from "../contract/messages.js";
import { modelText } from "../contract/texts.js";
import { recallAsked, recalledText } from "./recallTool.js";
import { foundText, searchAsked } from "./searchTool.js";
import type { SessionCompactions } from "../compaction/compacting.js";
import { Folder } from "./foldTool.js";
import { definitionOf, inShapeOf, type AgentToolName, type ToolDefinition, type ToolShapes } from "./tools.js";
import { ToolOutput, type Mail, type ToolCall } from "../turn/toolCalls.js";
import type { SearchHit } from "../v1.js";

/** Which tools to offer. */
export interface AgentToolsOptions {
  /** `recall_content`: reads content that views do not show. Default true. */
  readonly recall?: boolean;
  /** `search_messages`: searches the log. Default true. */
  readonly search?: boolean;
  /** `send_dmail`: takes the conversation back to a checkpoint, with a message. Default false. */
  readonly dmail?: boolean;
  /** `fold_since`: folds what was done since a checkpoint into the model's own text. Default false. */
  readonly fold?: boolean;
}

/**
 * Tools for the agent's model, and their handlers. The model can recall and search content that views do not show. With
 * D-Mail it can go back to a checkpoint, and forget what was done since. With folds it keeps that done, and shows its
 * result alone. Recalls and searches reach the logs of the session's children too. Views never hide results of `recall_content` and `search_messages`.
 */
export class AgentTools<D extends DialectName | undefined = DialectName | undefined> {
  /** Whether the model can send D-Mails. */
  readonly dmail: boolean;
  /** Whether the model can fold. */
  readonly fold: boolean;
  readonly #session: SessionCompactions;
  readonly #names: readonly AgentToolName[];
  readonly #mailbox = new Mailbox();
  readonly #folder = new Folder();

  /** Makes the tools for a session. */
  constructor(session: SessionCompactions & { readonly dialect: D }, options: AgentToolsOptions = {}) {
    const { recall = true, search = true, dmail = false, fold = false } = options;
    this.#session = session;
    this.dmail = dmail;
    this.fold = fold;
    this.#names = [
      ...(recall ? (["recall_content"] as const) : []),
      ...(search ? (["search_messages"] as const) : []),
      ...(dmail ? (["send_dmail"] as const) : []),
      ...(fold ? (["fold_since"] as const) : []),
    ];
  }

  /** Whether a tool takes the number of a checkpoint. A turn then announces one before each step. */
  get nameCheckpoints(): boolean {
    return this.dmail || this.fold;
  }

  /**
   * The definitions for a provider's request: elements of its `tools`, in the session's dialect or the one that is
   * given. Without a dialect: name, description and parameters (a JSON Schema).
   */
  definitions<T extends DialectName | undefined = D>(
    options: { readonly dialect?: T } = {},
  ): (T extends DialectName ? ToolShapes[T] : ToolDefinition)[] {
    checkKeys("definitions", options, ["dialect"]);
    const tools = this.#names.map(definitionOf);
    const dialect = options.dialect ?? this.#session.dialect;
    const shaped: object[] = dialect === undefined ? tools : inShapeOf(dialect, tools);
    return shaped as (T extends DialectName ? ToolShapes[T] : ToolDefinition)[];
  }

  /** Whether this object has a tool with this name. */
  handles(name: string): boolean {
    return this.#names.some((known) => known === name);
  }

  /**
   * Runs a call of one of these tools; returns undefined for other tools. Wrong arguments, or content that the log does
   * not have, give an error result for the model. Throws other errors, such as a daemon that cannot be reached. The texts
   * are the same in the clients for all languages.
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
        case "fold_since":
          return await this.#folder.fold(call.arguments, this.#session, options);
      }
    } catch (error) {
      const forModel = error instanceof ArgumentError || (error instanceof CompactordError && !isOutage(error));
      if (!forModel || name === undefined) {
        throw error;
      }
      return new ToolOutput(modelText(notDone[name], { why: error.message }), { isError: true });
    }
  }

  /** Returns and forgets the pending D-Mail. `runTurn` delivers it after the results of its step were appended. */
  takeMail(): Mail | undefined {
    return this.#mailbox.take();
  }

  /** Discards the pending D-Mail, for example where a tool call of its step was rejected. `runTurn` does it. */
  discardMail(): void {
    this.#mailbox.take();
  }

  async #recall(json: string, options: { readonly signal?: AbortSignal }): Promise<ToolOutput> {
    const asked = recallAsked(new Arguments("recall_content", json));
    const { id: sessionId, client } = this.#session;
    const content = await client.sessions.recallContent({ ...asked, sessionId }, options);
    return new ToolOutput(recalledText(content, asked));
  }

  async #search(json: string, options: { readonly signal?: AbortSignal }): Promise<ToolOutput> {
    const asked = searchAsked(new Arguments("search_messages", json));
    const hits: SearchHit[] = [];
    const wanted = asked.skip + asked.limit;
    const { id: sessionId, client } = this.#session;
    const query = { ...asked.query, sessionId, includeChildren: true, pageSize: Math.min(wanted + 1, 1_000) };
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

/** The texts for calls that were not executed. */
const notDone = {
  recall_content: "not_recalled",
  search_messages: "not_searched",
  send_dmail: "mail_not_sent",
  fold_since: "not_folded",
} as const satisfies Readonly<Record<AgentToolName, string>>;

/** Whether the error has another cause than the call, so that the model cannot correct it. */
function isOutage(error: CompactordError): boolean {
  return (
    [DeadlineExceededError, UnauthenticatedError, UnavailableError].some((kind) => error instanceof kind) ||
    ["CANCELLED", "CLIENT_CLOSED", "DATA_LOSS", "INTERNAL", "PERMISSION_DENIED", "STORE_CORRUPT"].includes(error.reason)
  );
}
