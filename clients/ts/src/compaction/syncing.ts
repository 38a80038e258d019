import { create } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";

import { SessionCompactions } from "./compacting.js";
import type { CompactionResult } from "./compaction.js";
import { leftOf } from "./compaction.js";
import { SyncCall } from "./syncCall.js";
import { Synced } from "./synced.js";
import type { Element, SystemPrompt } from "../contract/lists.js";
import { contentSent, ElementList, systemJsonOf } from "../contract/lists.js";
import { dialectOf } from "../contract/messages.js";
import type {
  ClearSessionResponse,
  CompactionEvent,
  GetSessionResponse,
  RevertToCheckpointResponse,
  SyncedMessages,
} from "../v1.js";
import { SyncMessagesRequestSchema } from "../v1.js";
import { checkKeys } from "../contract/arguments.js";
import type { CallOptions } from "../wire/calls.js";
import { fallbackWarning, warn } from "../view/warnings.js";
import { CompactordError, InvalidRequestError, leavesOpen, SyncConflictError } from "../wire/errors.js";
import { Code } from "@connectrpc/connect";

/** A list is sent at most so often: what the daemon lacks, it says once, or twice where its view is in the way. */
const rounds = 3;

/** The options of a sync. */
export interface SyncOptions extends CallOptions {
  /**
   * The system prompt, where the dialect has it apart: a text, or the provider's object or list of them. Where it differs
   * from the session's instructions, it replaces them. Default, also for an empty one: the session keeps what it has.
   */
  readonly system?: SystemPrompt;
  /**
   * Whether to compact after the list is in the log, if that is due. Nothing is done where another client compacts
   * already, or where a compaction cannot help. Default true.
   */
  readonly compact?: boolean;
  /** Whether to return the view. Default true. */
  readonly view?: boolean;
  /** Called with each event of the compaction, and awaited. An error that it throws cancels the compaction. */
  readonly onEvent?: (event: CompactionEvent) => unknown;
  /** As for a view. Default false. */
  readonly markCacheBreakpoints?: boolean;
  /** As for a view. */
  readonly maxBytes?: number;
}

const takenOptions: Readonly<Record<keyof SyncOptions, true>> = {
  system: true,
  compact: true,
  view: true,
  onEvent: true,
  markCacheBreakpoints: true,
  maxBytes: true,
  signal: true,
  timeoutMs: true,
};

/** The part of a session that takes an agent's complete list. */
export abstract class SessionSync extends SessionCompactions {
  /** The last list that the daemon took from this object. */
  #held: ElementList | undefined;
  /** The newest point that this object knows of; undefined where it does not know what it wrote last. */
  #knownPoint: number | undefined;

  /** Brings the session in line with the complete list that an agent holds, and returns the view to send. */
  async sync(messages: readonly Element[], options: SyncOptions = {}): Promise<Synced> {
    checkKeys("sync", options, Object.keys(takenOptions));
    const listed = ElementList.of(messages, this.dialect);
    const systemJson = systemJsonOf(options.system, this.dialect);
    options.signal?.throwIfAborted();
    const place = await this.makeWay(true);
    let result: CompactionResult | undefined;
    try {
      const synced = await this.syncedWith(listed, systemJson, options);
      result = synced.compactionResult;
      return synced;
    } finally {
      await place.leave(result);
    }
  }

  /**
   * Takes note of all that the session holds now, so that the next sync is no conflict because of it. Call it after a
   * SyncConflictError, and read what others have written then, with {@link view} or {@link messages}. What the next list
   * leaves out of it is put aside.
   */
  async refresh(options: CallOptions = {}): Promise<GetSessionResponse> {
    const answer = await this.info(options);
    this.#knownPoint = answer.session?.point;
    return answer;
  }

  /** Sends the list until the daemon lacks nothing of it, and notes that it has it. */
  private async syncedWith(listed: ElementList, systemJson: string[], options: SyncOptions): Promise<Synced> {
    const kept = this.kept;
    const request = create(SyncMessagesRequestSchema, {
      sessionId: this.id,
      dialect: dialectOf(this.dialect),
      elements: listed.firstSent(this.#held),
      systemJson,
      viewToken: kept.token,
      compact: options.compact ?? true,
      leaveOutView: !(options.view ?? true),
      markCacheBreakpoints: options.markCacheBreakpoints ?? false,
      maxBytes: options.maxBytes ?? this.client.connection.pageBytes,
      ...(this.#knownPoint !== undefined && { knownPoint: this.#knownPoint }),
    } satisfies MessageInitShape<typeof SyncMessagesRequestSchema>);
    let sent = 0;
    for (let round = 1; round <= rounds; round++) {
      sent += contentSent(request.elements);
      const call = new SyncCall(this.client, request, options, leftOf(this.client.connection, this.id));
      try {
        const lacking = await call.run();
        if (lacking === undefined) {
          const view = call.page && (await this.joinedFrom(kept, call.page, options));
          warn(fallbackWarning(call.result?.fallbackCause));
          return new Synced(call.done(), view, call.result, sent);
        }
        request.elements = listed.sentAfter(lacking);
      } catch (error) {
        if (!namesKnownPoint(error) || request.knownPoint === undefined) {
          throw this.explained(error);
        }
        // Another session has the id now, or an older state of it was restored.
        delete request.knownPoint;
      } finally {
        await this.noteSynced(listed, call.synced);
      }
    }
    throw new CompactordError(`the daemon lacks elements of the list after ${String(rounds)} calls`, {
      code: Code.Internal,
      reason: "INTERNAL",
    });
  }

  /** Notes what the daemon has, where it has said so. */
  private async noteSynced(listed: ElementList, synced: SyncedMessages | undefined): Promise<void> {
    if (synced === undefined) {
      return;
    }
    this.#held = listed;
    this.#knownPoint = synced.point;
    this.noteReport(synced.report);
    this.grown(synced.report);
    if (synced.revert !== undefined) {
      this.takenBack();
    }
    if (synced.appendedMessages > 0) {
      this.position.wrote(synced.nextIndex - synced.appendedMessages, synced.nextIndex);
      await this.appended();
    }
  }

  protected override wentBack(answer: RevertToCheckpointResponse | ClearSessionResponse): void {
    // What others have written before it stays a conflict.
    if (answer.record !== undefined && this.#knownPoint === answer.record.sequence - 1) {
      this.#knownPoint = answer.point;
    }
  }

  /** The error to throw, after what it says of the log was noted. */
  private explained(error: unknown): unknown {
    if (error instanceof SyncConflictError) {
      error.message += ": call session.refresh(), take what you need of session.view() into your list, and sync again";
    } else if (mayHaveWritten(error)) {
      // The daemon may have written what no answer told of.
      this.#knownPoint = undefined;
    }
    return error;
  }
}

function mayHaveWritten(error: unknown): boolean {
  return !(error instanceof CompactordError) || leavesOpen(error);
}

function namesKnownPoint(error: unknown): boolean {
  return error instanceof InvalidRequestError && error.fieldViolations.some(({ field }) => field === "known_point");
}
