import type { Client as Stub } from "@connectrpc/connect";
import { Code } from "@connectrpc/connect";

import type { Connection } from "../wire/connection.js";
import { cancelled, CompactordError, DeadlineExceededError, UnavailableError } from "../wire/errors.js";
import { backoffMs, forward, retryFigures } from "../wire/retry.js";
import type {
  CompactionEntry,
  CompactionEvent,
  CompactionPlan,
  CompactionService,
  CompactRequest,
  ContextReport,
  PruneEntry,
} from "../v1.js";
import { SkipReason, SummaryFallback } from "../v1.js";
import type { SkipReasonName } from "../contract/words.js";
import { word } from "../contract/words.js";
import { fallbackWarning, warn } from "../view/warnings.js";

const compactAnew = ": to compact in another way, undo the last one with session.revert({ undo: true })";

/** The result of a compaction that did not fail. */
export class CompactionResult {
  /** Whether it committed something, was skipped, or was a dry run. */
  readonly outcome: "completed" | "skipped" | "planned";
  /** The compaction's entry; undefined where no messages were summarized. */
  readonly compaction: CompactionEntry | undefined;
  /** The edits; undefined where there are none. */
  readonly prune: PruneEntry | undefined;
  /**
   * Which summarizer failed and why, in a sentence, where the policy's fallback wrote in its place; else empty.
   * `provenance.summarizer` of `compaction` or `prune` names the fallback.
   */
  readonly fallbackCause: string;
  /** With `dryRun`: the plan. */
  readonly plan: CompactionPlan | undefined;
  /** How full the context is now. */
  readonly report: ContextReport | undefined;
  /** Why it was skipped, such as `nothing_to_compact`; else empty. */
  readonly reason: SkipReasonName | "";
  /** Why it was skipped, in a sentence with the figures, and what to do; else empty. */
  readonly message: string;

  /** @internal */
  constructor(
    outcome: "completed" | "skipped" | "planned",
    facts: {
      compaction?: CompactionEntry | undefined;
      prune?: PruneEntry | undefined;
      plan?: CompactionPlan | undefined;
      report?: ContextReport | undefined;
      reason?: SkipReason;
      message?: string;
    },
  ) {
    this.outcome = outcome;
    this.compaction = facts.compaction;
    this.prune = facts.prune;
    this.fallbackCause =
      [facts.compaction?.provenance, facts.prune?.provenance].find(
        (provenance) => provenance !== undefined && provenance.fallback !== SummaryFallback.UNSPECIFIED,
      )?.fallbackCause ?? "";
    this.plan = facts.plan;
    this.report = facts.report;
    this.reason = facts.reason === undefined ? "" : word(SkipReason, facts.reason);
    this.message = (facts.message ?? "") + (this.reason === "already_compacted" ? compactAnew : "");
  }

  /** What deserves a look, in sentences: that the policy's fallback wrote. Node warns of it, too. */
  get warnings(): readonly string[] {
    const text = fallbackWarning(this.fallbackCause);
    return text === undefined ? [] : [text];
  }

  /** Whether the view is smaller now. */
  get done(): boolean {
    return this.outcome === "completed";
  }
}

/** The result in an event, where it is the last event of a compaction that did not fail. */
export function resultOf({ event }: Pick<CompactionEvent, "event">): CompactionResult | undefined {
  switch (event.case) {
    case "completed":
      return new CompactionResult("completed", event.value);
    case "skipped":
      return new CompactionResult("skipped", event.value);
    case "planned":
      return new CompactionResult("planned", { plan: event.value });
    default:
      return undefined;
  }
}

/** What lets the turns of a session wait, from before a compaction until after its end. */
export interface CompactionPlace {
  /** Whether the daemon may still be ending the compaction of an aborted turn. */
  readonly preempt: boolean;
  /** Lets the turns continue. Announces the result, if there is one. */
  leave(result: CompactionResult | undefined): Promise<void>;
}

