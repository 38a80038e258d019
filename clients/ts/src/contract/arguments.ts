/** The longest time limit in milliseconds, some 27 hours: gRPC writes one in eight digits. Timers take more. */
const longestLimitMs = 99_999_999;

/** Whether a value is an object, no list and no null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A number within bounds. Throws a TypeError or RangeError that names the argument. */
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

/** An index, a point, a sequence or an id of the log: an integer of 32 bits. Throws a TypeError or RangeError otherwise. */
export function checkedIndex(name: string, value: unknown): number {
  const index = checkedNumber(name, value, 0, 2 ** 32 - 1);
  if (!Number.isInteger(index)) {
    throw new RangeError(`${name}: ${String(index)} is no integer`);
  }
  return index;
}

/** A time limit in whole milliseconds. More than gRPC can write is as good as the most, and Infinity is none. */
export function checkedTimeout(name: string, value: unknown): number {
  const limit = checkedNumber(name, value, 0);
  if (limit === 0) {
    throw new RangeError(`${name}: 0 leaves no time; Infinity is no limit`);
  }
  return limit === Number.POSITIVE_INFINITY ? limit : Math.min(Math.ceil(limit), longestLimitMs);
}

/** Throws a TypeError where something is given for a signal that is none. */
export function checkedSignal(signal: unknown): void {
  if (signal !== undefined && !(isObject(signal) && "aborted" in signal && "addEventListener" in signal)) {
    throw new TypeError("signal: must be an AbortSignal");
  }
}

/** Throws a TypeError where something else than an object is given for one. */
export function checkObject(name: string, given: unknown): void {
  if (!isObject(given)) {
    throw new TypeError(`${name}: must be an object, and is ${typeName(given)}`);
  }
}

/** Throws a TypeError where something else than a list is given for one. */
export function checkList(name: string, given: unknown): void {
  if (!Array.isArray(given)) {
    throw new TypeError(`${name}: must be a list, and is ${typeName(given)}`);
  }
}

function typeName(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "list" : typeof value;
}

/** Throws a TypeError where an object has a key that is none of these, which may be a known one misspelt. */
export function checkKeys(name: string, given: object, known: readonly string[]): void {
  checkObject(name, given);
  const wrong = Object.keys(given).find((key) => !known.includes(key));
  if (wrong !== undefined) {
    throw new TypeError(`${name}: there is no ${wrong}: it takes ${known.join(", ")}`);
  }
}

/** The one of the keys that is set. Throws a TypeError where none is, or more than one. */
export function onlyKey<K extends string>(name: string, given: unknown, keys: readonly K[]): K {
  const set = isObject(given) ? keys.filter((key) => given[key] !== undefined) : [];
  const [first, ...others] = set;
  if (first === undefined || others.length > 0) {
    throw new TypeError(`${name}: set one of ${keys.join(", ")}`);
  }
  return first;
}
