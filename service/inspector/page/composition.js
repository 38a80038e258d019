// What a view's tokens are spent on.

import { isHidden } from "./view.js";

// compositionOf returns the categories of a view's messages with their tokens, the largest first. A message with parts of
// several categories counts for each by the size of its parts.
export function compositionOf(messages) {
  const sums = new Map();
  for (const m of messages) {
    for (const [category, tokens] of sharesOf(m)) {
      const sum = sums.get(category) ?? { category, tokens: 0, messages: 0 };
      sum.tokens += tokens;
      sum.messages++;
      sums.set(category, sum);
    }
  }
  return [...sums.values()].sort((a, b) => b.tokens - a.tokens);
}

// sharesOf returns the categories of a message, each with its part of the tokens.
function sharesOf(m) {
  const tokens = m.tokens ?? 0;
  const alone = categoryOf(m);
  if (alone) {
    return [[alone, tokens]];
  }
  const sizes = new Map();
  for (const part of m.message.parts ?? []) {
    const [category, size] = sizeOf(part);
    sizes.set(category, (sizes.get(category) ?? 0) + size);
  }
  const all = [...sizes.values()].reduce((a, b) => a + b, 0);
  return all === 0 ? [["other", tokens]] : [...sizes].map(([category, size]) => [category, tokens * size / all]);
}

// categoryOf returns the category of a message that has only one, or nothing.
export function categoryOf(m) {
  const { role, parts = [] } = m.message;
  switch (true) {
    case m.summaryOf !== undefined: return "summary";
    case m.folded !== undefined: return "folds";
    case m.contextBlock !== undefined: return "context blocks";
    case m.logRepair !== undefined: return "repairs";
    case m.instructions !== undefined || role === "ROLE_SYSTEM" || role === "ROLE_DEVELOPER": return "instructions";
    case role === "ROLE_TOOL": return isHidden(m) ? "placeholders of results" : "tool results";
    case parts.some((part) => part.media): return "messages with media";
    case role === "ROLE_USER": return "user";
    default: return undefined;
  }
}

function sizeOf(part) {
  if (part.thinking) {
    return ["thinking", part.thinking.text?.length ?? 0];
  }
  if (part.toolCall) {
    return ["tool calls", (part.toolCall.name?.length ?? 0) + (part.toolCall.arguments?.length ?? 0)];
  }
  if (part.opaque) {
    return ["provider's items", part.opaque.json?.length ?? 0];
  }
  return ["answers", part.text?.text?.length ?? 0];
}

// kindOf says what a message of a view is, in the list of the largest.
export function kindOf(m) {
  return categoryOf(m) ?? ((m.message.parts ?? []).some((part) => part.toolCall) ? "tool calls" : "answers");
}
