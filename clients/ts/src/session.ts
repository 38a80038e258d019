import { create } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";

import { withFacts } from "./answerFacts.js";
import { checkedIndex, checkKeys, checkList, onlyKey } from "./arguments.js";
import type { Client } from "./client.js";
import { Compaction, CompactionResult } from "./compaction.js";
import type { Answer, Prompt } from "./clientModel.js";
import { compactWithModel } from "./clientModel.js";
import { leavesOpen, OperationNotFoundError } from "./errors.js";
import { newRequestId, newSessionId } from "./ids.js";
import type { DialectName } from "./messages.js";
import { appendKey, contentOf, dialectOf } from "./messages.js";
import type {
  AppendOptions,
  Appendables,
  CallOptions,
  CompactionOptions,
  CompactOptions,
  PolicyLike,
  PruneOptions,
  RecallOptions,
  RevertOptions,
  RevertTarget,
  ViewOptions,
  WriteOptions,
} from "./options.js";
import { policyOf, reasonOf, thinkingOf } from "./options.js";
import { pages } from "./pages.js";
import { recallAll } from "./recall.js";
import type {
  AppendMessagesRequest,
  AppendMessagesResponse,
  CancelCompactionResponse,
  Checkpoint,
  ClearSessionResponse,
  CompactionEntry,
  ContextReport,
  GetSessionResponse,
  ListedCheckpoint,
  MessageState,
  Role,
  LoggedMessage,
  PinMessagesResponse,
  RecallContentResponse,
  Record as LogRecord,
  RevertToCheckpointRequestSchema,
  RevertToCheckpointResponse,
  SearchHit,
  SearchMessagesRequestSchema,
  Session as SessionState,
  UnpinMessagesResponse,
} from "./v1.js";
import { AppendMessagesRequestSchema, CompactRequestSchema, MessageListing } from "./v1.js";
import type { CallModel, Turn, TurnOptions } from "./turn.js";
import { Turns, type Announce } from "./turns.js";
import { JoinedView, View } from "./view.js";
import type { WatchItem, WatchOptions } from "./watch.js";
import { watchSession } from "./watch.js";
import type { RoleName, StateName } from "./words.js";
import { rolesOf, statesOf } from "./words.js";

/** What to search for: words that all have to be there, or an expression in the syntax of RE2; and where. */
export type SearchQuery = (
  { readonly words: string; readonly pattern?: never } | { readonly pattern: string; readonly words?: never }
) &
  Pick<MessageInitShape<typeof SearchMessagesRequestSchema>, "newestFirst" | "snippetChars"> & {
    /** Only messages of these roles. Default: all. */ readonly roles?: readonly (RoleName | Role)[];
    /** Only messages that stand so. Default: all. */ readonly states?: readonly (StateName | MessageState)[];
  };

/** How many appends of which nothing is known a session keeps the request ids of. */
const keptUnsure = 100;

/** The last view of a session, with which the next one is told from it. */
interface KeptView {
  readonly joined: JoinedView;
  readonly token: string;
}

/**
 * A conversation. It keeps the view that was fetched last, so that the next fetch moves only what is new. One object may be
 * used by several tasks at once.
 */
export class Session {
  /** The session's id. */
  readonly id: string;
  /** The provider's shape of what is appended and viewed; undefined: neutral messages. */
  readonly dialect: DialectName | undefined;
  /** The client that it is used through. */
  readonly client: Client;
  private kept: KeptView = { joined: JoinedView.empty, token: "" };
  private lastReport: ContextReport | undefined;
  private readonly turns: Turns = new Turns(this);
  /** The request ids of appends that failed without a word on whether they were written, by what was appended. */
  private readonly unsure = new Map<string, string>();

  /** Use {@link Client.createSession}, {@link Client.openSession} or {@link Client.session}. */
  constructor(client: Client, id: string, dialect: DialectName | undefined) {
    dialectOf(dialect);
    this.client = client;
    this.id = id;
    this.dialect = dialect;
  }

