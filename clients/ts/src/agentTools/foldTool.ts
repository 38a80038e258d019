import type { SessionCompactions } from "../compaction/compacting.js";
import { modelText } from "../contract/texts.js";
import { ToolOutput } from "../turn/toolCalls.js";
import { checkedArguments, definitionOf } from "./tools.js";

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
  const given = checkedArguments(definitionOf("fold_since"), json);
  if (typeof given === "string") {
    return new ToolOutput(`Nothing was folded: ${given}`, { isError: true });
  }
  const checkpoint = Number(given["checkpoint_id"]);
  const text = String(given["result"]).trim();
  if (text === "") {
    return new ToolOutput("Nothing was folded: The result is empty.", { isError: true });
  }
  const { prune } = await session.fold({ checkpoint, text }, { ...options, abortRunning: false });
  const [first] = prune?.edits ?? [];
  return first === undefined
    ? new ToolOutput(modelText("nothing_folded", { checkpoint }), { isError: true })
    : new ToolOutput(modelText("folded", { first: first.foldStart, last: first.foldEnd - 1 }));
}
