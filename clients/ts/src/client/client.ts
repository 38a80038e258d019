import type { Client as Stub } from "@connectrpc/connect";
import type { MessageInitShape } from "@bufbuild/protobuf";

import type { ChildOptions } from "./children.js";
import { endedAfter, SessionChildren, sightOf } from "./children.js";
import type { Compacted, CompactedOptions } from "./compacted.js";
import { ListCompaction } from "./compacted.js";
import type { AgentTools } from "../agentTools/agentTools.js";
import { checkedIndex, checkId, checkKeys, checkLabels, checkText } from "../contract/arguments.js";
import type { CallOptions, WriteOptions } from "../wire/calls.js";
import { callOptions, requestIdOf, writeKeys } from "../wire/calls.js";
import type { ConnectionOptions } from "../wire/connection.js";
import { Connection } from "../wire/connection.js";
import { defaults } from "../wire/defaults.js";
import { SessionExistsError, UnavailableError } from "../wire/errors.js";
import { checkHealth } from "../wire/health.js";
import { newSessionId } from "../wire/ids.js";
import type { CallModel, LoopOptions } from "../turn/options.js";
import type { Synced } from "../compaction/synced.js";
import type { SyncOptions } from "../compaction/syncing.js";
import type { Element } from "../contract/lists.js";
import type { Appendables, DialectName } from "../contract/messages.js";
import { pages } from "../wire/pages.js";
import type { PolicyLike } from "../contract/policy.js";
import { differingFields, policyOf } from "../contract/policy.js";
import { warnedOfLimit } from "../session/limits.js";
import type { Turn } from "../turn/turn.js";
import type {
  ClassifyErrorRequestSchema,
  ClassifyErrorResponse,
  CountTokensRequestSchema,
  CountTokensResponse,
  EndChildResponse,
  Estimator,
  ListStrategiesRequestSchema,
  ListStrategiesResponse,
  Policy,
  Session as SessionState,
} from "../v1.js";
import { stubsOf } from "../wire/stubs.js";
import { CompactionService, SessionOrder, SessionService } from "../v1.js";
import type { EstimatorName } from "../contract/words.js";
import { estimatorOf } from "../contract/words.js";
import type { ViewOptions } from "../view/sessionView.js";
import type { View } from "../view/view.js";

/** The address of the daemon and the settings of the connection. */
export interface ClientOptions extends ConnectionOptions {
  /** The address, `HOST:PORT` or `unix:PATH`. Default, also for "": `COMPACTORD_ADDR`, else `127.0.0.1:7440`. */
  readonly address?: string;
}

/** All options of a client. Other keys are refused. */
const takenOptions: Readonly<Record<keyof ClientOptions, true>> = {
  address: true,
  tls: true,
  token: true,
  allowPlaintextToken: true,
  timeoutMs: true,
  compactionTimeoutMs: true,
  maxMessageBytes: true,
  keepaliveMs: true,
  retry: true,
  interceptors: true,
};

/** The options of a fork of its own. Other keys are refused. */
const takenByFork = { atCheckpoint: true, point: true, newSessionId: true, policy: true, labels: true, title: true };

/** The options of an object for a session. */
export interface SessionHandleOptions<D extends DialectName | undefined = DialectName | undefined> {
  /** The provider's shape of messages that are appended and returned. Default: neutral messages. */
  readonly dialect?: D;
}

/** The settings of a new session. */
export interface SessionOptions<D extends DialectName | undefined = DialectName | undefined> extends WriteOptions {
  /** Its id: 1 to 128 printable ASCII characters without spaces. Default: a UUID. */
  readonly sessionId?: string;
  /** The provider's shape of messages that are appended and returned. Default: neutral messages. */
  readonly dialect?: D;
  /** Its policy. Default: the daemon's. */
  readonly policy?: PolicyLike;
  /** Its labels. At most 64. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Its title. At most 512 bytes. */
  readonly title?: string;
  /** How tokens are counted. It cannot be changed later. Default: `chars4`. */
  readonly estimator?: EstimatorName | Estimator;
}

const takenBySession: Readonly<Record<keyof SessionOptions, true>> = {
  sessionId: true,
  dialect: true,
  policy: true,
  labels: true,
  title: true,
  estimator: true,
  requestId: true,
  timeoutMs: true,
  signal: true,
};

/** The options of a turn. */
export interface TurnOptions extends LoopOptions {
  /** The agent tools. They handle the calls of tools with their names. */
  readonly tools?: AgentTools;
}

/**
 * A session: one conversation. It keeps the last view, so that the daemon only sends what is new. Several tasks may use
 * one object at once. `D` is its dialect, by which views are typed; undefined for neutral messages.
 */
