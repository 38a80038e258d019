import { readFileSync } from "node:fs";
import { connect as connectSocket } from "node:net";
import { connect as connectTLS } from "node:tls";
import type { Duplex } from "node:stream";
import type { ClientSessionOptions, SecureClientSessionOptions } from "node:http2";

import type {
  DescMessage,
  DescMethodServerStreaming,
  DescMethodStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type {
  CallOptions as ConnectOptions,
  ContextValues,
  StreamResponse,
  Transport,
  UnaryResponse,
} from "@connectrpc/connect";
import { Code, ConnectError } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";

import { checkedNumber, checkedSignal, checkedTimeout, isObject } from "../contract/arguments.js";
import { defaults } from "./defaults.js";
import { ClientClosedError, DeadlineExceededError } from "./errors.js";
import { SteadySessionManager } from "./http2Sessions.js";
import { forward, isSafeToRepeat, pause, repeated } from "./retry.js";
import { errorOfCall } from "./status.js";
import { tokenInterceptors, tokenFault } from "./token.js";

/** Encryption of the connection, for a proxy before the daemon. Each is the path of a PEM file, or PEM itself. */
export interface TLSOptions {
  /** The certificates of the authorities to trust. Default: those that Node trusts. */
  readonly ca?: string | Uint8Array;
  /** The client's certificate, where the server asks for one. */
  readonly cert?: string | Uint8Array;
  /** Its key. */
  readonly key?: string | Uint8Array;
  /** The name that the server's certificate has to have. Default: the host of the address. */
  readonly serverName?: string;
}

/** How a client connects. */
export interface ConnectionOptions {
  /** Encrypts: `true` for what Node trusts. Default: no encryption. */
  readonly tls?: TLSOptions | boolean;
  /**
   * Sent with each call as `authorization: Bearer ...`; a function is asked before each. Refused without `tls`, where the
   * network could read it, unless the address is a Unix socket.
   */
  readonly token?: string | (() => string | Promise<string>);
  /** Sends a token without encryption all the same. Default false. */
  readonly allowPlaintextToken?: boolean;
  /** The time limit of a call in milliseconds, its repetitions included; `Infinity` is none. Default 30,000. */
  readonly timeoutMs?: number;
  /** The same of calls that wait for a summary. Default 900,000. */
  readonly compactionTimeoutMs?: number;
  /** The largest message that is sent or taken, in bytes. Default 67,108,864. */
  readonly maxMessageBytes?: number;
  /** After how many milliseconds of silence a connection in use is checked. At least 10,000; default 30,000. */
  readonly keepaliveMs?: number;
  /** Whether calls that are safe to send again are sent again when the daemon was out of reach. Default true. */
  readonly retry?: boolean;
}

/** The length of a message is a number of 32 bits. */
/** The most that one answer holds of a view. For each of them the daemon draws the view anew. */
const maxPageBytes = 32 << 20;
const maxMaxMessageBytes = 2 ** 32 - 1;

/** What a `Headers` is made from. */
type HeaderFields = ConstructorParameters<typeof Headers>[0];

/** What a stub takes. */
export type StubOptions = Omit<ConnectOptions, "headers"> & { readonly headers?: HeaderFields };

/** Where a daemon listens. */
interface Place {
  /** What requests are addressed to. */
  readonly url: string;
  /** The path of the Unix socket, where it is one. */
  readonly socket: string | undefined;
}

/**
 * A connection to a daemon: opens it when the first call is made and again when it broke, gives each call a time limit,
 * repeats what may be repeated, and turns errors into this package's.
 */
export class Connection implements Transport {
  private readonly address: string;
  private readonly manager: SteadySessionManager;
  private readonly inner: Transport;
  private readonly closing = new AbortController();
  /** Bytes of an answer that holds a page of a view. What the page is wrapped in must fit beside it. */
  readonly pageBytes: number;
  private readonly timeoutMs: number;
  private readonly compactionTimeoutMs: number;
  private readonly retry: boolean;

  constructor(address: string, options: ConnectionOptions) {
    const tls = tlsOf(options.tls);
    const place = placeOf(address, tls !== undefined);
    this.address = address;
    this.timeoutMs = checkedTimeout("timeoutMs", options.timeoutMs ?? defaults.timeoutMs);
    this.compactionTimeoutMs = checkedTimeout(
      "compactionTimeoutMs",
      options.compactionTimeoutMs ?? defaults.compactionTimeoutMs,
    );
    this.retry = options.retry ?? true;
    const pingIntervalMs = options.keepaliveMs ?? defaults.keepaliveMs;
    checkedNumber("keepaliveMs", pingIntervalMs, defaults.leastKeepaliveMs);
    this.manager = new SteadySessionManager(place.url, { pingIntervalMs }, sessionOptions(place, tls));
    const maxBytes = checkedNumber(
      "maxMessageBytes",
      options.maxMessageBytes ?? defaults.maxMessageBytes,
      1,
      maxMaxMessageBytes,
    );
    this.pageBytes = Math.min(maxPageBytes, Math.floor(maxBytes / 2));
    this.inner = createGrpcTransport({
      baseUrl: place.url,
      sessionManager: this.manager,
      acceptCompression: [],
      readMaxBytes: maxBytes,
      writeMaxBytes: maxBytes,
      interceptors: tokenInterceptors(options, tls !== undefined || place.socket !== undefined),
    });
  }

  /** Ends the connection and all calls. */
  close(): void {
    this.closing.abort(new ClientClosedError());
    this.manager.abort(new ConnectError("the client was closed", Code.Canceled));
  }

  /** Waits so many milliseconds, at most until the connection is closed or a signal fires: then it throws. */
  async pause(ms: number, ...signals: (AbortSignal | undefined)[]): Promise<void> {
    await pause(ms, this.closing.signal, ...signals);
  }

  async unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: HeaderFields,
    input: MessageInitShape<I>,
    contextValues?: ContextValues,
  ): Promise<UnaryResponse<I, O>> {
    checkedSignal(signal);
    const end = Date.now() + checkedTimeout("timeoutMs", timeoutMs ?? this.timeoutOf(method.name, input));
    const call = new AbortController();
    const release = forward([signal, this.closing.signal], call);
    let broken: unknown;
    const once = async (): Promise<UnaryResponse<I, O>> => {
      this.checkMayCall(signal);
      try {
        return await this.inner.unary(method, call.signal, remaining(end, broken), header, input, contextValues);
      } catch (e) {
        broken = this.errorOf(e, signal);
        throw broken;
      }
    };
    try {
      if (!this.retry || !isSafeToRepeat(method, input)) {
        return await once();
      }
      return await repeated(once, (ms) => this.pause(Math.min(ms, end - Date.now()), signal));
    } finally {
      release();
    }
  }

  async stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodStreaming<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: HeaderFields,
    input: AsyncIterable<MessageInitShape<I>>,
    contextValues?: ContextValues,
  ): Promise<StreamResponse<I, O>> {
    // A watch lasts as long as its reader wants: pings tell whether the daemon is there.
    const usual = method.name === "WatchSession" ? Number.POSITIVE_INFINITY : this.compactionTimeoutMs;
    const limit = checkedTimeout("timeoutMs", timeoutMs ?? usual);
    // For connect 0 is none.
    const limitMs = limit === Number.POSITIVE_INFINITY ? 0 : limit;
    return this.inner.stream(method, signal, limitMs, header, input, contextValues);
  }

  /** Makes a call that streams its answers. Its reader cancels it by leaving the loop. */
  async *events<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    input: MessageInitShape<I>,
    options: StubOptions,
  ): AsyncGenerator<MessageShape<O>, void, undefined> {
    const { signal, timeoutMs, headers, contextValues } = options;
    checkedSignal(signal);
    this.checkMayCall(signal);
    const call = new AbortController();
    const release = forward([signal, this.closing.signal], call);
    try {
      const response = await this.stream(method, call.signal, timeoutMs, headers, only(input), contextValues);
      options.onHeader?.(response.header);
      const answers = response.message[Symbol.asyncIterator]();
      // connect stops the timer of a call that was aborted only when its answers are asked for once more.
      call.signal.addEventListener("abort", () => {
        answers.next().catch(() => undefined);
      });
      for (let next = await answers.next(); next.done !== true; next = await answers.next()) {
        yield next.value;
      }
      call.signal.throwIfAborted();
      options.onTrailer?.(response.trailer);
    } catch (e) {
      throw this.errorOf(e, signal);
    } finally {
      release();
      call.abort();
    }
  }

  private timeoutOf(method: string, input: object): number {
    const writesSummary = method === "RevertToCheckpoint" && "summarize" in input && input.summarize === true;
    return writesSummary || method === "CommitCompaction" ? this.compactionTimeoutMs : this.timeoutMs;
  }

  /** Who aborts a call gets the reason that they gave, as from fetch. */
  private errorOf(thrown: unknown, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted) {
      return signal.reason;
    }
    if (this.closing.signal.aborted) {
      return new ClientClosedError();
    }
    const fault = tokenFault(thrown);
    return fault === undefined ? errorOfCall(thrown, this.address) : fault.cause;
  }

  private checkMayCall(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    if (this.closing.signal.aborted) {
      throw new ClientClosedError();
    }
  }
}

