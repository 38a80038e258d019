import { type DescMessage, ScalarType } from "@bufbuild/protobuf";

/** The longest time limit in milliseconds, about 27 hours: gRPC writes it with eight digits. */
const longestLimitMs = 99_999_999;

/** Whether a value is an object, but not a list and not null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Checks a number and its bounds. Throws a TypeError or RangeError that names the argument. */
export function checkedNumber(
  name: string,
  value: unknown,
  least: number,
  most: number = Number.POSITIVE_INFINITY,
): number {
  if (typeof value !== "number") {
    throw new TypeError(`${name}: must be a number, and is ${typeof value}`);
  }
  if (!(value >= least)) {
    throw new RangeError(`${name}: ${String(value)} is less than ${String(least)}`);
  }
  if (value > most) {
    throw new RangeError(`${name}: ${String(value)} is more than ${String(most)}`);
  }
  return value;
}

/** Checks an index, a point, a sequence or an id: an unsigned integer of 32 bits. Throws a TypeError or RangeError. */
export function checkedIndex(name: string, value: unknown): number {
  const index = checkedNumber(name, value, 0, 2 ** 32 - 1);
  if (!Number.isInteger(index)) {
    throw new RangeError(`${name}: ${String(index)} is no integer`);
  }
  return index;
}

/**
 * Checks a time limit and rounds it up to whole milliseconds. Limits it to what gRPC can write; Infinity means none.
 */
export function checkedTimeout(name: string, value: unknown): number {
  const limit = checkedNumber(name, value, 0);
  if (limit === 0) {
    throw new RangeError(`${name}: 0 leaves no time; use Infinity for no limit`);
  }
  return limit === Number.POSITIVE_INFINITY ? limit : Math.min(Math.ceil(limit), longestLimitMs);
}

/** Throws a TypeError where the signal is given and is not an AbortSignal. */
export function checkedSignal(signal: unknown): void {
  if (signal !== undefined && !(isObject(signal) && "aborted" in signal && "addEventListener" in signal)) {
    throw new TypeError("signal: must be an AbortSignal");
  }
}

/** Throws a TypeError where the value is not an object. */
export function checkObject(name: string, given: unknown): void {
  if (!isObject(given)) {
    throw new TypeError(`${name}: must be an object, and is ${typeName(given)}`);
  }
}

/** Throws a TypeError where the value is given and is not a function. */
export function checkFunction(name: string, given: unknown): void {
  if (given !== undefined && typeof given !== "function") {
    throw new TypeError(`${name}: must be a function, and is ${typeName(given)}`);
  }
}

/** Throws a TypeError where this is no id of a session. The daemon would create a new session where it is empty. */
export function checkId(given: unknown): void {
  if (typeof given !== "string" || given === "") {
    throw new TypeError(
      `sessionId: must be a string that is not empty, and is ${given === "" ? "empty" : typeName(given)}`,
    );
  }
}

/** Throws a TypeError where labels are given and are not an object of strings. */
export function checkLabels(given: unknown): void {
  if (given === undefined) {
    return;
  }
  checkObject("labels", given);
  for (const [name, value] of Object.entries(given as object)) {
    checkText(`labels.${name}`, value as unknown);
  }
}

/** Throws a TypeError where the value is given and is not a string. */
export function checkText(name: string, given: unknown): void {
  if (given !== undefined && typeof given !== "string") {
    throw new TypeError(`${name}: must be a string, and is ${typeName(given)}`);
  }
}

/** Throws a TypeError where the value is given and is neither true nor false. */
function checkFlag(name: string, given: unknown): void {
  if (given !== undefined && typeof given !== "boolean") {
    throw new TypeError(`${name}: must be true or false, and is ${typeName(given)}`);
  }
}

/**
 * Throws a TypeError where a text or a flag of a request is none. The names of its fields are those of the options.
 * protobuf-es writes other values as texts and as flags.
 */
export function checkTextsAndFlags(schema: DescMessage, request: object): void {
  for (const field of schema.fields) {
    const value = (request as Readonly<Record<string, unknown>>)[field.localName];
    if (field.fieldKind === "scalar" && field.scalar === ScalarType.STRING) {
      checkText(field.localName, value);
    } else if (field.fieldKind === "scalar" && field.scalar === ScalarType.BOOL) {
      checkFlag(field.localName, value);
    }
  }
}

/** Throws a TypeError where the value is not a list. */
export function checkList(name: string, given: unknown): void {
  if (!Array.isArray(given)) {
    throw new TypeError(`${name}: must be a list, and is ${typeName(given)}`);
  }
}

function typeName(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "list" : typeof value;
}

/** Throws a TypeError where an object has another key than these, which may be misspelt. */
export function checkKeys(name: string, given: object, known: readonly string[]): void {
  checkObject(name, given);
  const wrong = Object.keys(given).find((key) => !known.includes(key));
  if (wrong !== undefined) {
    throw new TypeError(`${name}: there is no ${wrong}: it takes ${known.join(", ")}`);
  }
}

/** Returns the only key that is set. Throws a TypeError where none or several are. */
export function onlyKey<K extends string>(name: string, given: unknown, keys: readonly K[]): K {
  const set = isObject(given) ? keys.filter((key) => given[key] !== undefined) : [];
  const [first, ...others] = set;
  if (first === undefined || others.length > 0) {
    throw new TypeError(`${name}: set exactly one of ${keys.join(", ")}`);
  }
  return first;
}