/** The parameters of a compaction. */
export interface CompactionParts {
  /** The stubs. */
  readonly stub: Stub<typeof CompactionService>;
  /** The connection, for the pauses before a retry. */
  readonly connection: Connection;
  /** The session's id. */
  readonly sessionId: string;
  /** The request, with a request id. */
  readonly request: CompactRequest;
  /** The caller's signal. */
  readonly signal: AbortSignal | undefined;
  /** The time limit of each try. */
  readonly timeoutMs: number | undefined;
  /** Whether to retry after the connection broke. */
  readonly retry: boolean;
  /** What {@link leftOf} returns. */
  readonly left: Set<string>;
  /** Lets the session's turns wait. */
  readonly enter: () => Promise<CompactionPlace>;
}

/** See {@link leftOf}. */
const left = new WeakMap<Connection, Map<string, Set<string>>>();

/**
 * The operation ids of compactions of a session that this client gave up, which the daemon may still be ending; "" for
 * one whose id had not come yet.
 */
export function leftOf(connection: Connection, sessionId: string): Set<string> {
  const sessions = left.get(connection) ?? new Map<string, Set<string>>();
  left.set(connection, sessions);
  const ids = sessions.get(sessionId) ?? new Set();
  sessions.set(sessionId, ids);
  return ids;
}

/** How long to wait until the daemon reports the end of a cancelled compaction. */
const cancelTimeoutMs = 5000;

/**
 * A running compaction. Iterate over its events once with `for await`. Leaving the loop, {@link cancel}, the end of an
 * `await using` block and the signal of the options cancel it, and the daemon has ended it when they are done, or a
 * moment later where its first event has not come; but with `detach` it continues. The loop throws where the compaction
 * fails.
 *
 * If the connection breaks, the compaction is requested again with the same request id. Where it was committed, the
 * loop gets the `completed` event. Otherwise it runs again, with a `started` event and a new operation id.
 */
export class Compaction implements AsyncIterable<CompactionEvent>, AsyncDisposable {
  private readonly parts: CompactionParts;
  private readonly ending = new AbortController();
  /** The compactions given up before whose end was waited for. */
  private readonly awaited = new Set<string>();
  private begun = false;
  private operationId = "";
  private over = false;
  private cancelling: Promise<void> | undefined;
  private ended: CompactionResult | undefined;

  /** @internal */
  constructor(parts: CompactionParts) {
    this.parts = parts;
  }

  /** The result; undefined before the end, and where the compaction failed or was cancelled. */
  get result(): CompactionResult | undefined {
    return this.ended;
  }

  /** Runs the compaction. A second call throws a TypeError. */
  async *[Symbol.asyncIterator](): AsyncGenerator<CompactionEvent, void, undefined> {
    if (this.begun) {
      throw new TypeError("the events of a compaction can be iterated only once");
    }
    this.begun = true;
    // What was given up before it began must not abort a turn.
    this.parts.signal?.throwIfAborted();
    this.ending.signal.throwIfAborted();
    const place = await this.parts.enter();
    this.parts.request.preempt ||= place.preempt;
    try {
      for await (const event of this.events()) {
        this.operationId = event.operationId;
        if (event.event.case === "started") {
          // One compaction of a session runs at a time: those before it have ended.
          this.parts.left.clear();
        }
        this.ended = resultOf(event);
        if (this.ended !== undefined) {
          // The reader of the last event may start a turn next, which would wait for this compaction.
          await place.leave(this.ended);
          warn(fallbackWarning(this.ended.fallbackCause));
        }
        yield event;
      }
      this.over = true;
    } catch (e) {
      if (e instanceof DeadlineExceededError && !this.parts.request.detach) {
        this.parts.left.add(this.operationId);
      }
      // The daemon knows nothing yet of what the signal or a cancel ended here.
      this.over = !this.givenUp;
      throw e;
    } finally {
      await this.cancel();
      if (this.ended === undefined) {
        await place.leave(undefined);
      }
    }
  }

  /**
   * Runs the compaction to its end and calls `onEvent` with each event. An error of `onEvent` cancels the compaction.
   *
   * @internal
   */
  async finish(onEvent?: (event: CompactionEvent) => unknown): Promise<CompactionResult> {
    for await (const event of this) {
      await onEvent?.(event);
    }
    if (this.ended === undefined) {
      throw brokenOff();
    }
    return this.ended;
  }

