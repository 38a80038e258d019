import { create } from "@bufbuild/protobuf";

import type { CallOptions } from "../wire/calls.js";
import { callKeys, callOptions, requestIdOf } from "../wire/calls.js";
import type { WriteSummary } from "./clientModel.js";
import { compactWithModel } from "./clientModel.js";
import type { CompactionPlace } from "./compaction.js";
import { Compaction, CompactionResult, leftOf } from "./compaction.js";
import { foldRangeOf } from "./foldRange.js";
import type { CompactionOptions, FoldTarget, PruneOptions } from "./options.js";
import { takenByPrune, takenOptions } from "./options.js";
import { checkFunction, checkKeys } from "../contract/arguments.js";
import { errorReason } from "../wire/errors.js";
import { newRequestId } from "../wire/ids.js";
import { policyOf } from "../contract/policy.js";
import { SessionLog } from "../session/log.js";
import type { CancelCompactionResponse } from "../v1.js";
import { CompactRequestSchema } from "../v1.js";
import { reasonOf } from "../contract/words.js";

/** The part of a session that compacts and prunes it. A subclass aborts the turns that are in the way. */
export abstract class SessionCompactions extends SessionLog {
  /**
   * Compacts and returns the result: completed, skipped with the reason, or planned with `dryRun`. Where it fails,
   * throws an error with the reason, such as `SUMMARIZER_UNAVAILABLE`. A running turn is aborted first, unless
   * `abortRunning` is false. To follow it, iterate over {@link compacting} instead.
   */
  async compact(options: CompactionOptions = {}): Promise<CompactionResult> {
    return this.compacting(options).finish();
  }

  /**
   * Compacts and yields the events. It starts, and aborts a running turn, when the first event is requested. Turns wait
   * until the last event has come or the loop was left. So do not abandon an iterator that you use without a loop.
   * After the last event, `result` is what {@link compact} returns.
   */
  compacting(options: CompactionOptions = {}): Compaction {
    checkKeys("compacting", options, Object.keys(takenOptions));
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
      ...(options.fold !== undefined && { fold: foldRangeOf(options.fold) }),
    });
    return new Compaction({
      stub: this.client.compactions,
      connection: this.client.connection,
      sessionId: this.id,
      request,
      signal: options.signal,
      timeoutMs: options.timeoutMs,
      retry: this.client.retry,
      left: leftOf(this.client.connection, this.id),
      enter: () => this.makeWay(abortsTurn(options)),
    });
  }

  /**
   * Folds messages into one text: views show it where the messages stood, with the way to recall them. The log keeps
   * them, a later compaction reads them as they are there, and `revert({ undo: true })` shows them again. It is a
   * compaction, with its events, cancelling and errors; `compacting({ fold })` has its events one by one. `prune`
   * of the result has the edits. Throws with the reason `PLAN_INVALID` where the messages are no whole turns and no whole tool groups
   * of one turn, where one is pinned, or where the range divides what is folded already.
   */
  async fold(
    target: FoldTarget,
    options: Omit<CompactionOptions, "fold" | "reason" | "replay"> = {},
  ): Promise<CompactionResult> {
    return this.compact({ ...options, fold: target });
  }

  /**
   * Cancels the running compaction of the session, whichever client started it, or only the one with this operation id.
   * Waits for its end and returns how it ended; undefined where none is running.
   */
  async cancelCompaction(
    options: CallOptions & { readonly operationId?: string } = {},
  ): Promise<CancelCompactionResponse | undefined> {
    checkKeys("cancelCompaction", options, [...callKeys, "operationId"]);
    const request = { sessionId: this.id, operationId: options.operationId ?? "" };
    try {
      return await this.client.compactions.cancelCompaction(request, callOptions(options));
    } catch (e) {
      if (errorReason(e) === "OPERATION_NOT_FOUND") {
        return undefined;
      }
      throw e;
    }
  }

  /**
   * Compacts with summaries by the program's own model: `write` is called with each prompt, in order, and returns the
   * model's answer. Where an answer fails the daemon's checks, all prompts are tried again with `prompt.complaint` set.
   * After the last try, the policy's fallback writes the texts that still fail. When the signal aborts, the call rejects
   * at once with its reason, also while `write` runs, which gets the signal, too.
   */
  async compactWith(
    write: WriteSummary,
    options: CompactionOptions & {
      /** The most tokens of a prompt: the model's context window less its answer. */ readonly maxPromptTokens?: number;
    } = {},
  ): Promise<CompactionResult> {
    // A call that was aborted before it started must not abort a turn.
    options.signal?.throwIfAborted();
    checkFunction("write", write);
    checkKeys("compactWith", options, [...Object.keys(takenOptions), "maxPromptTokens"]);
    const place = await this.makeWay(abortsTurn(options));
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
    checkKeys("prune", options, Object.keys(takenByPrune));
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

  /**
   * Lets new turns wait for a compaction, and aborts the running one where that is requested.
   *
   * @internal
   */
  protected abstract makeWay(abortRunning: boolean): Promise<CompactionPlace>;
}

/** Whether a compaction aborts a running turn first. A dry run does not, since it changes nothing. */
function abortsTurn({ abortRunning, dryRun }: CompactionOptions): boolean {
  return (abortRunning ?? true) && dryRun !== true;
}
