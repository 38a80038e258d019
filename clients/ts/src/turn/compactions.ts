import type { CompactionResult } from "../compaction/compaction.js";
import type { CompactionOptions } from "../compaction/options.js";
import { orAborted, pause } from "../wire/abort.js";
import { errorReason } from "../wire/errors.js";
import { warnedOfLimit } from "../session/limits.js";
import { ContextOverflowError } from "./errors.js";
import type { LoopOptions } from "./options.js";
import { providerError } from "./providerError.js";
import type { TurnRun } from "./run.js";
import type { Step } from "./state.js";

/** The compactions of a turn: at the trigger and after an overflow. */
export class TurnCompactions {
  readonly #run: TurnRun;
  #thresholdFailed = false;
  #compacting = false;
  /** The error of the caller's onEvent. */
  #broken: { readonly error: unknown } | undefined;

  constructor(run: TurnRun) {
    this.#run = run;
  }

  /** Whether a compaction is running. */
  get compacting(): boolean {
    return this.#compacting;
  }

  /** Step 1: compacts where the report says so. A failure does not end the turn; the turn does not try again. */
  async ifDue(): Promise<void> {
    const report = this.#run.session.report ?? (await orAborted(this.#run.session.info(), this.#run.signal)).report;
    if (report?.shouldCompact !== true || this.#thresholdFailed) {
      return;
    }
    try {
      await this.#compact({ reason: "threshold" });
    } catch (error) {
      this.#run.signal.throwIfAborted();
      if (this.#broken !== undefined) {
        throw error;
      }
      this.#thresholdFailed = true;
      this.#run.compactions.push(asError(error));
    }
  }

  /** Compacts after an answer that is an overflow. Returns false where it is none. */
  async compactedIfOverflow({ answer }: Step): Promise<boolean> {
    if (answer.overflow) {
      this.#run.turns.forgetStep();
      await this.makeRoom(answer.why);
    }
    return answer.overflow;
  }

  /**
   * The rule by which an error of the model call is an overflow; undefined where it is none, or the daemon cannot say.
   */
  async overflowOf(thrown: unknown): Promise<string | undefined> {
    try {
      const { id: sessionId, client } = this.#run.session;
      const asked = { ...providerError(thrown), sessionId };
      const response = await client.compactions.classifyError(asked, { signal: this.#run.signal });
      if (!response.overflow) {
        return undefined;
      }
      this.#run.limitTokens = response.limitTokens ?? this.#run.limitTokens;
      const signal = { signal: this.#run.signal };
      this.#run.contradiction = (await warnedOfLimit(client, sessionId, response, signal)) ?? this.#run.contradiction;
      return response.why;
    } catch {
      this.#run.signal.throwIfAborted();
      // The caller must see the provider's error, not that the daemon could not be asked.
      return undefined;
    }
  }

  /**
   * Step 4: compacts after an overflow, so that the model can be called again. Throws a ContextOverflowError where that
   * was just done, or where there is nothing to compact. After a failed compaction it may be tried again.
   */
  async makeRoom(why: string, cause?: unknown): Promise<void> {
    if (!this.#run.turns.mayRetry) {
      throw this.#overflow("the context overflowed again after a compaction", why, cause);
    }
    const { result, waited } = await this.#compact({ reason: "overflow", willRetry: true });
    // Where this turn waited for another client's compaction, that one may have been enough.
    if (!result.done && !waited) {
      throw this.#overflow("the context overflowed, and there is nothing to compact", why, cause);
    }
    this.#run.turns.takeRetry();
  }

  #overflow(message: string, why: string, cause?: unknown): ContextOverflowError {
    const { tokens, contextWindow } = this.#run.session.report ?? {};
    return new ContextOverflowError(message, { why, tokens, contextWindow, limitTokens: this.#run.limitTokens, cause });
  }

  /** Compacts; while another client's compaction runs, waits for its end first. */
  async #compact(
    options: Pick<CompactionOptions, "reason" | "willRetry">,
  ): Promise<{ result: CompactionResult; waited: boolean }> {
    const { summarizeWith } = this.#run.options;
    const onEvent = this.#watched();
    const asked = { ...options, abortRunning: false, signal: this.#run.signal };
    this.#compacting = true;
    try {
      for (let attempt = 0; ; attempt++) {
        try {
          const compaction =
            summarizeWith === undefined
              ? this.#run.session.compacting(asked).finish(onEvent)
              : this.#run.session.compactWith(summarizeWith, asked);
          const result = await orAborted(compaction, this.#run.signal);
          if (result.done) {
            this.#run.compactions.push(result);
          }
          return { result, waited: attempt > 0 };
        } catch (error) {
          if (errorReason(error) !== "COMPACTION_RUNNING") {
            throw error;
          }
          await pause(Math.min(5_000, 200 * 2.5 ** attempt) * (0.8 + 0.4 * Math.random()), this.#run.signal);
        }
      }
    } finally {
      this.#compacting = false;
    }
  }

  /** Wraps the caller's onEvent, so that its error can be distinguished from a failure of the compaction. */
  #watched(): LoopOptions["onEvent"] {
    const { onEvent } = this.#run.options;
    return (
      onEvent &&
      (async (event) => {
        try {
          await onEvent(event);
        } catch (error) {
          this.#broken = { error };
          throw error;
        }
      })
    );
  }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
