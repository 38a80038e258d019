import { Code } from "@connectrpc/connect";
import { CompactionRunningError, OperationCancelledError, UnavailableError } from "./errors.js";
import { backoffMs, forward, retryFigures } from "./retry.js";
import { SkipReason } from "./v1.js";
/** How a compaction ended that did not fail. */
export class CompactionResult {
    /** Whether it wrote something, had nothing to do, or was a dry run. */
    outcome;
    /** The summary that was written, if a cut was made. */
    compaction;
    /** The edits that were written, if there are any. */
    prune;
    /** Of a dry run: what would be done. */
    plan;
    /** How full the context is now. */
    report;
    /** Of a skipped one: why, such as `NOTHING_TO_COMPACT`; else empty. */
    reason;
    /** The same in a sentence with the figures. */
    message;
    /** @internal */
    constructor(outcome, facts) {
        this.outcome = outcome;
        this.compaction = facts.compaction;
        this.prune = facts.prune;
        this.plan = facts.plan;
        this.report = facts.report;
        this.reason = facts.reason === undefined ? "" : SkipReason[facts.reason];
        this.message = facts.message ?? "";
    }
    /** Whether the view is smaller now. */
    get done() {
        return this.outcome === "completed";
    }
}
/** The result that an event tells, if it is the last one of a compaction that did not fail. */
export function resultOf({ event }) {
    switch (event.case) {
        case "completed":
            return new CompactionResult("completed", event.value);
        case "skipped":
            return new CompactionResult("skipped", event.value);
        case "planned":
            return new CompactionResult("planned", event.value);
        default:
            return undefined;
    }
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
export class Compaction {
    parts;
    ending = new AbortController();
    begun = false;
    operationId = "";
    over = false;
    ended;
    /** @internal */
    constructor(parts) {
        this.parts = parts;
    }
    /** How it ended; undefined until then, and where it failed or was cancelled. */
    get result() {
        return this.ended;
    }
    /** Runs the compaction. There is one run: a second call throws a TypeError. */
    async *[Symbol.asyncIterator]() {
        if (this.begun) {
            throw new TypeError("the events of a compaction can be had once");
        }
        this.begun = true;
        const place = await this.parts.enter();
        this.parts.request.preempt ||= place.preempt;
        try {
            for await (const event of this.events()) {
                this.operationId = event.operationId;
                this.ended = resultOf(event);
                yield event;
            }
            this.over = true;
        }
        catch (e) {
            this.over = true;
            throw e;
        }
        finally {
            await this.cancel();
            await place.leave(this.ended);
        }
    }
    /** Runs the compaction to its end, and calls `onEvent` with each event. */
    async finish(onEvent) {
        for await (const event of this) {
            onEvent?.(event);
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
    async cancel() {
        const { stub, sessionId, request } = this.parts;
        if (this.over || this.ended !== undefined || this.ending.signal.aborted) {
            return;
        }
        this.ending.abort(new OperationCancelledError("the compaction was cancelled", { code: Code.Canceled, reason: "CANCELLED" }));
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
    async [Symbol.asyncDispose]() {
        await this.cancel();
    }
    async *events() {
        for (let attempt = 1;; attempt++) {
            let ended = false;
            let broken;
            try {
                for await (const event of this.attempt()) {
                    ended = resultOf(event) !== undefined;
                    yield event;
                }
                broken = brokenOff();
            }
            catch (e) {
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
    async *attempt() {
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
        }
        finally {
            release();
        }
    }
}
function brokenOff() {
    return new UnavailableError("the stream of the compaction ended before the compaction did", {
        code: Code.Unavailable,
        reason: "UNAVAILABLE",
    });
}
