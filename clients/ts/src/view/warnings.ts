import type { ContextReport, Policy, PolicyWarning } from "../v1.js";
import { BlockedBy } from "../v1.js";

/** The tokens above which a session without a context window deserves a warning. */
const unboundedTokens = 32_000;

/** Has Node warn of this, as `process.on("warning")` and `--no-warnings` take it. Nothing is no warning. */
export function warn(text: string | undefined): void {
  if (text !== undefined) {
    process.emitWarning(text, "CompactordWarning");
  }
}

/** Warns of what the daemon finds in a policy that is probably not meant, and returns it in sentences. */
export function warnedOfPolicy(found: readonly PolicyWarning[]): readonly string[] {
  const texts = found.map(({ field, text }) => `${field}: ${text}`);
  texts.forEach(warn);
  return texts;
}

/** What to say of a summary that the policy's fallback has written; undefined where it has not. */
export function fallbackWarning(cause: string | undefined): string | undefined {
  return cause === undefined || cause === ""
    ? undefined
    : `the policy's fallback wrote the summary, in place of its summarizer: ${cause}`;
}

/**
 * What to say of a session that has no context window and grows; undefined where it has one, is small, or its policy says
 * that no compaction comes due by itself.
 */
export function unboundedWarning(report: ContextReport | undefined): string | undefined {
  const blocked = new Set(report?.blockedBy);
  const unbounded = blocked.has(BlockedBy.WINDOW_UNKNOWN) && !blocked.has(BlockedBy.DISABLED);
  if (report === undefined || !unbounded || report.tokens <= unboundedTokens) {
    return undefined;
  }
  const least = grouped(unboundedTokens);
  const what = `the session has more than ${least} tokens and no context window, so no compaction comes due`;
  return `${what}: set it, such as session.update({ contextWindow: 200_000 })`;
}

/** What to say of a policy whose model accepts `limit` tokens, as its provider says; undefined where they agree. */
export function contradictedWarning(policy: Policy | undefined, limit: number): string | undefined {
  const known = [policy?.contextWindow, policy?.maxInputTokens].filter((tokens) => tokens !== undefined && tokens > 0);
  const least = Math.min(...(known as number[]));
  if (least <= limit) {
    return undefined;
  }
  const held =
    known.length > 0 ? `the policy's context window is ${grouped(least)}` : "the policy has no context window";
  const what = `the model accepts ${grouped(limit)} tokens, as its provider's error says, and ${held}`;
  const mend = `session.update({ contextWindow: ${grouped(limit, "_")} }) mends it`;
  return `${what}, so compactions come too late: ${mend}`;
}

function grouped(tokens: number, separator = ","): string {
  return String(tokens).replace(/\B(?=(\d{3})+$)/g, separator);
}