export class Session<D extends DialectName | undefined = DialectName | undefined> extends SessionChildren {
  /** The client that makes its calls. */
  override readonly client: Client;
  /** The provider's shape of messages that are appended and returned; undefined for neutral messages. */
  declare readonly dialect: D;

  /** Use {@link Client.createSession}, {@link Client.openSession} or {@link Client.session}. */
  constructor(client: Client, id: string, dialect: D) {
    super(client, id, dialect);
    this.client = client;
  }

  /** Fetches the view: the messages that the model needs to go on. The daemon only sends what is new. */
  override async view(options: ViewOptions = {}): Promise<View<D>> {
    return (await super.view(options)) as View<D>;
  }

  /**
   * Brings the session in line with the complete list that an agent holds, and returns the view to send: the elements of
   * `messages` (OpenAI Chat, Anthropic), `input` (OpenAI Responses) or `contents` (Gemini), or without a dialect neutral
   * messages.
   *
   * The daemon compares the list with the log by what messages say. It appends what is new, and goes back where the agent
   * changed or dropped the end. The same list a second time changes nothing. A list may also begin with a view that the
   * session returned, as where a framework stores `messages` of the result. Only what the daemon lacks is sent with its
   * content. At most 100,000 elements, of which 10,000 may be new.
   *
   * Where another client has written what the list lacks since the last sync of this session object, nothing is written:
   * a SyncConflictError says so, and {@link refresh} what to do. The first sync of an object takes the list as it is.
   *
   * The signal cancels the compaction, and the daemon has ended it when the call rejects. A running turn of this session
   * object is aborted. Where the compaction fails, the log holds the list nevertheless: `compact: false` returns the view.
   */
  override async sync(messages: readonly Element[], options: SyncOptions = {}): Promise<Synced<D>> {
    return (await super.sync(messages, options)) as Synced<D>;
  }

  /** Makes a new session with a copy of this one's log, up to a checkpoint, up to a point, or all of it. */
  async fork(
    options: WriteOptions & {
      /** The checkpoint to fork at. */ readonly atCheckpoint?: number;
      /** The point to fork at. */ readonly point?: number;
      /** The new session's id. Default: a UUID. */ readonly newSessionId?: string;
      /** The new session's policy. Default: this one's at the point. */ readonly policy?: PolicyLike;
      /** The new session's labels. Default: this one's. */ readonly labels?: Readonly<Record<string, string>>;
      /** The new session's title. Default: this one's. */ readonly title?: string;
    } = {},
  ): Promise<Session<D>> {
    checkKeys("fork", options, [...writeKeys, ...Object.keys(takenByFork)]);
    checkLabels(options.labels);
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
    fork.noteChosen(answer.warnings);
    return fork;
  }

  /**
   * Makes a child for a part of the work, such as a sub-agent: a session of its own. Calls `work` with it, ends it then,
   * and appends its result to this session's log: the text that `work` returns, else the text of the child's newest
   * ASSISTANT message. Where `work` throws, the result is an error that says so with the error's message, and the error
   * is thrown further. The child sees nothing of this session but what the options choose, and no other child. This
   * session can recall the child's log, by references such as `SESSION_ID#12`.
   */
  async child(work: (child: Session<D>) => unknown, options: ChildOptions = {}): Promise<EndChildResponse> {
    return endedAfter(await this.startChild(options), work, options);
  }

  /** Makes a child that lives on until {@link end}, also beyond this program. See {@link child}. */
  async startChild(options: ChildOptions = {}): Promise<Session<D>> {
    const id = options.sessionId ?? newSessionId();
    const { warnings } = await this.client.sessions.forkSession(
      {
        sessionId: this.id,
        newSessionId: id,
        child: sightOf(options),
        labels: { ...options.labels },
        title: options.title ?? "",
        requestId: requestIdOf(options),
        at: forkPoint(options),
        ...(options.policy !== undefined && { policy: policyOf(options.policy) }),
      },
      callOptions(options),
    );
    const child = new Session(this.client, id, this.dialect);
    child.belongsTo(this, options.call);
    child.noteChosen(warnings);
    return child;
  }

