import type { SessionCompactions } from "../compaction/compacting.js";
import type { CompactionResult } from "../compaction/compaction.js";
import { modelText } from "../contract/texts.js";
import { ToolOutput } from "../turn/toolCalls.js";
import { CompactordError } from "../wire/errors.js";
import { Arguments } from "./arguments.js";

/** Handles calls of fold_since, one after the other, since a session has one compaction at a time. */
export class Folder {
  #last: Promise<unknown> = Promise.resolve();

  /** Folds what was done since a checkpoint, and returns the result of the call. */
  fold(json: string, session: SessionCompactions, options: { readonly signal?: AbortSignal }): Promise<ToolOutput> {
    const folded = this.#last.then(() => foldSince(json, session, options));
    this.#last = folded.catch(() => undefined);
    return folded;
  }
}

async function foldSince(
  json: string,
  session: SessionCompactions,
  options: { readonly signal?: AbortSignal },
): Promise<ToolOutput> {
  const given = new Arguments("fold_since", json);
  const checkpoint = given.number("checkpoint_id") ?? 0;
  const text = given.trimmed("result");
  try {
    return outputOf(await session.fold({ checkpoint, text }, { ...options, abortRunning: false }), checkpoint);
  } catch (error) {
    return refused(whyNot(error, checkpoint));
  }
}

/** The result of a fold that did not fail. */
function outputOf({ prune, reason }: CompactionResult, checkpoint: number): ToolOutput {
  const [first] = prune?.edits ?? [];
  if (first !== undefined) {
    return new ToolOutput(modelText("folded", { first: first.foldStart, last: first.foldEnd - 1 }));
  }
  return refused(reason === "no_gain" ? modelText("fold_not_shorter") : modelText("nothing_folded", { checkpoint }));
}

/** What the model reads where the daemon does not know the checkpoint. Other errors are thrown. */
function whyNot(error: unknown, checkpoint: number): string {
  if (error instanceof CompactordError && error.reason === "CHECKPOINT_NOT_FOUND") {
    return modelText("fold_from_unknown", { checkpoint, last: error.metadata["last_checkpoint"] ?? 0 });
  }
  if (error instanceof CompactordError && error.reason === "CHECKPOINT_PUT_ASIDE") {
    return modelText("fold_from_put_aside", { checkpoint });
  }
  throw error;
}

function refused(text: string): ToolOutput {
  return new ToolOutput(text, { isError: true });
}
