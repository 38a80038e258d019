import type { MessageInitShape } from "@bufbuild/protobuf";

import { ArgumentError, type Arguments } from "./arguments.js";
import { placeOf, whoOf } from "./places.js";
import { modelText } from "../contract/texts.js";
import { MessageState, type SearchHit, type SearchMessagesRequestSchema } from "../v1.js";

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

/** Makes the search of a search_messages call. Throws an ArgumentError where its arguments exclude each other. */
export function searchAsked(given: Arguments): SearchAsked {
  const words = given.text("words");
  const pattern = given.text("pattern");
  if ((words === undefined) === (pattern === undefined)) {
    throw new ArgumentError("words_or_pattern");
  }
  return {
    query: {
      query: pattern === undefined ? { case: "words", value: words ?? "" } : { case: "pattern", value: pattern },
      newestFirst: given.flag("newest_first"),
    },
    limit: given.number("limit") ?? defaultLimit,
    skip: given.number("skip") ?? 0,
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

function lineOf(hit: SearchHit): string {
  const { state, line, matches, snippet } = hit;
  const facts = [
    whoOf(hit),
    ...(line > 0 ? [modelText("hit_line", { line })] : []),
    ...(matches > 1 ? [modelText("hit_matches", { matches })] : []),
    ...(state === MessageState.PUT_ASIDE ? [modelText("taken_back")] : []),
  ];
  return modelText("hit", {
    reference: placeOf(hit),
    facts: facts.join(", "),
    snippet: snippet.replace(/[ \t\n\r\v\f]+/g, " ").replace(/^ | $/g, ""),
  });
}