  /**
   * Runs a turn: appends the input, compacts when due, calls the model with the view, appends its answer, runs its tool
   * calls, and repeats until there are none. After an overflow it compacts and calls the model once more. An error of
   * `callModel` is thrown unchanged, and nothing of that answer is appended. The next turn continues where this one
   * stopped.
   *
   * `input` is the user's message, or results of calls that the last turn left open; an empty list where the log has
   * them already. Rejects with the reason `TURN_RUNNING` where a turn is already running, TurnAbortedError where a compaction or
   * {@link abortTurn} aborts it, and ContextOverflowError where no compaction helps. It rejects with WrongNextIndexError
   * where another process, or another session object, has written to the session during the turn: nothing of the rejected
   * append was written, and the next turn does not go on with the step.
   */
  async runTurn(callModel: CallModel<D>, input: Appendables, options: TurnOptions = {}): Promise<Turn> {
    return this.takeTurn(callModel as CallModel, input, options);
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

/**
 * The client of a compactord daemon. It connects at the first call, and again after the connection broke. A program
 * needs only one client.
 *
 * ```ts
 * await using client = new Client({ address: "127.0.0.1:7440" });
 * ```
 *
 * A connection without a running call does not keep the program alive; a watch or a compaction does.
 */
export class Client implements AsyncDisposable {
  /** The daemon's address. */
  readonly address: string;
  /** The stubs of SessionService, for direct calls. They have this client's time limits, retries and errors. */
  readonly sessions: Stub<typeof SessionService>;
  /** The stubs of CompactionService. */
  readonly compactions: Stub<typeof CompactionService>;
  /** @internal */
  readonly connection: Connection;
  /** @internal */
  readonly retry: boolean;

  /**
   * Makes a client, without a call. Accepts options, an address, or an address and options. Throws a TypeError or
   * RangeError for invalid options.
   */
  constructor(address: string, options?: Omit<ClientOptions, "address">);
  constructor(options?: ClientOptions);
  constructor(given: string | ClientOptions = {}, more: Omit<ClientOptions, "address"> = {}) {
    const options: ClientOptions = typeof given === "string" ? { ...more, address: given } : given;
    checkKeys("new Client", options, Object.keys(takenOptions));
    this.address = options.address || process.env[defaults.addressVariable] || defaults.address;
    this.connection = new Connection(this.address, options);
    this.retry = options.retry ?? true;
    this.sessions = stubsOf(SessionService, this.connection);
    this.compactions = stubsOf(CompactionService, this.connection);
  }

  /** Closes the connection. Running and later calls reject with the reason `CLIENT_CLOSED`. */
  close(): Promise<void> {
    this.connection.close();
    return Promise.resolve();
  }

  /** The same as {@link close}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /**
   * Creates a session. Throws SessionExistsError where the id is in use. What is probably not meant in its policy is in
   * `warnings` of the session.
   */
  async createSession<D extends DialectName | undefined = undefined>(
    options: SessionOptions<D> = {},
  ): Promise<Session<D>> {
    checkKeys("createSession", options, Object.keys(takenBySession));
    checkText("title", options.title);
    checkLabels(options.labels);
    if (options.sessionId !== undefined) {
      checkId(options.sessionId);
    }
    const session = new Session(this, options.sessionId ?? newSessionId(), options.dialect as D);
    const { warnings } = await this.sessions.createSession(
      {
        sessionId: session.id,
        labels: { ...options.labels },
        title: options.title ?? "",
        requestId: requestIdOf(options),
        ...(options.estimator !== undefined && { estimator: estimatorOf(options.estimator) }),
        ...(options.policy !== undefined && { policy: policyOf(options.policy) }),
      },
      callOptions(options),
    );
    session.noteChosen(warnings);
    return session;
  }

  /**
   * Opens the session with this id. Where it does not exist, creates it with these options. Labels, title and estimator
   * are only used for a new session. What a policy sets must be so in the one that the session has, else
   * SessionExistsError is thrown and names the fields that differ; `update` of the session replaces it. A policy that
   * names one of the daemon's operator is not compared: the session keeps it written out.
   */
  async openSession<D extends DialectName | undefined = undefined>(
    sessionId: string,
    options: Omit<SessionOptions<D>, "sessionId" | "requestId"> = {},
  ): Promise<Session<D>> {
    try {
      return await this.createSession({ ...options, sessionId });
    } catch (e) {
      if (!(e instanceof SessionExistsError)) {
        throw e;
      }
      const session = new Session(this, sessionId, options.dialect as D);
      if (options.policy !== undefined) {
        await this.checkPolicy(session, policyOf(options.policy), options, e);
      }
      return session;
    }
  }

  /** Throws an error that names the fields in which the session's policy is not the given one. */
  private async checkPolicy(
    session: Session,
    given: Policy,
    options: CallOptions,
    { code, reason, metadata }: SessionExistsError,
  ): Promise<void> {
    const held = await session.info(callOptions(options));
    const differing = differingFields(given, held.session?.policy);
    if (differing.length > 0 && !(await this.isOperators(given.preset, options))) {
      const advice = "open it without a policy, and replace its policy with update";
      const where = `the session ${session.id} exists with another policy, which differs in ${differing.join(", ")}`;
      throw new SessionExistsError(`policy: ${where}: ${advice}`, { code, reason, metadata });
    }
  }

  /** Whether a policy that is named like a preset is one of the daemon's operator. */
  private async isOperators(name: string | undefined, options: CallOptions): Promise<boolean> {
    const { presets } = await this.strategies({}, callOptions(options));
    return presets.some((preset) => preset.name === name && preset.policy?.preset !== name);
  }

  /** Makes an object for the session with this id. No call checks that the session exists. */
  session<D extends DialectName | undefined = undefined>(
    sessionId: string,
    options: SessionHandleOptions<D> = {},
  ): Session<D> {
    checkKeys("session", options, ["dialect"]);
    checkId(sessionId);
    return new Session(this, sessionId, options.dialect as D);
  }

  /** Iterates over the sessions with all of these labels, or of these only over the forks of a session, newest first. */
  listSessions(
    options: CallOptions & {
      /** Labels that a session must have. At most 16. */ readonly labels?: Readonly<Record<string, string>>;
      /**
       * Only the forks of the session with this id, without its children. There is no index of forks: the daemon looks
       * through all sessions that were created since that one.
       */
      readonly forkedFrom?: string;
      /** Sessions per response, up to 1,000. Default 100. */ readonly pageSize?: number;
      /** Whether to sort by creation or by last change. Default `created`. */ readonly order?: "created" | "changed";
    } = {},
  ): AsyncGenerator<SessionState, void, undefined> {
    const order = orderOf(options.order);
    return pages(async (pageToken) => {
      const page = await this.sessions.listSessions(
        {
          labels: { ...options.labels },
          forkedFromSessionId: options.forkedFrom ?? "",
          order,
          pageToken,
          pageSize: options.pageSize ?? 0,
        },
        callOptions(options),
      );
      return [page.sessions, page.nextPageToken];
    });
  }

  /** Removes a session and its log for ever. */
  async deleteSession(sessionId: string, options: CallOptions = {}): Promise<void> {
    await this.sessions.deleteSession({ sessionId }, callOptions(options));
  }

  /**
   * Asks the daemon whether a provider's error is a context overflow. Where its text says how many tokens the model accepts,
   * `limitTokens` of the answer has the figure; Node warns of a context window of the session above that.
   */
  async classifyError(
    error: MessageInitShape<typeof ClassifyErrorRequestSchema>,
    options: CallOptions = {},
  ): Promise<ClassifyErrorResponse> {
    const verdict = await this.compactions.classifyError(error, callOptions(options));
    if (error.sessionId !== undefined && error.sessionId !== "") {
      await warnedOfLimit(this, error.sessionId, verdict, options);
    }
    return verdict;
  }

  /**
   * Returns a complete list as the model is to see it, compacted where that is due, without a session. The daemon keeps
   * nothing: give the complete list each time, and the `state` of the last result. The state has what was compacted. Where
   * messages that it covers have changed, the list is compacted anew, and `beganAnew` says so. Of the SYSTEM and DEVELOPER
   * messages at the start only the number must stay. Another policy goes on with the same state; a state of another
   * dialect is refused with a TypeError. The signal and the time limit are those of the compaction. Rejects with
   * ToolCallsOpenError where tool calls of the list wait for results.
   */
  async compacted<D extends DialectName | undefined = undefined>(
    messages: readonly Element[],
    options: CompactedOptions<D> = {},
  ): Promise<Compacted<D>> {
    return (await new ListCompaction(this, messages, options).run()) as Compacted<D>;
  }

  /** Counts the tokens of a session's view, of messages or of a text. */
  async countTokens(
    what: Omit<MessageInitShape<typeof CountTokensRequestSchema>, "$typeName" | "estimator"> & {
      /** How tokens are counted. Default: as the session does, else `chars4`. */ readonly estimator?:
        EstimatorName | Estimator;
    },
    options: CallOptions = {},
  ): Promise<CountTokensResponse> {
    const { estimator, ...counted } = what;
    return this.compactions.countTokens(
      { ...counted, ...(estimator !== undefined && { estimator: estimatorOf(estimator) }) },
      callOptions(options),
    );
  }

  /** Lists the strategies with their parameters, the presets for a model, and the summarizers. */
  async strategies(
    model: MessageInitShape<typeof ListStrategiesRequestSchema> = {},
    options: CallOptions = {},
  ): Promise<ListStrategiesResponse> {
    return this.compactions.listStrategies(model, callOptions(options));
  }

  /** Whether the daemon serves. False where it cannot be reached. */
  async health(options: CallOptions = {}): Promise<boolean> {
    try {
      return await checkHealth(this.connection, options);
    } catch (e) {
      if (e instanceof UnavailableError) {
        return false;
      }
      throw e;
    }
  }
}

function orderOf(name: "created" | "changed" | undefined): SessionOrder {
  switch (name) {
    case undefined:
    case "created":
      return SessionOrder.CREATED;
    case "changed":
      return SessionOrder.CHANGED;
    default:
      throw new TypeError(`order: ${JSON.stringify(name)} is none: created or changed`);
  }
}
