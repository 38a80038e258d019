import type { DescMessage, JsonObject, JsonValue, MessageShape } from "@bufbuild/protobuf";
import { toJson } from "@bufbuild/protobuf";

import type { CompactordError } from "../../src/index.js";
import { Code } from "../../src/index.js";

/** The fields that differ from run to run, wherever they stand: those in clients/cases/README.md. */
const leftOut = [
  "appended_at",
  "changed_at",
  "created_at",
  "duration",
  "ended_at",
  "has_more",
  "next_page_token",
  "plan_token",
  "set_at",
  "time",
  "view_token",
];

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Makes the answers of one case comparable: it numbers the ids that the daemon made, in the order in which it sees them. */
export class Answers {
  private readonly ids = new Map<string, string>();

  /** An answer as the table has it: without what differs from run to run, and without what is empty at its top. */
  comparable(answer: JsonObject, without: readonly string[]): JsonObject {
    const walked = this.walk(answer, new Set([...leftOut, ...without])) as JsonObject;
    return Object.fromEntries(Object.entries(walked).filter(([, value]) => !isEmpty(value)));
  }

  private walk(value: JsonValue, without: ReadonlySet<string>): JsonValue {
    if (Array.isArray(value)) {
      return value.map((element) => this.walk(element, without));
    }
    if (typeof value === "string" && uuid.test(value)) {
      const known = this.ids.get(value) ?? `id ${this.ids.size + 1}`;
      this.ids.set(value, known);
      return known;
    }
    if (typeof value !== "object" || value === null) {
      return value;
    }
    const kept = Object.entries(value).filter(([key]) => !without.has(key));
    // By code unit, as all runners sort.
    kept.sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(kept.map(([key, element]) => [key, this.walk(element, without)]));
  }
}

function isEmpty(value: JsonValue): boolean {
  return !value || (typeof value === "object" && Object.keys(value).length === 0);
}

/** A message as protobuf's JSON with the names of the contract; an empty object where there is none. */
export function json<S extends DescMessage>(schema: S, message: MessageShape<S> | undefined): JsonObject {
  return message === undefined ? {} : (toJson(schema, message, { useProtoFieldName: true }) as JsonObject);
}

/** The messages that a client iterates over, as a list. */
export async function list<S extends DescMessage>(
  schema: S,
  messages: AsyncIterable<MessageShape<S>>,
): Promise<JsonObject[]> {
  const all: JsonObject[] = [];
  for await (const message of messages) {
    all.push(json(schema, message));
  }
  return all;
}

/** An error as the table has it: what programs decide by, and not its text. */
export function failure({ code, reason, metadata, fieldViolations }: CompactordError): JsonObject {
  const fields = fieldViolations.map(({ field }) => field);
  return {
    error: {
      code: Code[code].replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase(),
      reason,
      ...(Object.keys(metadata).length > 0 && { metadata: { ...metadata } }),
      ...(fields.length > 0 && { fields }),
    },
  };
}