  /**
   * Cancels the compaction and waits for its end. Does nothing after the end. A detached compaction is not cancelled;
   * use `session.cancelCompaction()` for that.
   */
  async cancel(): Promise<void> {
    if (this.over || this.ended !== undefined) {
      return;
    }
    this.cancelling ??= this.end();
    await this.cancelling;
  }

  /** The same as {@link cancel}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.cancel();
  }

  /** Whether the caller has cancelled it, in any way. */
  private get givenUp(): boolean {
    return this.ending.signal.aborted || this.parts.signal?.aborted === true;
  }

  private async end(): Promise<void> {
    const { request, left } = this.parts;
    this.ending.abort(cancelled("the compaction was cancelled"));
    if (request.detach) {
      return;
    }
    left.add(this.operationId);
    if (this.operationId === "") {
      return;
    }
    // Closing the stream cancels the compaction. Wait for its end, so that the next call finds no compaction running.
    await this.endOf(this.operationId);
  }

  /** Cancels a compaction and waits until the daemon has ended it, does not know it any more, or does not answer. */
  private async endOf(operationId: string): Promise<void> {
    const { stub, sessionId } = this.parts;
    await stub.cancelCompaction({ sessionId, operationId }, { timeoutMs: cancelTimeoutMs }).catch(() => undefined);
  }

  private async *events(): AsyncGenerator<CompactionEvent> {
    for (let attempt = 1; ; attempt++) {
      let ended = false;
      let broken: unknown;
      try {
        for await (const event of this.attempt()) {
          ended = resultOf(event) !== undefined;
          yield event;
        }
        broken = brokenOff();
      } catch (e) {
        broken = e;
      }
      if (ended) {
        return;
      }
      if (await this.leftEnded(broken)) {
        continue;
      }
      const absent = broken instanceof UnavailableError && !this.parts.connection.mayFindDaemon(broken);
      const passes = (broken instanceof UnavailableError && !absent) || this.lingers(broken, attempt);
      if (!passes || this.givenUp || !this.parts.retry || attempt === retryFigures.attempts) {
        throw broken;
      }
      await this.parts.connection.pause(backoffMs(attempt + 1), this.parts.signal, this.ending.signal);
    }
  }

  /** Where the error names a compaction that this client gave up: waits for its end. */
  private async leftEnded(error: unknown): Promise<boolean> {
    const running = runningBy(error) ?? "";
    if (!this.parts.left.has(running) || this.awaited.has(running) || running === "" || this.givenUp) {
      return false;
    }
    this.awaited.add(running);
    await this.endOf(running);
    return true;
  }

  /** Whether the error says that the daemon is still ending a compaction of a broken stream, or one given up here. */
  private lingers(error: unknown, attempt: number): boolean {
    const { left } = this.parts;
    const running = runningBy(error);
    return running !== undefined && (attempt > 1 || left.has("") || left.has(running));
  }

  private async *attempt(): AsyncGenerator<CompactionEvent> {
    const { stub, request, signal, timeoutMs } = this.parts;
    const call = new AbortController();
    const release = forward([signal, this.ending.signal], call);
    try {
      const options = { signal: call.signal, ...(timeoutMs !== undefined && { timeoutMs }) };
      for await (const { event } of stub.compact(request, options)) {
        if (event !== undefined) {
          yield event;
        }
      }
    } finally {
      release();
    }
  }
}

/** The operation id of the compaction that is in the way; undefined where the error is another. */
function runningBy(error: unknown): string | undefined {
  const running = error instanceof CompactordError && error.reason === "COMPACTION_RUNNING";
  return running ? (error.metadata["operation_id"] ?? "") : undefined;
}

function brokenOff(): UnavailableError {
  return new UnavailableError("the stream of the compaction ended before the compaction did", {
    code: Code.Unavailable,
    reason: "UNAVAILABLE",
  });
}
