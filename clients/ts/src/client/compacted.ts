import { create } from "@bufbuild/protobuf";

import type { CompactionResult } from "../compaction/compaction.js";
import { resultOf } from "../compaction/compaction.js";
import { ListState } from "../compaction/listState.js";
import type { Element, SystemPrompt } from "../contract/lists.js";
import { ElementList, systemJsonOf } from "../contract/lists.js";
import type { DialectName } from "../contract/messages.js";
import { dialectOf } from "../contract/messages.js";
import type { PolicyLike } from "../contract/policy.js";
import { policyOf } from "../contract/policy.js";
import type { EstimatorName } from "../contract/words.js";
import { estimatorOf } from "../contract/words.js";
import type {
  CompactionEvent,
  ContextReport,
  Estimator,
  Finding,
  GetLLMViewResponse,
  InlineHistory,
  ProviderJson,
} from "../v1.js";
import { CompactionReason, InlineHistorySchema, ProviderJsonSchema } from "../v1.js";
import { JoinedView, View } from "../view/view.js";
import type { CallOptions, Calls } from "../wire/calls.js";
import { callOptions } from "../wire/calls.js";
import { fallbackWarning, warn } from "../view/warnings.js";
import { checkFunction, checkKeys } from "../contract/arguments.js";
import { errorReason } from "../wire/errors.js";

/** The options of a compaction of a list of which the daemon keeps nothing. */
export interface CompactedOptions<D extends DialectName | undefined = DialectName | undefined> extends CallOptions {
  /** The provider's shape of the messages. Default: neutral messages. */
  readonly dialect?: D;
  /** When and how to compact. Default: the daemon's policy, in which nothing is due without a context window. */
  readonly policy?: PolicyLike;
  /** The state of the last result. Default, also for "": none yet. */
  readonly state?: string;
  /** The system prompt, where the dialect has it apart. It is needed in each call. */
  readonly system?: SystemPrompt;
  /** Whether to compact, if that is due. Nothing is done where a compaction cannot help. Default true. */
  readonly compact?: boolean;
  /** What the summary must pay attention to. At most 16 KiB. */
  readonly focus?: string;
  /** Called with each event of the compaction, and awaited. An error that it throws cancels the compaction. */
  readonly onEvent?: (event: CompactionEvent) => unknown;
  /** As for a view. Default false. */
  readonly markCacheBreakpoints?: boolean;
  /** How tokens are counted. Default: `chars4`. */
  readonly estimator?: EstimatorName | Estimator;
}

/** All options of a compacted list. Other keys are refused: they may be misspelt. */
const takenOptions: Readonly<Record<keyof CompactedOptions, true>> = {
  signal: true,
  timeoutMs: true,
  dialect: true,
  policy: true,
  state: true,
  system: true,
  compact: true,
  focus: true,
  onEvent: true,
  markCacheBreakpoints: true,
  estimator: true,
};

/** A list as the model is to see it, and what to keep for the next call. `D` is its dialect. */
export class Compacted<D extends DialectName | undefined = DialectName | undefined> {
  /** @internal */
  constructor(
    /** The view to send to the model. */
    readonly view: View<D>,
    /**
     * What to give to the next call, with the complete list again: a text that can be stored. It holds the summary and
     * the edits, and no messages.
     */
    readonly state: string,
    /** Whether the state that was given could not be used, since messages that it covers have changed. */
    readonly beganAnew: boolean,
    /** What was malformed and accepted anyway, by its position in the list. The first 1,000. */
    readonly findings: readonly Finding[],
    /** How the compaction ended that this call made; undefined where it made none. */
    readonly compactionResult: CompactionResult | undefined,
  ) {}

  /** Whether this call compacted. */
  get compacted(): boolean {
    return this.compactionResult?.done === true;
  }

  /** What deserves a look, in sentences: that the policy's fallback wrote. Node warns of it, too. */
  get warnings(): readonly string[] {
    return this.compactionResult?.warnings ?? [];
  }

  /** The messages to send to the model, as `messages` of {@link View} has them. Without a dialect: `view.neutral`. */
  get messages(): View<D>["messages"] {
    return this.view.messages;
  }

  /** The system prompt to send, as `system` of {@link View} has it. */
  get system(): View<D>["system"] {
    return this.view.system;
  }

  /** How full the context is. */
  get report(): ContextReport {
    return this.view.report;
  }
}

/** One compaction of a list. */
export class ListCompaction {
  private readonly listed: ElementList;
  private readonly system: readonly string[];
  private readonly beganAnew: boolean;
  private state: ListState;

