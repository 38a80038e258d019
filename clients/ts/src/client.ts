import type { Client as Stub } from "@connectrpc/connect";
import type { MessageInitShape } from "@bufbuild/protobuf";

import { checkKeys } from "./arguments.js";
import type { ConnectionOptions } from "./connection.js";
import { Connection } from "./connection.js";
import { defaults } from "./defaults.js";
import { SessionExistsError, UnavailableError } from "./errors.js";
import { checkHealth } from "./health.js";
import { newSessionId } from "./ids.js";
import type { DialectName } from "./messages.js";
import type { CallOptions, PolicyLike, WriteOptions } from "./options.js";
import { policyOf } from "./options.js";
import { pages } from "./pages.js";
import { callOptions, requestIdOf, Session } from "./session.js";
import type {
  ClassifyErrorRequestSchema,
  ClassifyErrorResponse,
  CountTokensRequestSchema,
  CountTokensResponse,
  Estimator,
  ListStrategiesRequestSchema,
  ListStrategiesResponse,
  Session as SessionState,
} from "./v1.js";
import { stubsOf } from "./stubs.js";
import { CompactionService, SessionOrder, SessionService } from "./v1.js";
import type { EstimatorName } from "./words.js";
import { estimatorOf } from "./words.js";

/** How a client connects, and where to. */
export interface ClientOptions extends ConnectionOptions {
  /** Where the daemon listens: `HOST:PORT` or `unix:PATH`. Default, also for "": `COMPACTORD_ADDR`, else `127.0.0.1:7440`. */
  readonly address?: string;
}

/** Every option of a client, so that a misspelt one is told. */
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
};

/** What a new session is like. */
export interface SessionOptions extends WriteOptions {
  /** Its id: 1 to 128 printable ASCII characters without spaces. Default: a UUID. */
  readonly sessionId?: string;
  /** The provider's shape of what is appended and viewed. Default: neutral messages. */
  readonly dialect?: DialectName;
  /** Its policy. Default: the daemon's. */
  readonly policy?: PolicyLike;
  /** Its labels. At most 64. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Its title. At most 512 bytes. */
  readonly title?: string;
  /** How its tokens are counted, from then on. Default: the daemon's choice. */
  readonly estimator?: EstimatorName | Estimator;
}

/**
 * A connection to a compactord daemon. It opens when the first call is made, and again when it broke. One client is enough
 * for a program.
 *
 * ```ts
 * await using client = new Client({ address: "127.0.0.1:7440" });
 * ```
 *
 * An open connection without a call on it does not keep the program alive; a watch or a compaction does.
 */
export class Client implements AsyncDisposable {
  /** Where the daemon listens. */
  readonly address: string;
  /** The stubs of sessions, for what is not wrapped: with time limits, repetitions and this package's errors. */
  readonly sessions: Stub<typeof SessionService>;
  /** The stubs of compactions and views. */
  readonly compactions: Stub<typeof CompactionService>;
  /** @internal */
  readonly connection: Connection;
  /** @internal */
  readonly retry: boolean;

  /**
   * Makes no call. In place of options with an address, the address alone will do, or with options behind it. Throws a
   * TypeError or RangeError for options that make no sense.
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

  /** Ends the connection and all calls on it, which reject with ClientClosedError. Later calls do, too. */
  close(): Promise<void> {
    this.connection.close();
    return Promise.resolve();
  }

  /** The same as {@link close}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Begins a session. Throws SessionExistsError where the id is in use. */
  async createSession(options: SessionOptions = {}): Promise<Session> {
    const session = this.session(options.sessionId ?? newSessionId(), options.dialect);
    await this.sessions.createSession(
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
    return session;
  }

  /** Goes on with the session of this id, or begins it where there is none: then with these options. */
  async openSession(
    sessionId: string,
    options: Omit<SessionOptions, "sessionId" | "requestId"> = {},
  ): Promise<Session> {
    try {
      return await this.createSession({ ...options, sessionId });
    } catch (e) {
      if (!(e instanceof SessionExistsError)) {
        throw e;
      }
      return this.session(sessionId, options.dialect);
    }
  }

  /** The session of this id, without asking whether there is one. */
  session(sessionId: string, dialect?: DialectName): Session {
    return new Session(this, sessionId, dialect);
  }

  /** The sessions that have all of these labels, newest first. */
  listSessions(
    options: CallOptions & {
      /** Labels that a session must have. At most 16. */ readonly labels?: Readonly<Record<string, string>>;
      /** Sessions that one answer of the daemon holds, up to 1,000. Default 100. */ readonly pageSize?: number;
      /** What makes one newer. Default `created`. */ readonly order?: "created" | "changed";
    } = {},
  ): AsyncGenerator<SessionState, void, undefined> {
    const order = orderOf(options.order);
    return pages(async (pageToken) => {
      const page = await this.sessions.listSessions(
        { labels: { ...options.labels }, order, pageToken, pageSize: options.pageSize ?? 0 },
        callOptions(options),
      );
      return [page.sessions, page.nextPageToken];
    });
  }

  /** Removes a session and its log for good. */
  async deleteSession(sessionId: string, options: CallOptions = {}): Promise<void> {
    await this.sessions.deleteSession({ sessionId }, callOptions(options));
  }

  /** Whether a provider's error is a context overflow. */
  async classifyError(
    error: MessageInitShape<typeof ClassifyErrorRequestSchema>,
    options: CallOptions = {},
  ): Promise<ClassifyErrorResponse> {
    return this.compactions.classifyError(error, callOptions(options));
  }

  /** How many tokens a session's view, messages or a text are. */
  async countTokens(
    what: Omit<MessageInitShape<typeof CountTokensRequestSchema>, "$typeName" | "estimator"> & {
      /** How to count. Default: the session's own, else `chars4`. */ readonly estimator?: EstimatorName | Estimator;
    },
    options: CallOptions = {},
  ): Promise<CountTokensResponse> {
    const { estimator, ...counted } = what;
    return this.compactions.countTokens(
      { ...counted, ...(estimator !== undefined && { estimator: estimatorOf(estimator) }) },
      callOptions(options),
    );
  }

  /** The strategies with their parameters, the presets for a model, and the summarizers. */
  async strategies(
    model: MessageInitShape<typeof ListStrategiesRequestSchema> = {},
    options: CallOptions = {},
  ): Promise<ListStrategiesResponse> {
    return this.compactions.listStrategies(model, callOptions(options));
  }

  /** Whether the daemon serves. It does not where it is out of reach, either. */
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
