import type { CompactionResult } from "./compaction.js";
import type { CallRef, CompactionEntry, ContextReport, Finding, SyncedMessages } from "../v1.js";
import type { DialectName } from "../contract/messages.js";
import type { Of, ProviderRequests } from "../contract/providerTypes.js";
import type { View } from "../view/view.js";
import { unboundedWarning } from "../view/warnings.js";

/** What a sync has done, and the view to send to the model. `D` is the session's dialect. */
export class Synced<D extends DialectName | undefined = DialectName | undefined> {
  /** The view; undefined where none was wanted, and while tool calls wait for results. */
  readonly view: View<D> | undefined;
  /** How many messages were appended: the last ones of the log. */
  readonly appended: number;
  /** How many messages of the log were put aside, since the list lacks them. */
  readonly putAside: number;
  /** How many elements at the start of the list the session had. */
  readonly known: number;
  /** How many elements were sent with their content. */
  readonly sent: number;
  /** Whether the list has other instructions than the session had, which are in force now. */
  readonly instructionsReplaced: boolean;
  /** Whether the list begins with a view that the session had returned. */
  readonly beginsWithView: boolean;
  /** The index that the next message will get. */
  readonly nextIndex: number;
  /** The newest point after the list was in the log, and before the compaction. */
  readonly point: number;
  /** What was malformed and accepted anyway, by its position in the list. The first 1,000. */
  readonly findings: readonly Finding[];
  /** How full the context is, and whether to compact; undefined where the daemon sent none. */
  readonly report: ContextReport | undefined;
  /** How the compaction ended that this sync made; undefined where it made none. */
  readonly compactionResult: CompactionResult | undefined;

  /** @internal */
  constructor(
    done: SyncedMessages,
    view: View<D> | undefined,
    compactionResult: CompactionResult | undefined,
    sent: number,
  ) {
    this.view = view;
    this.appended = done.appendedMessages;
    this.putAside = done.messagesPutAside;
    this.known = done.knownElements;
    this.sent = sent;
    this.instructionsReplaced = done.instructionsReplaced;
    this.beginsWithView = done.beginsWithView;
    this.nextIndex = done.nextIndex;
    this.point = done.point;
    this.findings = done.findings;
    this.report = view?.report ?? compactionResult?.report ?? done.report;
    this.compactionResult = compactionResult;
  }

  /**
   * The messages to send to the model, as `messages` of {@link View} has them; undefined where there is no view. Without
   * a dialect, `view.neutral` has them.
   */
  get messages(): View<D>["messages"] | undefined {
    return this.view?.messages;
  }

  /** The system prompt to send, as `system` of {@link View} has it; undefined where there is no view. */
  get system(): View<D>["system"] | undefined {
    return this.view?.system;
  }

  /**
   * The fields of the provider's request that contain the conversation, as `request` of {@link View} makes them. Throws a
   * TypeError where there is no view, which names the tool calls that wait for results.
   */
  request(): Of<ProviderRequests, D>;
  request<Own extends object>(own: Own): Own & Omit<Of<ProviderRequests, D>, keyof Own>;
  request(own: object = {}): object {
    if (this.view === undefined) {
      const waits = this.openCalls.map(({ id }) => id).join(", ");
      const why = waits === "" ? "the sync was made with view: false" : `tool calls wait for their results (${waits})`;
      throw new TypeError(`request: there is no view to make a request of: ${why}`);
    }
    return this.view.request(own);
  }

  /** What deserves a look, in sentences: a fallback wrote, or the session has no context window and grows. */
  get warnings(): readonly string[] {
    const text = unboundedWarning(this.report);
    return [...(this.compactionResult?.warnings ?? []), ...(text === undefined ? [] : [text])];
  }

  /** The entry of the compaction that this sync made; undefined where it summarized nothing. */
  get compacted(): CompactionEntry | undefined {
    return this.compactionResult?.compaction;
  }

  /** The tool calls that wait for results, for which there is no view in a dialect. The first 100. */
  get openCalls(): readonly CallRef[] {
    return this.report?.openCalls ?? [];
  }
}