  /** How full the context was when the daemon last told it; undefined until then. */
  get report(): ContextReport | undefined {
    return this.lastReport;
  }

  /**
   * Appends messages, all or none, see {@link Appendable}. They are on disk before it returns. If an append fails and it is
   * unknown whether it was written, append the same again: it is not doubled.
   */
  async append(messages: Appendables, options: AppendOptions = {}): Promise<AppendMessagesResponse> {
    const request = create(AppendMessagesRequestSchema, {
      sessionId: this.id,
      ...withFacts(contentOf(messages, this.dialect), options),
      viewToken: options.view?.token ?? "",
      strict: options.strict ?? false,
      modelAnswer: options.modelAnswer ?? false,
      ...(options.expectedNextIndex !== undefined && {
        expectedNextIndex: checkedIndex("expectedNextIndex", options.expectedNextIndex),
      }),
    });
    const key = this.unsure.size > 0 ? appendKey(request) : "";
    request.requestId = options.requestId ?? this.unsure.get(key) ?? newRequestId();
    try {
      const response = await this.client.sessions.appendMessages(request, callOptions(options));
      this.unsure.delete(key);
      this.noteReport(response.report);
      await this.turns.appended();
      return response;
    } catch (e) {
      this.noteUnsure(request, e, options.signal);
      throw e;
    }
  }

  /** Fetches the view: what the model needs to go on. Only what is new since the last fetch is moved. */
  async view(options: ViewOptions = {}): Promise<View> {
    let { joined, token } = options.asOf === undefined ? this.kept : { joined: JoinedView.empty, token: "" };
    let moved = 0;
    for (;;) {
      const answer = await this.client.compactions.getLLMView(
        {
          target: { case: "sessionId", value: this.id },
          dialect: dialectOf(this.dialect),
          viewToken: token,
          maxBytes: options.maxBytes ?? this.client.connection.pageBytes,
          markCacheBreakpoints: options.markCacheBreakpoints ?? false,
          ...(options.asOf !== undefined && { asOf: checkedIndex("asOf", options.asOf) }),
          ...(options.thinking !== undefined && { thinking: thinkingOf(options.thinking) }),
        },
        callOptions(options),
      );
      joined = joined.with(answer);
      token = answer.viewToken;
      moved += answer.messages.length + answer.messagesJson.length;
      if (!answer.hasMore) {
        if (options.asOf === undefined) {
          this.kept = { joined, token };
          this.noteReport(answer.report);
        }
        return new View(this.dialect, joined, answer, moved);
      }
    }
  }

  /**
   * Compacts, and returns how it ended: done, skipped with the reason, or planned with `dryRun`. Throws the error of its
   * reason where it fails, such as SummarizerUnavailableError. A turn that runs is aborted first, unless `abortRunning` is
   * false.
   */
  async compact(options: CompactOptions = {}): Promise<CompactionResult> {
    return this.compactionEvents(options).finish(options.onEvent);
  }

  /**
   * Compacts, and yields the events as it goes on. It begins, and aborts a running turn, when the first is asked for. Turns
   * wait until its last event has come or its loop was left: an iterator that is begun by hand and dropped holds them up.
   */
  compactionEvents(options: CompactionOptions = {}): Compaction {
    const request = create(CompactRequestSchema, {
      target: { case: "sessionId", value: this.id },
      reason: reasonOf(options.reason),
      focus: options.focus ?? "",
      preempt: options.preempt ?? false,
      detach: options.detach ?? false,
      dryRun: options.dryRun ?? false,
      willRetry: options.willRetry ?? false,
      requestId: options.requestId ?? newRequestId(),
      ...(options.replay !== undefined && { replay: options.replay }),
      ...(options.policy !== undefined && { policy: policyOf(options.policy) }),
    });
    return new Compaction({
      stub: this.client.compactions,
      connection: this.client.connection,
      sessionId: this.id,
      request,
      signal: options.signal,
      timeoutMs: options.timeoutMs,
      retry: this.client.retry,
      enter: () => this.turns.enter(abortsTurn(options)),
    });
  }

