import { ScalarType, type DescEnum, type DescField, type DescMessage } from "@bufbuild/protobuf";

import { checkObject } from "./arguments.js";

/**
 * Converts fields to the contract's JSON: each bare list is wrapped in the contract's message for it, which can tell an
 * empty list from none, and the words of enums become their names. Throws a TypeError that names the field where a name
 * is that of no field or a value is not of its type.
 */
export function contractFields(given: unknown, schema: DescMessage, where: string): object {
  checkObject(where, given);
  return Object.fromEntries(
    Object.entries(given as object).map(([name, value]: [string, unknown]) => {
      const field = schema.fields.find((one) => one.jsonName === name || one.name === name);
      if (field === undefined) {
        throw new TypeError(`${where}: ${noField(name, schema)}`);
      }
      return [name, fieldJson(value, field, `${where}.${name}`)];
    }),
  );
}

/** Says that there is no such field, and which one is meant, in the case in which the caller writes names. */
function noField(name: string, { fields }: DescMessage): string {
  const snake = name.replace(/(?<=[a-z0-9])([A-Z])/g, "_$1").toLowerCase();
  const spelt = (field: DescField): string => (name.includes("_") ? field.name : field.jsonName);
  const [nearest] = fields
    .map((field) => ({ field, edits: distance(snake, field.name) }))
    .filter(({ field, edits }) => edits <= Math.max(1, Math.floor(field.name.length / 3)))
    .sort((a, b) => a.edits - b.edits);
  const told =
    nearest === undefined
      ? `there are ${fields.map(spelt).join(", ")}`
      : `did you mean ${JSON.stringify(spelt(nearest.field))}?`;
  return `there is no field ${JSON.stringify(name.slice(0, 64))}: ${told}`;
}

/** How many letters have to be added, left out or replaced to make one text of another. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [i, letter] of Array.from(a.slice(0, 64)).entries()) {
    const next = [i + 1];
    for (const [j, other] of Array.from(b).entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

function fieldJson(value: unknown, field: DescField, where: string): unknown {
  if (value === undefined || value === null) {
    return value;
  }
  switch (field.fieldKind) {
    case "enum":
      return enumJson(value, field.enum, where);
    case "list":
      return Array.isArray(value)
        ? value.map((one: unknown, at) => elementJson(one, field, `${where}[${String(at)}]`))
        : value;
    case "message":
      return messageJson(value, field.message, where);
    case "scalar":
      checkScalar(value, field.scalar, where);
      return value;
    case "map":
      return value;
  }
}

function elementJson(value: unknown, field: DescField & { fieldKind: "list" }, where: string): unknown {
  switch (field.listKind) {
    case "message":
      return messageJson(value, field.message, where);
    case "enum":
      return enumJson(value, field.enum, where);
    case "scalar":
      checkScalar(value, field.scalar, where);
      return value;
  }
}

function messageJson(value: unknown, schema: DescMessage, where: string): unknown {
  if (schema.file.proto.package === "google.protobuf") {
    return value;
  }
  const [list, ...others] = schema.fields;
  if (Array.isArray(value) && list?.fieldKind === "list" && others.length === 0) {
    return { [list.name]: fieldJson(value, list, where) };
  }
  return contractFields(value, schema, where);
}

function enumJson(value: unknown, of: DescEnum, where: string): unknown {
  if (typeof value !== "string") {
    return value;
  }
  const found = of.values.find(({ name, localName }) => name === value || localName.toLowerCase() === value);
  if (found === undefined) {
    const known = of.values.slice(1).map(({ localName }) => localName.toLowerCase());
    throw new TypeError(`${where}: ${JSON.stringify(value.slice(0, 64))} is unknown: use one of ${known.join(", ")}`);
  }
  return found.name;
}

function checkScalar(value: unknown, scalar: ScalarType, where: string): void {
  const kind = value === null ? "null" : Array.isArray(value) ? "list" : typeof value;
  switch (scalar) {
    case ScalarType.UINT32:
    case ScalarType.INT32:
      if (typeof value === "string" && /^\d+$/.test(value)) {
        return;
      }
      if (typeof value !== "number") {
        throw new TypeError(`${where}: must be a whole number, and is ${kind}`);
      }
      if (!Number.isInteger(value) || value < 0 || value > 2 ** 32 - 1) {
        throw new TypeError(
          `${where}: must be a whole number from 0 to ${String(2 ** 32 - 1)}, and is ${String(value)}`,
        );
      }
      return;
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      if (typeof value !== "number" && typeof value !== "string") {
        throw new TypeError(`${where}: must be a number, and is ${kind}`);
      }
      return;
    case ScalarType.BOOL:
      if (typeof value !== "boolean") {
        throw new TypeError(`${where}: must be true or false, and is ${kind}`);
      }
      return;
    case ScalarType.STRING:
      if (typeof value !== "string") {
        throw new TypeError(`${where}: must be a string, and is ${kind}`);
      }
      return;
    default:
      return;
  }
}
