import { create } from "@bufbuild/protobuf";

import type { CallOptions } from "../wire/calls.js";
import { callOptions, requestIdOf } from "../wire/calls.js";
import type { Answer, Prompt } from "./clientModel.js";
import { compactWithModel } from "./clientModel.js";
import type { CompactionPlace } from "./compaction.js";
import { Compaction, CompactionResult } from "./compaction.js";
import type { CompactionOptions, CompactOptions, PruneOptions } from "./options.js";
import { OperationNotFoundError } from "../wire/errors.js";
import { newRequestId } from "../wire/ids.js";
import { policyOf } from "../contract/policy.js";
import { SessionLog } from "../session/log.js";
import type { CancelCompactionResponse } from "../v1.js";
import { CompactRequestSchema } from "../v1.js";
import { reasonOf } from "../contract/words.js";

/** The part of a session that makes its context smaller. A layer above says which turns it makes way for. */
export abstract class SessionCompactions extends SessionLog {
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
      enter: () => this.makeWay(abortsTurn(options)),
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
   * Makes way for a compaction, beside turns or in their place.
   *
   * @internal
   */
  protected abstract makeWay(abortRunning: boolean): Promise<CompactionPlace>;
}

/** Whether a compaction is to abort a turn first. A dry run changes nothing that a turn could trip over. */
function abortsTurn({ abortRunning, dryRun }: CompactionOptions): boolean {
  return (abortRunning ?? true) && dryRun !== true;
}