  constructor(
    private readonly client: Calls,
    messages: readonly Element[],
    private readonly options: CompactedOptions,
  ) {
    checkKeys("compacted", options, Object.keys(takenOptions));
    checkFunction("onEvent", options.onEvent);
    const { dialect } = options;
    this.listed = ElementList.of(messages, dialect);
    this.system = systemJsonOf(options.system, dialect);
    const given = ListState.read(options.state, dialect);
    this.beganAnew = !given.fits(this.listed, this.system.length);
    this.state = this.beganAnew ? ListState.none(dialect) : given;
  }

  /** Fetches the view, compacts where it is due, and fetches the view again then. */
  async run(): Promise<Compacted> {
    const elements = this.listed.elements.length;
    if (elements < this.state.facts.elements) {
      this.state = this.state.shortened(elements, await this.messagesOf(elements));
    }
    let page = await this.page();
    let result: CompactionResult | undefined;
    if ((this.options.compact ?? true) && page.report?.shouldCompact === true) {
      result = await this.compact();
    }
    if (result?.done === true) {
      const state = this.state.after(result);
      const covered = await this.elementsBefore(state.namedMessages);
      this.state = state.of(this.listed, this.system.length, covered);
      page = await this.page();
    }
    const sent = page.messages.length + page.messagesJson.length;
    const view = new View(this.options.dialect, JoinedView.empty.with(page), page, sent);
    return new Compacted(view, this.state.text(), this.beganAnew, page.findings, result);
  }

  private async page(): Promise<GetLLMViewResponse> {
    const { dialect, policy, markCacheBreakpoints, signal } = this.options;
    return this.client.compactions.getLLMView(
      {
        target: { case: "history", value: this.history() },
        dialect: dialectOf(dialect),
        markCacheBreakpoints: markCacheBreakpoints ?? false,
        ...(policy !== undefined && { policy: policyOf(policy) }),
      },
      callOptions({ ...(signal !== undefined && { signal }) }),
    );
  }

  /** Compacts; undefined where that cannot help. */
  private async compact(): Promise<CompactionResult | undefined> {
    const { policy, focus, onEvent } = this.options;
    const request = {
      target: { case: "history", value: this.history() } as const,
      reason: CompactionReason.THRESHOLD,
      focus: focus ?? "",
      ...(policy !== undefined && { policy: policyOf(policy) }),
    };
    let result: CompactionResult | undefined;
    try {
      for await (const { event } of this.client.compactions.compact(request, callOptions(this.options))) {
        if (event !== undefined) {
          result = resultOf(event) ?? result;
          await onEvent?.(event);
        }
      }
    } catch (error) {
      if (errorReason(error) === "TARGET_UNREACHABLE") {
        return undefined;
      }
      throw error;
    }
    warn(fallbackWarning(result?.fallbackCause));
    return result;
  }

  /** How many elements at the start have this many messages. One element can be several messages. */
  private async elementsBefore(messages: number): Promise<number> {
    let [few, enough] = [0, this.listed.elements.length];
    while (few < enough) {
      const middle = Math.floor((few + enough) / 2);
      if ((await this.messagesOf(middle)) < messages) {
        few = middle + 1;
      } else {
        enough = middle;
      }
    }
    return enough;
  }

  /** How many messages the first elements are. */
  private async messagesOf(elements: number): Promise<number> {
    const providerJson = this.document(elements);
    if (providerJson === undefined) {
      return elements;
    }
    const { signal } = this.options;
    const answer = await this.client.compactions.countTokens(
      { what: { case: "messages", value: { providerJson } } },
      callOptions({ ...(signal !== undefined && { signal }) }),
    );
    return answer.messages.length;
  }

  private history(): InlineHistory {
    const { estimator } = this.options;
    const providerJson = this.document(this.listed.elements.length);
    const neutral = this.listed.elements.flatMap(({ content }) => (content.case === "message" ? [content.value] : []));
    return create(InlineHistorySchema, {
      prunes: [...this.state.prunes],
      ...(this.state.compaction !== undefined && { compaction: this.state.compaction }),
      ...(estimator !== undefined && { estimator: estimatorOf(estimator) }),
      ...(providerJson === undefined ? { messages: neutral } : { providerJson }),
    });
  }

  /** The first elements as the body of a request; undefined for neutral messages. */
  private document(elements: number): ProviderJson | undefined {
    const { dialect } = this.options;
    if (dialect === undefined) {
      return undefined;
    }
    const json = this.listed.document(this.system, elements, dialect);
    return create(ProviderJsonSchema, { dialect: dialectOf(dialect), json });
  }
}
