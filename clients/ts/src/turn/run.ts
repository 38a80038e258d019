import type { SessionCompactions } from "../compaction/compacting.js";
import type { CompactionResult } from "../compaction/compaction.js";
import { StopReason, type ContextBlock, type ModelAnswer, type Part } from "../v1.js";
import { word } from "../contract/words.js";
import type { View } from "../view/view.js";
import { unboundedWarning } from "../view/warnings.js";
import { leavesOpen } from "../wire/errors.js";
import type { LoopOptions } from "./options.js";
import type { TurnState } from "./state.js";
import type { Turn } from "./turn.js";
import type { Write } from "./writes.js";

/** The common base of the parts of a turn: its session, its state, its abort signal, and the method that appends. */
export class TurnRun {
  readonly compactions: (CompactionResult | Error)[] = [];
  /** How many tokens the model accepts, where an error of its provider said so. */
  limitTokens: number | undefined;
  /** The warning of a context window above that. */
  contradiction: string | undefined;
  readonly #abort = new AbortController();
  #steps = 0;

  constructor(
    readonly session: SessionCompactions,
    readonly turns: TurnState,
    readonly options: LoopOptions,
  ) {}

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  abort(reason: Error): void {
    this.#abort.abort(reason);
  }

  async view(): Promise<View> {
    const { thinking, markCacheBreakpoints = false } = this.options;
    const extraBlocks = await this.#extraBlocks();
    this.signal.throwIfAborted();
    return this.session.view({
      markCacheBreakpoints,
      extraBlocks,
      signal: this.signal,
      ...(thinking !== undefined && { thinking }),
    });
  }

  /** The blocks for the next view: none where they would end a paused answer. */
  async #extraBlocks(): Promise<readonly ContextBlock[]> {
    const { extraBlocks = [] } = this.options;
    if (this.turns.paused) {
      return [];
    }
    return typeof extraBlocks === "function" ? extraBlocks() : extraBlocks;
  }

  /** Appends, and keeps the append until it is known that the daemon has it. */
  async write(write: Write): Promise<void> {
    const { answer } = await this.turns.send(write).catch((error: unknown) => {
      if (!leavesOpen(error)) {
        this.turns.written(write);
      }
      throw error;
    });
    this.turns.written(write);
    const { step } = this.turns;
    if (step?.writes?.[0] === write) {
      step.writes.shift();
    }
    if (write.kind === "answer") {
      this.#note(answer);
    }
  }

  #note(answer: ModelAnswer | undefined): void {
    if (answer === undefined) {
      throw new TypeError("the daemon did not describe the answer: it is older than this client");
    }
    this.turns.step = { answer, outcomes: [] };
    if (answer.overflow) {
      return;
    }
    this.#steps++;
    this.turns.paused = answer.stopReason === StopReason.PAUSE;
    if (!endedBadly(answer)) {
      this.turns.permitRetry();
    }
  }

  /** Returns all parts of a message of the log. */
  async partsOf(index: number): Promise<Part[]> {
    for await (const { message } of this.session.messages({ fromIndex: index, signal: this.signal })) {
      return message?.parts ?? [];
    }
    return [];
  }

  /** Whether the model may not answer again in this turn. */
  get full(): boolean {
    return this.#steps >= (this.options.maxSteps ?? Number.POSITIVE_INFINITY);
  }

  turn(answer: ModelAnswer, end: Partial<Turn> & Pick<Turn, "done">): Turn {
    return {
      text: textOf(answer.parts),
      answer,
      stopReason: word(StopReason, answer.stopReason),
      toolCalls: [],
      report: this.session.report,
      steps: this.#steps,
      compactions: this.compactions,
      rejected: false,
      limitTokens: this.limitTokens,
      warnings: this.#warnings(),
      ...end,
    };
  }

  #warnings(): string[] {
    const made = this.compactions.flatMap((one) => (one instanceof Error ? [] : one.warnings));
    const others = [this.contradiction, unboundedWarning(this.session.report)];
    return [...made, ...others.filter((text) => text !== undefined)];
  }
}

/** Whether the answer failed, so that views leave it out, together with its calls. */
export function endedBadly({ stopReason }: ModelAnswer): boolean {
  return stopReason === StopReason.ERROR || stopReason === StopReason.ABORTED;
}

function textOf(parts: readonly Part[]): string {
  return parts.map(({ kind }) => (kind.case === "text" ? kind.value.text : "")).join("");
}
