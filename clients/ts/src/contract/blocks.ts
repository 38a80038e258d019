import { create, isMessage } from "@bufbuild/protobuf";

import { checkedIndex } from "./arguments.js";
import { textPart } from "./messages.js";
import type { BlockPlace, ContextBlock, Part } from "../v1.js";
import { ContextBlockSchema, PartSchema } from "../v1.js";
import type { BlockPlaceName } from "./words.js";
import { placeOf } from "./words.js";

/** The content of a context block: a text, a part of the contract such as an image, or several of them. */
export type BlockContent = string | Part | readonly (string | Part)[];

/** How views show a context block, and for how long. */
export interface BlockSettings {
  /**
   * Where views show it: `leading`, after the instructions, for what rarely changes; `latest`, before the user's newest
   * message, for what changes often. A change costs the provider's prompt cache what follows. Default `latest`.
   */
  readonly place?: BlockPlaceName | BlockPlace;
  /** Where not all blocks fit, those of the lowest priority are cut first. 0 to 1,000. Default 0. */
  readonly priority?: number;
  /** The most tokens that views show of it. Default: no limit. */
  readonly maxTokens?: number;
  /** The number of turns that it holds. Default: until it is replaced or removed. */
  readonly turns?: number;
  /**
   * Whether views show it as a SYSTEM message. Needs `leading`, text alone, and the policy's
   * `contextBlocks.allowOperator`. Default false.
   */
  readonly operator?: boolean;
}

/** Makes a context block: content that views show under a name, in one place, and that is no message. */
export function block(name: string, content: BlockContent, settings: BlockSettings = {}): ContextBlock {
  return create(ContextBlockSchema, {
    name,
    parts: partsOf(content),
    ...(settings.place !== undefined && { place: placeOf(settings.place) }),
    priority: checkedIndex("priority", settings.priority ?? 0),
    maxTokens: limitOf("maxTokens", settings.maxTokens),
    turns: limitOf("turns", settings.turns),
    operator: settings.operator ?? false,
  });
}

/** The contract's value of a limit: 0 for none. */
function limitOf(name: string, given: number | undefined): number {
  if (given === 0) {
    throw new RangeError(`${name}: 0 shows nothing; leave it out for no limit`);
  }
  return checkedIndex(name, given ?? 0);
}

function partsOf(content: unknown): Part[] {
  if (typeof content === "string") {
    return [textPart(content)];
  }
  if (isMessage(content, PartSchema)) {
    return [content];
  }
  if (Array.isArray(content)) {
    return content.flatMap(partsOf);
  }
  throw new TypeError(`the content of a context block: must be a text or parts, and is ${typeof content}`);
}
