import type { Interceptor } from "@connectrpc/connect";
import { ConnectError } from "@connectrpc/connect";

import { orAborted } from "./abort.js";

/** What a token is given as, and how it is guarded. */
interface TokenOptions {
  readonly token?: string | (() => string | Promise<string>);
  readonly allowPlaintextToken?: boolean;
}

/** Carries what went wrong with a token past connect, which makes a status of what it does not know. */
class TokenFault extends Error {}

/** Has each call carry the token. Throws a TypeError where the network could read it, or where it is none. */
export function tokenInterceptors({ token, allowPlaintextToken }: TokenOptions, isPrivate: boolean): Interceptor[] {
  if (token === undefined) {
    return [];
  }
  if (!isPrivate && allowPlaintextToken !== true) {
    throw new TypeError("token: without tls the network could read it; set tls, or allowPlaintextToken");
  }
  if (typeof token !== "function") {
    checkToken(token);
  }
  const current = async (signal: AbortSignal): Promise<string> => {
    try {
      const given = typeof token === "function" ? await orAborted(Promise.resolve(token()), signal) : token;
      checkToken(given);
      return given;
    } catch (cause) {
      throw signal.aborted ? signal.reason : new TokenFault("token", { cause });
    }
  };
  return [
    (next) => async (request) => {
      request.header.set("authorization", `Bearer ${await current(request.signal)}`);
      return next(request);
    },
  ];
}

/** What the program's own function threw for a token, or what is wrong with what it answered, if that ended a call. */
export function tokenFault(thrown: unknown): TokenFault | undefined {
  const cause: unknown = thrown instanceof ConnectError ? thrown.cause : thrown;
  return cause instanceof TokenFault ? cause : undefined;
}

/** The error never has the token: errors are logged. */
function checkToken(token: unknown): void {
  if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token)) {
    throw new TypeError("token: must be a string of printable ASCII characters without spaces, and not empty");
  }
}
