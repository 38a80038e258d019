import { checkedIndex, checkKeys, checkList } from "../contract/arguments.js";
import type { BlockContent, BlockSettings } from "../contract/blocks.js";
import { block } from "../contract/blocks.js";
import type { Instructions } from "../contract/messages.js";
import { instructionsOf } from "../contract/messages.js";
import type { CallOptions, WriteOptions } from "../wire/calls.js";
import { callKeys, callOptions, requestIdOf } from "../wire/calls.js";
import { pages } from "../wire/pages.js";
import { SessionReading } from "./reading.js";
import type {
  ContextBlock,
  ContextBlockState,
  ReplaceInstructionsResponse,
  UpdateContextBlocksResponse,
} from "../v1.js";

/** Context blocks to set and to remove. */
export interface BlockChanges {
  /** Blocks to set, as {@link block} makes them. Each replaces the block of its name. At most 64. */
  readonly set?: readonly ContextBlock[];
  /** Names of blocks to remove. A name that no block has is ignored. At most 64. */
  readonly remove?: readonly string[];
}

/** The part of a session that sets context blocks and instructions. Each change is a record; nothing is removed. */
export class SessionContext extends SessionReading {
  /**
   * Sets a context block: a plan, a memory, a skill. It replaces the block with this name. It is no message: views show
   * only its newest value, in one place, and no compaction covers it. Setting a block to what it is already writes
   * nothing: the response then has no `sequence`.
   */
  async setBlock(
    name: string,
    content: BlockContent,
    options: BlockSettings & WriteOptions = {},
  ): Promise<UpdateContextBlocksResponse> {
    return this.updateBlocks({ set: [block(name, content, options)] }, options);
  }

  /** Removes context blocks. A name that no block has is ignored. */
  async removeBlock(
    names: string | readonly string[],
    options: WriteOptions = {},
  ): Promise<UpdateContextBlocksResponse> {
    return this.updateBlocks({ remove: typeof names === "string" ? [names] : names }, options);
  }

  /** Sets and removes several context blocks in one record: all of them or, on any error, none. */
  async updateBlocks(changes: BlockChanges, options: WriteOptions = {}): Promise<UpdateContextBlocksResponse> {
    checkKeys("updateBlocks", changes, ["set", "remove"]);
    const { set = [], remove = [] } = changes;
    checkList("set", set);
    checkList("remove", remove);
    const request = { sessionId: this.id, set: [...set], remove: [...remove], requestId: requestIdOf(options) };
    const answer = await this.client.sessions.updateContextBlocks(request, callOptions(options));
    this.noteReport(answer.report);
    return answer;
  }

  /** Iterates over the context blocks in force, whole, in the order in which they were first set. */
  blocks(
    options: CallOptions & {
      /** Only blocks with these names. Default: all. */ readonly names?: readonly string[];
      /** The point at which to look. Default: now. Earlier values can be read so. */ readonly asOf?: number;
    } = {},
  ): AsyncGenerator<ContextBlockState, void, undefined> {
    checkKeys("blocks", options, [...callKeys, "names", "asOf"]);
    const { names = [], asOf } = options;
    checkList("names", names);
    const which = { names: [...names], ...(asOf !== undefined && { asOf: checkedIndex("asOf", asOf) }) };
    return pages(async (pageToken) => {
      const request = { sessionId: this.id, pageToken, ...which };
      const page = await this.client.sessions.listContextBlocks(request, callOptions(options));
      return [page.blocks, page.nextPageToken];
    });
  }

  /**
   * Replaces the SYSTEM and DEVELOPER messages at the start of views. The old ones stay in the log. A text is a SYSTEM
   * message; an empty list leaves none. Views in every dialect show them as their system prompt. Thinking and prompt
   * caches of what follows are lost.
   */
  async replaceInstructions(
    instructions: Instructions,
    options: WriteOptions = {},
  ): Promise<ReplaceInstructionsResponse> {
    const request = { sessionId: this.id, messages: instructionsOf(instructions), requestId: requestIdOf(options) };
    const answer = await this.client.sessions.replaceInstructions(request, callOptions(options));
    this.noteReport(answer.report);
    return answer;
  }
}
