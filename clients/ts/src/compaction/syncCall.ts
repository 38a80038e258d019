import type { CompactionResult } from "./compaction.js";
import { resultOf } from "./compaction.js";
import type {
  CompactionEvent,
  GetLLMViewResponse,
  LackingElements,
  SyncedMessages,
  SyncMessagesRequest,
} from "../v1.js";
import type { CallOptions, Calls } from "../wire/calls.js";
import { callOptions, present } from "../wire/calls.js";
import { UnavailableError } from "../wire/errors.js";
import { backoffMs, busyForMs, retryFigures } from "../wire/retry.js";

/** How long to wait until the daemon reports the end of a cancelled compaction. */
const cancelTimeoutMs = 5000;

/** The options of a call. */
interface SyncCallOptions extends CallOptions {
  readonly onEvent?: (event: CompactionEvent) => unknown;
}

/** One call of a sync, with what the daemon has said in it. */
export class SyncCall {
  /** What the daemon has done to the log; undefined before it has said so. */
  synced: SyncedMessages | undefined;
  /** How the compaction ended; undefined where there was none. */
  result: CompactionResult | undefined;
  /** The first page of the view; undefined where it sent none. */
  page: GetLLMViewResponse | undefined;
  private operationId = "";
  private over = false;

  /** `left` has the operation ids of compactions that the session object gave up. */
  constructor(
    private readonly client: Calls,
    private readonly request: SyncMessagesRequest,
    private readonly options: SyncCallOptions,
    private readonly left: Set<string>,
  ) {}

  /** What the daemon has done. */
  done(): SyncedMessages {
    return present(this.synced, "synced");
  }

  /**
   * Makes the call, and again where no daemon answers or it is busy: a second one changes nothing more. Returns what the
   * daemon lacks; undefined where it lacks nothing.
   */
  async run(): Promise<LackingElements | undefined> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.once();
      } catch (error) {
        const passes = error instanceof UnavailableError && this.client.connection.mayFindDaemon(error);
        const ms = busyForMs(error) ?? (passes ? backoffMs(attempt + 1) : undefined);
        if (ms === undefined || !this.client.retry || attempt === retryFigures.attempts) {
          await this.end();
          throw error;
        }
        await this.client.connection.pause(ms, this.options.signal);
      }
    }
  }

  private async once(): Promise<LackingElements | undefined> {
    for await (const { step } of this.client.sessions.syncMessages(this.request, callOptions(this.options))) {
      switch (step.case) {
        case "lacking":
          return step.value;
        case "synced":
          this.synced = withEarlier(step.value, this.synced);
          break;
        case "compaction":
          await this.tell(step.value);
          break;
        case "view":
          this.page = step.value;
          break;
        case undefined: // A step of a newer daemon.
      }
    }
    return undefined;
  }

  private async tell(event: CompactionEvent): Promise<void> {
    this.operationId = event.operationId;
    if (event.event.case === "started") {
      // One compaction of a session runs at a time: those before it have ended.
      this.left.clear();
    }
    this.result = resultOf(event) ?? this.result;
    this.over = ["completed", "skipped", "failed", "cancelled"].includes(event.event.case ?? "");
    await this.options.onEvent?.(event);
  }

  /** Ends the compaction in the daemon, so that the next call finds none running. */
  private async end(): Promise<void> {
    if (!this.request.compact || this.over || this.synced === undefined) {
      return;
    }
    this.left.add(this.operationId);
    if (this.operationId !== "") {
      const { sessionId } = this.request;
      await this.client.compactions
        .cancelCompaction({ sessionId, operationId: this.operationId }, { timeoutMs: cancelTimeoutMs })
        .catch(() => undefined);
    }
  }
}

/** What was done, where the answer of a call that did a part of it was not all that came. */
function withEarlier(now: SyncedMessages, before: SyncedMessages | undefined): SyncedMessages {
  if (before !== undefined) {
    now.appendedMessages += before.appendedMessages;
    now.messagesPutAside += before.messagesPutAside;
    now.instructionsReplaced ||= before.instructionsReplaced;
    now.findings.push(...before.findings);
  }
  return now;
}
