import type { MessageInitShape } from "@bufbuild/protobuf";

import { checkedArguments, definitionOf } from "./tools.js";
import { modelText } from "../contract/texts.js";
import { MessageState, Role, type SearchHit, type SearchMessagesRequestSchema } from "../v1.js";

/** A search of the model. */
export interface SearchAsked {
  /** The request to the daemon, without session and page. */
  readonly query: Pick<MessageInitShape<typeof SearchMessagesRequestSchema>, "query" | "newestFirst">;
  /** The most hits to return. */
  readonly limit: number;
  /** The number of hits to skip first. */
  readonly skip: number;
}

const defaultLimit = 20;

/** Reads the arguments of a search_messages call. Returns the search, or a sentence about what is wrong. */
export function searchAsked(json: string): SearchAsked | string {
  const given = checkedArguments(definitionOf("search_messages"), json);
  if (typeof given === "string") {
    return given;
  }
  const { words, pattern, newest_first, limit, skip } = given;
  if ((words === undefined) === (pattern === undefined)) {
    return "Give either words or pattern.";
  }
  return {
    query: {
      query:
        pattern === undefined ? { case: "words", value: String(words) } : { case: "pattern", value: String(pattern) },
      newestFirst: newest_first === true,
    },
    limit: typeof limit === "number" ? limit : defaultLimit,
    skip: typeof skip === "number" ? skip : 0,
  };
}

/** Writes hits as text: a line for each, with its reference for recall_content, and how to get more hits. */
export function foundText(hits: readonly SearchHit[], more: boolean, { limit, skip }: SearchAsked): string {
  const lines = hits.map(lineOf);
  if (lines.length === 0) {
    return modelText(skip === 0 ? "no_hits" : "no_further_hits");
  }
  return [...lines, ...(more ? [modelText("more_hits", { skip: skip + limit })] : [])].join("\n");
}

function lineOf({ sessionId, index, part, resultPart, role, state, tool, line, matches, snippet }: SearchHit): string {
  const place = [index, part, resultPart].filter((at) => at !== undefined).join(".");
  const facts = [
    `${Role[role].toLowerCase()}${tool === "" ? "" : ` ${tool}`}`,
    ...(line > 0 ? [`line ${String(line)}`] : []),
    ...(matches > 1 ? [`${String(matches)} matches`] : []),
    ...(state === MessageState.PUT_ASIDE ? ["taken back"] : []),
  ];
  return `${sessionId}#${place} (${facts.join(", ")}): ${snippet.replace(/\s+/g, " ").trim()}`;
}
