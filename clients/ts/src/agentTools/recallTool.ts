import type { MessageInitShape } from "@bufbuild/protobuf";

import { ArgumentError, type Arguments } from "./arguments.js";
import { placeOf, whoOf } from "./places.js";
import { modelText } from "../contract/texts.js";
import { word } from "../contract/words.js";
import {
  ContentKind,
  MessageState,
  type LineBlock,
  type RecallContentRequestSchema,
  type RecallContentResponse,
} from "../v1.js";

/** A request to the daemon without the session. */
export type RecallAsked = Omit<MessageInitShape<typeof RecallContentRequestSchema>, "sessionId" | "$typeName"> & {
  readonly range: RecallRange;
};

type RecallRange = NonNullable<MessageInitShape<typeof RecallContentRequestSchema>["range"]>;

const defaultMaxBytes = 16_384;
const defaultContextLines = 2;

/** Makes the request of a recall_content call. Throws an ArgumentError where its arguments exclude each other. */
export function recallAsked(given: Arguments): RecallAsked {
  return {
    what: { case: "reference", value: given.text("reference") ?? "" },
    range: rangeOf(given),
    maxBytes: given.number("max_bytes") ?? defaultMaxBytes,
  };
}

function rangeOf(given: Arguments): RecallRange {
  const match = given.text("match");
  const firstLine = given.number("first_line");
  const lineCount = given.number("line_count");
  const firstByte = given.number("first_byte");
  if (firstByte !== undefined) {
    if (match !== undefined || firstLine !== undefined || lineCount !== undefined) {
      throw new ArgumentError("bytes_or_lines");
    }
    return { case: "bytes", value: { offset: firstByte } };
  }
  if (match !== undefined) {
    if (lineCount !== undefined) {
      throw new ArgumentError("count_or_match");
    }
    const contextLines = given.number("context_lines") ?? defaultContextLines;
    const value = { pattern: match, ignoreCase: given.flag("ignore_case"), contextLines, firstLine: firstLine ?? 0 };
    return { case: "match", value };
  }
  return firstLine === undefined && lineCount === undefined
    ? { case: undefined }
    : { case: "lines", value: { first: firstLine ?? 1, count: lineCount ?? 0 } };
}

/** Writes recalled content as text: a line that describes it, the content word for word, and how to read on. */
export function recalledText(content: RecallContentResponse, { range }: RecallAsked): string {
  const reference = content.block === "" ? placeOf(content) : `block ${content.block}`;
  const head = modelText("recalled", { reference, facts: factsOf(content, range.case).join(", ") });
  if (content.kind === ContentKind.MEDIA) {
    return head;
  }
  const body = range.case === "match" ? numbered(content.blocks) : content.text;
  const more = moreOf(content);
  const between = body !== "" && more !== "" && !body.endsWith("\n") ? "\n" : "";
  return body === "" && more === "" ? head : `${head}\n${body}${between}${more}`;
}

function factsOf(content: RecallContentResponse, by: RecallRange["case"]): string[] {
  const { kind, state, block, name, mimeType } = content;
  const facts = [
    whoOf(content),
    word(ContentKind, kind).replaceAll("_", " "),
    state === MessageState.PUT_ASIDE && block === "" ? modelText("taken_back") : "",
    name,
    mimeType,
    shown(content, by),
  ];
  return facts.filter((fact) => fact !== "");
}

/** How much of the content is shown. */
function shown(content: RecallContentResponse, by: RecallRange["case"]): string {
  const { kind, blocks, text, offset, totalBytes, totalLines, firstLine } = content;
  if (kind === ContentKind.MEDIA) {
    return modelText("recalled_media", { bytes: totalBytes });
  }
  if (by === "match") {
    return modelText(blocks.length > 0 ? "recalled_matches" : "recalled_no_match", { total: totalLines });
  }
  if (by === "bytes") {
    return modelText("recalled_bytes", { first: offset, total: totalBytes });
  }
  if (totalLines === 0) {
    return modelText("recalled_empty");
  }
  const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
  const last = firstLine + Math.max(lines, 1) - 1;
  return modelText("recalled_lines", { first: firstLine, last, total: totalLines });
}

/** Numbers the lines. A colon marks those that match, as in the output of grep. */
function numbered(blocks: readonly LineBlock[]): string {
  return blocks
    .map(({ firstLine, text, matchingLines }) => {
      const lines = text.replace(/\n$/, "").split("\n");
      return lines
        .map((line, at) => {
          const number = firstLine + at;
          return `${String(number)}${matchingLines.includes(number) ? ":" : "-"}${line.replace(/\r$/, "")}`;
        })
        .join("\n");
    })
    .join("\n--\n");
}

function moreOf({ hasMore, nextLine, nextOffset }: RecallContentResponse): string {
  if (!hasMore) {
    return "";
  }
  return nextLine > 0 ? modelText("more_lines", { line: nextLine }) : modelText("more_bytes", { byte: nextOffset });
}
