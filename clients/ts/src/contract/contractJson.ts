import { fromJson, type DescMessage, type JsonValue, type MessageShape } from "@bufbuild/protobuf";

/**
 * Converts an object in the contract's JSON to a message. Throws a TypeError that names the argument and the mistake.
 * It contains no values, since they may belong to a conversation.
 */
export function fromObject<T extends DescMessage>(argument: string, schema: T, object: object): MessageShape<T> {
  try {
    return fromJson(schema, object as JsonValue);
  } catch (error) {
    throw new TypeError(`${argument}: ${complaint(error)}`);
  }
}

/** The mistake that protobuf-es found, as a text that is safe to log. */
function complaint(error: unknown): string {
  const said = error instanceof Error ? error.message : "";
  const [, unknownKey] = /key "(\w{1,64})" is unknown$/.exec(said) ?? [];
  if (unknownKey !== undefined) {
    return `there is no field ${unknownKey}`;
  }
  const [, enumeration] = /cannot decode enum [\w.]*?(\w+) from JSON/.exec(said) ?? [];
  if (enumeration !== undefined) {
    return `there is no such ${enumeration}`;
  }
  const [, field] = /cannot decode field [\w.]*?(\w+) from JSON/.exec(said) ?? [];
  return field === undefined ? "is no JSON of the contract" : `${field} has no value of its type`;
}
