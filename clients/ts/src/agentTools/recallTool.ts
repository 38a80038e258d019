import type { MessageInitShape } from "@bufbuild/protobuf";

import { checkedArguments, definitionOf, type Arguments } from "./tools.js";
import { modelText } from "../contract/texts.js";
import { ContentKind, MessageState, Role, type RecallContentRequestSchema, type RecallContentResponse } from "../v1.js";

/** A request to the daemon without the session. */
export type RecallAsked = Omit<MessageInitShape<typeof RecallContentRequestSchema>, "sessionId" | "$typeName">;

const defaultMaxBytes = 16_384;
const defaultContextLines = 2;

/** Reads the arguments of a recall_content call. Returns the request, or a sentence about what is wrong. */
export function recallAsked(json: string): RecallAsked | string {
  const given = checkedArguments(definitionOf("recall_content"), json);
  if (typeof given === "string") {
    return given;
  }
  const range = rangeOf(given);
  if (typeof range === "string") {
    return range;
  }
  return {
    what: { case: "reference", value: String(given["reference"]) },
    range,
    maxBytes: numberOr(given["max_bytes"], defaultMaxBytes),
  };
}

function rangeOf(given: Arguments): (RecallAsked["range"] & object) | string {
  const { match, first_line, line_count, first_byte, ignore_case, context_lines } = given;
  if (match === undefined && (ignore_case !== undefined || context_lines !== undefined)) {
    return "ignore_case and context_lines go with match.";
  }
  if (first_byte !== undefined) {
    return match === undefined && first_line === undefined && line_count === undefined
      ? { case: "bytes", value: { offset: numberOr(first_byte, 0) } }
      : "first_byte does not go with match, first_line or line_count.";
  }
  if (match !== undefined) {
    return line_count === undefined
      ? {
          case: "match",
          value: {
            pattern: String(match),
            ignoreCase: ignore_case === true,
            contextLines: numberOr(context_lines, defaultContextLines),
            firstLine: numberOr(first_line, 0),
          },
        }
      : "line_count does not go with match.";
  }
  return first_line === undefined && line_count === undefined
    ? { case: undefined }
    : { case: "lines", value: { first: numberOr(first_line, 1), count: numberOr(line_count, 0) } };
}

/** Writes recalled content as text: a line that describes it, the content, and how to read on. */
export function recalledText(content: RecallContentResponse): string {
  const body = content.kind === ContentKind.MEDIA ? mediaLine(content) : bodyOf(content);
  return [`[${headOf(content)}]`, body, ...restOf(content)].join("\n");
}

function headOf(content: RecallContentResponse): string {
  const { sessionId, index, part, resultPart, kind, role, tool, state, totalBytes, totalLines } = content;
  const place = [index, part, resultPart].filter((at) => at !== undefined).join(".");
  const what = [Role[role].toLowerCase(), ContentKind[kind].toLowerCase().replace("_", " ")];
  const size =
    totalLines === 0 ? `${String(totalBytes)} bytes` : `${String(totalBytes)} bytes, ${String(totalLines)} lines`;
  const aside = state === MessageState.PUT_ASIDE ? ", taken back by a revert" : "";
  return `${sessionId}#${place}: ${what.join(" ")}${tool === "" ? "" : ` of ${tool}`}, ${size}${aside}`;
}

function bodyOf({ text, blocks }: RecallContentResponse): string {
  if (blocks.length === 0) {
    return text;
  }
  return blocks
    .map(({ firstLine, text: lines }) => {
      const numbered = lines.replace(/\r?\n$/, "").split("\n");
      return numbered.map((line, at) => `${String(firstLine + at)}: ${line}`).join("\n");
    })
    .join("\n--\n");
}

function mediaLine({ mimeType, name }: RecallContentResponse): string {
  return `A medium of type ${mimeType}${name === "" ? "" : ` named ${name}`}: its bytes cannot be shown as text.`;
}

function restOf({ hasMore, nextLine, nextOffset, kind }: RecallContentResponse): string[] {
  if (!hasMore || kind === ContentKind.MEDIA) {
    return [];
  }
  return [
    nextLine > 0 ? modelText("more_lines", { line: nextLine }) : modelText("more_bytes", { byte: String(nextOffset) }),
  ];
}

function numberOr(value: Arguments[string] | undefined, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}
