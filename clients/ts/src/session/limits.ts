import { callOptions } from "../wire/calls.js";
import type { CallOptions, Calls } from "../wire/calls.js";
import { CompactordError } from "../wire/errors.js";
import type { ClassifyErrorResponse } from "../v1.js";
import { contradictedWarning, warn } from "../view/warnings.js";

/**
 * Warns where the limit in the text of an overflow is below the session's context window, and returns the warning.
 * Undefined where there is nothing to warn of, or the daemon does not answer.
 */
export async function warnedOfLimit(
  client: Calls,
  sessionId: string,
  { overflow, limitTokens }: ClassifyErrorResponse,
  options: CallOptions = {},
): Promise<string | undefined> {
  if (!overflow || limitTokens === undefined) {
    return undefined;
  }
  try {
    const { session } = await client.sessions.getSession({ sessionId }, callOptions(options));
    const text = contradictedWarning(session?.policy, limitTokens);
    warn(text);
    return text;
  } catch (e) {
    if (e instanceof CompactordError) {
      // The caller asked about another error, which must not be hidden by this one.
      return undefined;
    }
    throw e;
  }
}
