import type { AppendedContent } from "../contract/messages.js";
import type { AppendOptions } from "./options.js";
import { stopReasonOf } from "../contract/words.js";

/**
 * Adds usage, model and stop reason to the provider's JSON of an append. Throws a TypeError where there is no such
 * JSON.
 */
export function withFacts(
  content: AppendedContent,
  { usage, model, stopReason }: Pick<AppendOptions, "usage" | "model" | "stopReason">,
): AppendedContent {
  if (usage === undefined && model === undefined && stopReason === undefined) {
    return content;
  }
  if (content.providerJson === undefined) {
    throw new TypeError(
      "append: usage, model and stopReason go with a provider's JSON: neutral messages hold them themselves",
    );
  }
  const { dialect, json } = content.providerJson;
  return {
    providerJson: {
      ...(dialect !== undefined && { dialect }),
      ...(json !== undefined && { json }),
      ...(usage !== undefined && { usage }),
      ...(model !== undefined && { model }),
      ...(stopReason !== undefined && { stopReason: stopReasonOf(stopReason) }),
    },
  };
}