  /**
   * Cancels the compaction that runs in the session, whoever asked for it, or only the one with this id; waits for its end,
   * and says what it was. Undefined where none runs.
   */
  async cancelCompaction(
    options: CallOptions & { readonly operationId?: string } = {},
  ): Promise<CancelCompactionResponse | undefined> {
    const request = { sessionId: this.id, operationId: options.operationId ?? "" };
    try {
      return await this.client.compactions.cancelCompaction(request, callOptions(options));
    } catch (e) {
      if (e instanceof OperationNotFoundError) {
        return undefined;
      }
      throw e;
    }
  }

  /**
   * Compacts with summaries that the program's own model writes: `write` is called with each prompt, in order, and returns
   * the model's answer. Where an answer does not pass the daemon's checks, all prompts are asked once more with
   * `prompt.complaint` set, and then the policy's fallback writes what still does not pass.
   */
  async compactWith(
    write: (prompt: Prompt) => Promise<Answer | string>,
    options: CompactionOptions & {
      /** What the model's window holds beside its answer, in tokens. */ readonly maxPromptTokens?: number;
    } = {},
  ): Promise<CompactionResult> {
    // What was given up before it began must not abort a turn.
    options.signal?.throwIfAborted();
    const place = await this.turns.enter(abortsTurn(options));
    let result: CompactionResult | undefined;
    try {
      result = await compactWithModel(this, write, options);
      return result;
    } finally {
      await place.leave(result);
    }
  }

  /** Makes the edits of the policy's prune strategy, such as hiding old tool results, without a summarizer. */
  async prune(options: PruneOptions = {}): Promise<CompactionResult> {
    const answer = await this.client.compactions.prune(
      {
        target: { case: "sessionId", value: this.id },
        reason: reasonOf(options.reason),
        dryRun: options.dryRun ?? false,
        requestId: requestIdOf(options),
        ...(options.policy !== undefined && { policy: policyOf(options.policy) }),
      },
      callOptions(options),
    );
    this.noteReport(answer.report);
    const { prune, report, skipReason: reason, message } = answer;
    if (prune === undefined) {
      return new CompactionResult("skipped", { report, reason, message });
    }
    return new CompactionResult(options.dryRun === true ? "planned" : "completed", { prune, report, message });
  }

  /** Names the end of the log, to go back to it later. */
  async checkpoint(
    options: WriteOptions & {
      /** What it is called. At most 512 bytes. */ readonly title?: string;
      /** Tells the model its number, by a message. Refused while calls are open. Default false. */ readonly announce?: boolean;
    } = {},
  ): Promise<Checkpoint> {
    const request = {
      sessionId: this.id,
      title: options.title ?? "",
      announce: options.announce ?? false,
      requestId: requestIdOf(options),
    };
    const { checkpoint, report } = await this.client.sessions.createCheckpoint(request, callOptions(options));
    this.noteReport(report);
    return present(checkpoint, "checkpoint");
  }

  /** The checkpoints, the first one first, also those that a revert put aside. */
  checkpoints(options: CallOptions = {}): AsyncGenerator<ListedCheckpoint, void, undefined> {
    return pages(async (pageToken) => {
      const page = await this.client.sessions.listCheckpoints({ sessionId: this.id, pageToken }, callOptions(options));
      return [page.checkpoints, page.nextPageToken];
    });
  }

