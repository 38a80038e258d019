import { Client, type Session } from "../client/client.js";
import type { Synced } from "../compaction/synced.js";
import { isObject } from "../contract/arguments.js";
import { policyOf, type PolicyLike } from "../contract/policy.js";
import { BlockedBy, Role } from "../v1.js";
import { warn } from "../view/warnings.js";

/** Throws a TypeError where an adapter was given no session: a Promise of one is easily forgotten to be awaited. */
export function checkSession(session: unknown): asserts session is Session {
  if (isObject(session) && typeof session["then"] === "function") {
    throw new TypeError("session: is a Promise: await it, as in `await client.openSession(...)`");
  }
  if (!isObject(session) || typeof session["sync"] !== "function") {
    const given = session instanceof Client ? "a Client" : session === null ? "null" : typeof session;
    throw new TypeError(`session: must be what \`await client.openSession(...)\` returns, and is ${given}`);
  }
}

/** Throws a TypeError where an adapter that opens sessions itself was not given a client and a policy, both as they are. */
export function checkPolicy(client: unknown, options: unknown): PolicyLike {
  if (!isObject(client) || typeof client["openSession"] !== "function") {
    throw new TypeError("client: must be a Client, such as `new Client()`");
  }
  if (!isObject(options) || !isObject(options["policy"])) {
    throw new TypeError("options: give a policy, such as { policy: { contextWindow: 200_000 } }");
  }
  const policy = options["policy"] as PolicyLike;
  // What is misspelt is found here, and not with the first call of a model.
  policyOf(policy);
  return policy;
}

/** Of each session: what a warning was given of. */
const warned = new WeakMap<Session, Set<string>>();

/** Has Node warn of this, once for a session object. */
export function warnOnce(session: Session, text: string): void {
  const given = warned.get(session) ?? new Set();
  warned.set(session, given);
  if (!given.has(text)) {
    given.add(text);
    warn(text);
  }
}

/** Warns of what the answer to a sync shows of the mistakes that are otherwise silent. */
export function warnOfMistakes(session: Session, messages: readonly object[], synced: Synced): void {
  const blocked = new Set(synced.report?.blockedBy);
  if (blocked.has(BlockedBy.WINDOW_UNKNOWN) && !blocked.has(BlockedBy.DISABLED)) {
    const what = `the policy of the session ${session.id} has no context window, so nothing is ever compacted`;
    warnOnce(session, `${what}: give one, such as { contextWindow: 200_000 }`);
  }
  // One message alone may be a question that nobody answered.
  if (synced.putAside > 1 && !synced.beginsWithView && synced.known <= leadingIn(messages)) {
    const what = `the messages have nothing of what the session ${session.id} holds, so the log puts that aside`;
    warnOnce(session, `${what}: is the history of the conversation given to each call?`);
  }
}

/** The roles of instructions, in neutral messages and in those of OpenAI. */
const instructing: ReadonlySet<unknown> = new Set([Role.SYSTEM, Role.DEVELOPER, "system", "developer"]);

/** How many instructions begin a list. */
function leadingIn(messages: readonly object[]): number {
  const found = messages.findIndex((one) => !instructing.has(Reflect.get(one, "role")));
  return found < 0 ? messages.length : found;
}
