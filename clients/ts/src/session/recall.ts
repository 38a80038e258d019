import type { Client as Stub } from "@connectrpc/connect";
import type { MessageInitShape } from "@bufbuild/protobuf";

import { checkedIndex, checkKeys, checkObject } from "../contract/arguments.js";
import { callOptions } from "../wire/calls.js";
import type { RecallOptions } from "./options.js";
import type { RecallContentRequestSchema, RecallContentResponse, SessionService } from "../v1.js";

/** The most bytes of one response. */
const maxPageBytes = 3_145_728;

type Range = NonNullable<MessageInitShape<typeof RecallContentRequestSchema>["range"]>;

/** All options of a recall. Other keys are refused: they may be misspelt. */
const takenOptions: Readonly<Record<keyof RecallOptions, true>> = {
  signal: true,
  timeoutMs: true,
  part: true,
  resultPart: true,
  bytes: true,
  lines: true,
  match: true,
  maxBytes: true,
};

/** Recalls content. Without `maxBytes`, fetches all pages and joins them to one response. */
export async function recallAll(
  stub: Stub<typeof SessionService>,
  sessionId: string,
  what: number | string,
  options: RecallOptions,
): Promise<RecallContentResponse> {
  checkKeys("recall", options, Object.keys(takenOptions));
  const range = (["bytes", "lines", "match"] as const).filter((kind) => options[kind] !== undefined);
  for (const kind of range) {
    checkObject(kind, options[kind]);
  }
  if (range.length > 1) {
    throw new TypeError(`recall: set one of ${range.join(" and ")}`);
  }
  const call = callOptions(options);
  const asked =
    typeof what === "number"
      ? ({ case: "index", value: checkedIndex("index", what) } as const)
      : ({ case: "reference", value: what } as const);
  const ask = (range: Range): Promise<RecallContentResponse> =>
    stub.recallContent(
      {
        sessionId,
        what: asked,
        range,
        maxBytes: options.maxBytes ?? maxPageBytes,
        ...(options.part !== undefined && { part: options.part }),
        ...(options.resultPart !== undefined && { resultPart: options.resultPart }),
      },
      call,
    );
  const first = await ask(rangeOf(options));
  let last = first;
  while (last.hasMore && options.maxBytes === undefined && !endsWithinLine(options, last)) {
    last = await ask(restOf(options, last));
    first.text += last.text;
    first.data = joinedBytes(first.data, last.data);
    first.blocks.push(...last.blocks);
  }
  return { ...first, hasMore: last.hasMore, nextOffset: last.nextOffset, nextLine: last.nextLine };
}

function rangeOf({ bytes, lines, match }: RecallOptions): Range {
  if (bytes !== undefined) {
    return { case: "bytes", value: { offset: bytes.offset, length: bytes.length ?? 0 } };
  }
  if (lines !== undefined) {
    return { case: "lines", value: { first: lines.first, count: lines.count ?? 0 } };
  }
  return match === undefined ? { case: undefined } : { case: "match", value: match };
}

/** The rest of the range after a response. */
function restOf({ bytes, lines, match }: RecallOptions, last: RecallContentResponse): Range {
  if (match !== undefined) {
    return { case: "match", value: { ...match, firstLine: last.nextLine } };
  }
  if (lines?.count !== undefined && lines.count > 0) {
    return { case: "lines", value: { first: last.nextLine, count: lines.first + lines.count - last.nextLine } };
  }
  const end = bytes?.length !== undefined && bytes.length > 0 ? bytes.offset + bytes.length : undefined;
  return { case: "bytes", value: { offset: last.nextOffset, length: end === undefined ? 0 : end - last.nextOffset } };
}

/** Whether a single line is larger than a response. Only a request for bytes can get the rest of such a line. */
function endsWithinLine({ lines }: RecallOptions, last: RecallContentResponse): boolean {
  return lines?.count !== undefined && lines.count > 0 && last.nextLine === 0;
}

function joinedBytes(a: Uint8Array, b: Uint8Array): Uint8Array {
  const all = new Uint8Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all;
}
