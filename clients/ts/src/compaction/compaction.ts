import type { Client as Stub } from "@connectrpc/connect";
import { Code } from "@connectrpc/connect";

import type { Connection } from "../wire/connection.js";
import { CompactionRunningError, OperationCancelledError, UnavailableError } from "../wire/errors.js";
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

/** How a compaction ended that did not fail. */
export class CompactionResult {
  /** Whether it wrote something, had nothing to do, or was a dry run. */
  readonly outcome: "completed" | "skipped" | "planned";
  /** The summary that was written, if a cut was made. */
  readonly compaction: CompactionEntry | undefined;
  /** The edits that were written, if there are any. */
  readonly prune: PruneEntry | undefined;
  /**
   * Which summarizer failed and why, in a sentence, where the policy's fallback wrote for it; else empty. What wrote
   * instead is the `provenance.summarizer` of `compaction`, or that of `prune` where tool results were written shorter.
   */
  readonly fallbackCause: string;
  /** Of a dry run: what would be done. */
  readonly plan: CompactionPlan | undefined;
  /** How full the context is now. */
  readonly report: ContextReport | undefined;
  /** Of a skipped one: why, such as `NOTHING_TO_COMPACT`; else empty. */
  readonly reason: keyof typeof SkipReason | "";
  /** The same in a sentence with the figures. */
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
    this.reason = facts.reason === undefined ? "" : (SkipReason[facts.reason] as keyof typeof SkipReason);
    this.message = facts.message ?? "";
  }

  /** Whether the view is smaller now. */
  get done(): boolean {
    return this.outcome === "completed";
  }
}

/** The result that an event tells, if it is the last one of a compaction that did not fail. */
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

/** A compaction's place beside the turns of its session, from before it begins until after its end. */
export interface CompactionPlace {
  /** Whether the daemon may not have seen yet that the compaction of an aborted turn has ended. */
  readonly preempt: boolean;
  /** Leaves it: turns go on. Announces the result, if there is one. */
  leave(result: CompactionResult | undefined): Promise<void>;
}

/** What a compaction needs to run and to end. */
export interface CompactionParts {
  /** Where it is asked for. */
  readonly stub: Stub<typeof CompactionService>;
  /** The connection, for the pauses before it is asked for again. */
  readonly connection: Connection;
  /** The session's id. */
  readonly sessionId: string;
  /** What is asked for, with a request id. */
  readonly request: CompactRequest;
  /** The caller's signal. */
  readonly signal: AbortSignal | undefined;
  /** The time limit of each try. */
  readonly timeoutMs: number | undefined;
  /** Whether to go on after a break. */
  readonly retry: boolean;
  /** Makes way for it beside the session's turns. */
  readonly enter: () => Promise<CompactionPlace>;
}

/** How long to wait for the daemon's word that a cancelled compaction has ended. */
const cancelTimeoutMs = 5000;

/**
 * A compaction as it goes on: its events, once, with `for await`. Leaving the loop, {@link cancel}, `await using` and the
 * signal of the options cancel it, unless it was asked for with `detach`. The loop throws where the compaction fails.
 *
 * If the connection breaks, the compaction is asked for again with the same request id: it was committed, and the loop
 * gets the `completed` event, or it runs anew, with a `started` event and an operation id of its own.
 */
export class Compaction implements AsyncIterable<CompactionEvent>, AsyncDisposable {
  private readonly parts: CompactionParts;
  private readonly ending = new AbortController();
  private begun = false;
  private operationId = "";
  private over = false;
  private ended: CompactionResult | undefined;

  /** @internal */
  constructor(parts: CompactionParts) {
    this.parts = parts;
  }

  /** How it ended; undefined until then, and where it failed or was cancelled. */
  get result(): CompactionResult | undefined {
    return this.ended;
  }

  /** Runs the compaction. There is one run: a second call throws a TypeError. */
  async *[Symbol.asyncIterator](): AsyncGenerator<CompactionEvent, void, undefined> {
    if (this.begun) {
      throw new TypeError("the events of a compaction can be had once");
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
        this.ended = resultOf(event);
        if (this.ended !== undefined) {
          // Who reads the last event may take a turn next, which waits for compactions to have left.
          await place.leave(this.ended);
        }
        yield event;
      }
      this.over = true;
    } catch (e) {
      this.over = true;
      throw e;
    } finally {
      await this.cancel();
      if (this.ended === undefined) {
        await place.leave(undefined);
      }
    }
  }

  /** Runs the compaction to its end, and calls `onEvent` with each event. What that throws, or rejects with, cancels it. */
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
   * Cancels the compaction, and waits until the daemon has ended it. After the end it does nothing. A detached one is left
   * alone: `session.cancelCompaction()` ends it.
   */
  async cancel(): Promise<void> {
    const { stub, sessionId, request } = this.parts;
    if (this.over || this.ended !== undefined || this.ending.signal.aborted) {
      return;
    }
    this.ending.abort(
      new OperationCancelledError("the compaction was cancelled", { code: Code.Canceled, reason: "CANCELLED" }),
    );
    if (this.operationId === "" || request.detach) {
      return;
    }
    // The end of the stream cancels it. This waits for it, so that what comes next finds no compaction running; where the
    // daemon has no more of it, or does not answer, there is nothing to wait for.
    await stub
      .cancelCompaction({ sessionId, operationId: this.operationId }, { timeoutMs: cancelTimeoutMs })
      .catch(() => undefined);
  }

  /** The same as {@link cancel}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.cancel();
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
      // After a break the daemon may still be ending what it ran for the broken stream.
      const passes = broken instanceof UnavailableError || (attempt > 1 && broken instanceof CompactionRunningError);
      if (!passes || !this.parts.retry || attempt === retryFigures.attempts) {
        throw broken;
      }
      await this.parts.connection.pause(backoffMs(attempt + 1), this.parts.signal, this.ending.signal);
    }
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

function brokenOff(): UnavailableError {
  return new UnavailableError("the stream of the compaction ended before the compaction did", {
    code: Code.Unavailable,
    reason: "UNAVAILABLE",
  });
}
