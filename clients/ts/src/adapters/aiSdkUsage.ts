import { create } from "@bufbuild/protobuf";
import type { LanguageModelMiddleware, LanguageModelUsage } from "ai";

import type { Message, Usage } from "../v1.js";
import { Role, UsageSchema } from "../v1.js";

type ModelUsage = Awaited<ReturnType<NonNullable<LanguageModelMiddleware["wrapGenerate"]>>>["usage"];

/** The usage of the answers in a list, by their places. Messages of the AI SDK do not have it. */
export class AnswerUsage {
  readonly #usage = new Map<number, Usage>();
  #length = 0;

  /** The messages of the list of a call, with what is known. */
  addedTo(list: readonly Message[]): Message[] {
    this.#length = list.length;
    return list.map((message, at) => {
      const usage = message.role === Role.ASSISTANT ? this.#usage.get(at) : undefined;
      return usage === undefined ? message : { ...message, usage };
    });
  }

  /** Notes the usage of the answer to the last call, which is behind its list. */
  note(usage: Usage | undefined): void {
    for (const at of this.#usage.keys()) {
      if (at >= this.#length) {
        this.#usage.delete(at);
      }
    }
    if (usage !== undefined) {
      this.#usage.set(this.#length, usage);
    }
  }
}

/** The usage that a model reports. */
export function modelUsage({ inputTokens, outputTokens }: ModelUsage): Usage | undefined {
  const { total, cacheRead, cacheWrite } = inputTokens;
  return usageOf(total, outputTokens.total, cacheRead, cacheWrite);
}

/** The usage of a step. */
export function stepUsage({
  inputTokens,
  outputTokens,
  inputTokenDetails: details,
}: LanguageModelUsage): Usage | undefined {
  return usageOf(inputTokens, outputTokens, details.cacheReadTokens, details.cacheWriteTokens);
}

/** Their input tokens are all of them, ours those that no cache had. Where none are reported, nothing is known. */
function usageOf(input = 0, output = 0, read = 0, written = 0): Usage | undefined {
  if (input === 0) {
    return undefined;
  }
  return create(UsageSchema, {
    inputTokens: Math.max(0, input - read - written),
    outputTokens: output,
    cacheReadTokens: read,
    cacheWriteTokens: written,
  });
}