  /** Goes back to a checkpoint or a point, takes back turns, or undoes the last change. Nothing is removed. */
  async revert(target: RevertTarget, options: RevertOptions = {}): Promise<RevertToCheckpointResponse> {
    const request = {
      sessionId: this.id,
      target: targetOf(target),
      messageFromFuture: options.messageFromFuture ?? "",
      summarize: options.summarize ?? false,
      focus: options.focus ?? "",
      requestId: requestIdOf(options),
    };
    const answer = await this.client.sessions.revertToCheckpoint(request, callOptions(options));
    this.turns.forget();
    this.noteReport(answer.report);
    return answer;
  }

  /** Puts all aside but the leading system and developer messages. Nothing is removed. */
  async clear(options: WriteOptions = {}): Promise<ClearSessionResponse> {
    const request = { sessionId: this.id, requestId: requestIdOf(options) };
    const answer = await this.client.sessions.clearSession(request, callOptions(options));
    this.turns.forget();
    this.noteReport(answer.report);
    return answer;
  }

  /** Makes a new session of this one's log: up to a checkpoint, up to a point, or all of it. */
  async fork(
    options: WriteOptions & {
      /** The checkpoint to fork at. */ readonly atCheckpoint?: number;
      /** The point to fork at. */ readonly point?: number;
      /** The new session's id. Default: a UUID. */ readonly newSessionId?: string;
      /** The new session's policy. Default: this one's at the point. */ readonly policy?: PolicyLike;
      /** The new session's labels. Default: this one's. */ readonly labels?: Readonly<Record<string, string>>;
      /** The new session's title. Default: this one's. */ readonly title?: string;
    } = {},
  ): Promise<Session> {
    const id = options.newSessionId ?? newSessionId();
    const answer = await this.client.sessions.forkSession(
      {
        sessionId: this.id,
        newSessionId: id,
        labels: { ...options.labels },
        title: options.title ?? "",
        requestId: requestIdOf(options),
        at: forkPoint(options),
        ...(options.policy !== undefined && { policy: policyOf(options.policy) }),
      },
      callOptions(options),
    );
    const fork = new Session(this.client, id, this.dialect);
    fork.noteReport(answer.report);
    return fork;
  }

  /** Keeps messages word for word in every view, each with its tool group. */
  async pin(indexes: readonly number[], options: WriteOptions = {}): Promise<PinMessagesResponse> {
    const request = { sessionId: this.id, indexes: checkedIndexes(indexes), requestId: requestIdOf(options) };
    const answer = await this.client.sessions.pinMessages(request, callOptions(options));
    this.noteReport(answer.report);
    return answer;
  }

  /** Lets messages be covered and edited again. */
  async unpin(indexes: readonly number[], options: WriteOptions = {}): Promise<UnpinMessagesResponse> {
    const request = { sessionId: this.id, indexes: checkedIndexes(indexes), requestId: requestIdOf(options) };
    const answer = await this.client.sessions.unpinMessages(request, callOptions(options));
    this.noteReport(answer.report);
    return answer;
  }

  /**
   * Content of the log word for word: of a message's index, or of a reference as views show it, such as `#12.0`. Without
   * `maxBytes` all of the range comes, however many calls that takes.
   */
  async recall(what: number | string, options: RecallOptions = {}): Promise<RecallContentResponse> {
    return recallAll(this.client.sessions, this.id, what, options);
  }

  /** Finds messages in all that the log holds, and yields the places. */
  search(query: SearchQuery, options: CallOptions = {}): AsyncGenerator<SearchHit, void, undefined> {
    checkKeys("search", query, ["words", "pattern", "roles", "states", "newestFirst", "snippetChars"]);
    const asked = onlyKey("search", query, ["words", "pattern"]);
    const { roles, states, newestFirst, snippetChars } = query;
    const filter = {
      roles: rolesOf(roles ?? []),
      states: statesOf(states ?? []),
      newestFirst: newestFirst ?? false,
      snippetChars: snippetChars ?? 0,
    };
    const value = query[asked] ?? "";
    const what = asked === "words" ? ({ case: asked, value } as const) : ({ case: asked, value } as const);
    return pages(async (pageToken) => {
      const request = { sessionId: this.id, query: what, pageToken, ...filter };
      const page = await this.client.sessions.searchMessages(request, callOptions(options));
      return [page.hits, page.nextPageToken];
    });
  }