/** What a call that streams only its answers sends. */
async function* only<T>(message: T): AsyncGenerator<T> {
  yield await Promise.resolve(message);
}

/** What is left until then, as connect wants it: 0 is no limit. `broken` is why the call has to be made again. */
function remaining(end: number, broken: unknown): number {
  if (end === Number.POSITIVE_INFINITY) {
    return 0;
  }
  const left = end - Date.now();
  if (left <= 0) {
    throw new DeadlineExceededError("the daemon was out of reach until the call's time limit had passed", {
      code: Code.DeadlineExceeded,
      reason: "DEADLINE_EXCEEDED",
      cause: broken,
    });
  }
  return left;
}

function tlsOf(tls: ConnectionOptions["tls"]): TLSOptions | undefined {
  switch (tls) {
    case undefined:
    case false:
      return undefined;
    case true:
      return {};
    default:
      if (!isObject(tls)) {
        throw new TypeError("tls: must be true, false or the options of TLS");
      }
      return tls;
  }
}

/** Where HOST:PORT or unix:PATH is. */
function placeOf(address: string, tls: boolean): Place {
  const scheme = tls ? "https" : "http";
  // Programs without types give what they have.
  const given: unknown = address;
  if (typeof given !== "string") {
    throw new TypeError(`address: must be a string, and is ${typeof given}`);
  }
  if (address.startsWith("unix:")) {
    const path = address.slice("unix:".length);
    if (path === "") {
      throw new TypeError("address: unix: needs the path of a socket after it");
    }
    return { url: `${scheme}://localhost`, socket: path };
  }
  const url = `${scheme}://${address}`;
  if (!/^(\[[0-9a-fA-F:.]+\]|[^:/?#@\s]+):\d{1,5}$/.test(address) || !URL.canParse(url)) {
    throw new TypeError(`address: ${JSON.stringify(address)} is none: write HOST:PORT or unix:PATH`);
  }
  return { url, socket: undefined };
}

function sessionOptions(place: Place, tls: TLSOptions | undefined): ClientSessionOptions | SecureClientSessionOptions {
  const secure = tls === undefined ? {} : secureOptions(tls);
  const path = place.socket;
  if (path === undefined) {
    return secure;
  }
  const open = (): Duplex =>
    tls === undefined
      ? connectSocket(path)
      : connectTLS({ path, ALPNProtocols: ["h2"], servername: "localhost", ...secure });
  return { ...secure, createConnection: open };
}

function secureOptions({ ca, cert, key, serverName }: TLSOptions): SecureClientSessionOptions {
  return {
    ...(ca !== undefined && { ca: pem(ca) }),
    ...(cert !== undefined && { cert: pem(cert) }),
    ...(key !== undefined && { key: pem(key) }),
    ...(serverName !== undefined && { servername: serverName }),
  };
}

/** PEM as it was given, or of the file that was named. */
function pem(given: string | Uint8Array): string | Buffer {
  if (typeof given !== "string") {
    return Buffer.from(given);
  }
  return given.includes("-----BEGIN ") ? given : readFileSync(given);
}