  /** The messages of the log from an index on: the whole transcript, or what user and assistant said that is in force. */
  messages(
    options: CallOptions & { readonly listing?: "transcript" | "dialogue"; readonly fromIndex?: number } = {},
  ): AsyncGenerator<LoggedMessage, void, undefined> {
    const listing = listingOf(options.listing);
    const fromIndex = checkedIndex("fromIndex", options.fromIndex ?? 0);
    return pages(async (pageToken) => {
      const request = { sessionId: this.id, listing, fromIndex, pageToken };
      const page = await this.client.sessions.listMessages(request, callOptions(options));
      return [page.messages, page.nextPageToken];
    });
  }

  /** The records of the log from a sequence on: compactions, reverts, changes of policy, failed attempts. */
  records(options: CallOptions & { readonly fromSequence?: number } = {}): AsyncGenerator<LogRecord, void, undefined> {
    const fromSequence = checkedIndex("fromSequence", options.fromSequence ?? 0);
    return pages(async (pageToken) => {
      const request = { sessionId: this.id, fromSequence, pageToken };
      const page = await this.client.sessions.listRecords(request, callOptions(options));
      return [page.records, page.nextPageToken];
    });
  }

  /** The committed compactions, the newest first, also those that a revert put aside. */
  compactions(options: CallOptions = {}): AsyncGenerator<CompactionEntry, void, undefined> {
    return pages(async (pageToken) => {
      const page = await this.client.compactions.listCompactions(
        { sessionId: this.id, pageToken },
        callOptions(options),
      );
      return [page.compactions, page.nextPageToken];
    });
  }

  /**
   * Takes a turn: appends the input, compacts where that is due, calls the model with the view, appends its answer, runs its
   * tool calls, and goes on until it has none. After an overflow it compacts and calls the model once more. What `callModel`
   * throws is thrown as it is, and nothing was appended of that answer; the next turn goes on where this one broke off.
   *
   * `input` is what the user says, or results of calls that the last turn left open; an empty list where the log has it
   * already. Rejects with TurnRunningError where a turn runs, TurnAbortedError where a compaction or {@link abortTurn} ends
   * it, and ContextOverflowError where no compaction helps.
   */
  async runTurn(callModel: CallModel, input: Appendables, options: TurnOptions = {}): Promise<Turn> {
    return this.turns.run(callModel, input, options);
  }

  /** Aborts the turn that runs in this session object: nothing is appended any more once it returns. False where none runs. */
  async abortTurn(): Promise<boolean> {
    return this.turns.abort();
  }

  /** What is told to the model after each completed compaction of this session object; undefined for nothing. */
  get announce(): Announce | undefined {
    return this.turns.announce;
  }

  set announce(announce: Announce | undefined) {
    this.turns.announce = announce;
  }

  /** Follows the session until the loop is left, over breaks of the connection, without a gap and nothing twice. */
  watch(options: WatchOptions = {}): AsyncGenerator<WatchItem, void, undefined> {
    if (options.fromSequence !== undefined) {
      checkedIndex("fromSequence", options.fromSequence);
    }
    const { sessions: stub, connection, retry } = this.client;
    return watchSession({ stub, connection, retry, sessionId: this.id, options });
  }

  /** Replaces the session's policy, labels or title, whichever is given. */
  async update(
    changes: {
      readonly policy?: PolicyLike;
      readonly labels?: Readonly<Record<string, string>>;
      readonly title?: string;
    },
    options: WriteOptions = {},
  ): Promise<SessionState> {
    const fields = ["policy", "labels", "title"] as const;
    checkKeys("update", changes, fields);
    const { session } = await this.client.sessions.updateSession(
      {
        sessionId: this.id,
        updateMask: { paths: fields.filter((field) => changes[field] !== undefined) },
        labels: { ...changes.labels },
        title: changes.title ?? "",
        requestId: requestIdOf(options),
        ...(changes.policy !== undefined && { policy: policyOf(changes.policy) }),
      },
      callOptions(options),
    );
    return present(session, "session");
  }

  /** The session's state, its policy as given and as resolved, and how full its context is. */
  async info(options: CallOptions = {}): Promise<GetSessionResponse> {
    const answer = await this.client.sessions.getSession({ sessionId: this.id }, callOptions(options));
    this.noteReport(answer.report);
    return answer;
  }

  /** Removes the session and its log for good. */
  async delete(options: CallOptions = {}): Promise<void> {
    await this.client.deleteSession(this.id, options);
  }

  /** @internal */
  noteReport(report: ContextReport | undefined): void {
    this.lastReport = report ?? this.lastReport;
  }

  private noteUnsure(request: AppendMessagesRequest, thrown: unknown, signal: AbortSignal | undefined): void {
    if (leavesOpen(thrown) || signal?.aborted === true) {
      const key = appendKey(request);
      this.unsure.delete(key);
      this.unsure.set(key, request.requestId);
      const [oldest] = this.unsure.keys();
      if (this.unsure.size > keptUnsure && oldest !== undefined) {
        this.unsure.delete(oldest);
      }
    }
  }
}

/** Whether a compaction is to abort a turn first. A dry run changes nothing that a turn could trip over. */
function abortsTurn({ abortRunning, dryRun }: CompactionOptions): boolean {
  return (abortRunning ?? true) && dryRun !== true;
}

/** The options that a stub takes, of those that a method was given. */
export function callOptions({ signal, timeoutMs }: CallOptions): CallOptions {
  return { ...(signal !== undefined && { signal }), ...(timeoutMs !== undefined && { timeoutMs }) };
}

/** The given request id, or a new one. */
export function requestIdOf(options: WriteOptions): string {
  return options.requestId ?? newRequestId();
}

/** A message of an answer that every daemon sends. */
export function present<T>(message: T | undefined, field: string): T {
  if (message === undefined) {
    throw new TypeError(`the daemon's answer has no ${field}`);
  }
  return message;
}

function checkedIndexes(indexes: readonly number[]): number[] {
  checkList("indexes", indexes);
  return indexes.map((index) => checkedIndex("indexes", index));
}

function listingOf(name: "transcript" | "dialogue" | undefined): MessageListing {
  switch (name) {
    case undefined:
    case "transcript":
      return MessageListing.TRANSCRIPT;
    case "dialogue":
      return MessageListing.DIALOGUE;
    default:
      throw new TypeError(`listing: ${JSON.stringify(name)} is none: transcript or dialogue`);
  }
}

function targetOf(
  target: RevertTarget,
): NonNullable<MessageInitShape<typeof RevertToCheckpointRequestSchema>["target"]> {
  const keys = ["toCheckpoint", "point", "turns", "undo"] as const;
  checkKeys("revert", target, keys);
  const key = onlyKey("revert", target, keys);
  const { [key]: value }: Readonly<Partial<Record<typeof key, number | true>>> = target;
  switch (key) {
    case "toCheckpoint":
      return { case: "checkpointId", value: checkedIndex(key, value) };
    case "point":
    case "turns":
      return { case: key, value: checkedIndex(key, value) };
    case "undo":
      if (value !== true) {
        throw new TypeError("undo: must be true");
      }
      return { case: key, value };
  }
}

function forkPoint(options: { readonly atCheckpoint?: number; readonly point?: number }) {
  if (options.atCheckpoint !== undefined) {
    return { case: "checkpointId", value: checkedIndex("atCheckpoint", options.atCheckpoint) } as const;
  }
  return options.point === undefined
    ? ({ case: undefined } as const)
    : ({ case: "point", value: checkedIndex("point", options.point) } as const);
}
