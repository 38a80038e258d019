import type { Interceptor } from "@connectrpc/connect";
import { ConnectError } from "@connectrpc/connect";

import { orAborted } from "./abort.js";
import { foundToken, sendsNone } from "./ownToken.js";

/** The settings of the token. */
interface TokenOptions {
  readonly token?: string | (() => string | Promise<string>);
  readonly allowPlaintextToken?: boolean;
}

/** Wraps an error of the token, since connect converts unknown errors to a status. */
class TokenFault extends Error {}

/** Where the token would go. */
interface Way {
  /** Whether only this machine can be reached. */
  readonly local: boolean;
  readonly encrypted: boolean;
}

/** Says where the token comes from that a client sends, for an error of the daemon, which does not know it. */
export function tokenOrigin(options: TokenOptions, { local }: Pick<Way, "local">): string {
  if (options.token !== undefined) {
    return "the client sends the one of its option token";
  }
  const found = foundToken();
  return found === undefined || (found.onlyLocal && !local) ? sendsNone() : found.origin();
}

/**
 * Sends the token with each call. Throws a TypeError where others on the network could read it, or it is not a token.
 */
export function tokenInterceptors(options: TokenOptions, { local, encrypted }: Way): Interceptor[] {
  const found = options.token === undefined ? foundToken() : undefined;
  if (found?.onlyLocal === true && !local) {
    return [];
  }
  const token = options.token ?? found?.token;
  if (token === undefined) {
    return [];
  }
  if (!local && !encrypted && options.allowPlaintextToken !== true) {
    throw new TypeError(
      "token: without tls, others on the network could read it; use an address of this machine, tls, or allowPlaintextToken",
    );
  }
  if (typeof token !== "function") {
    checkToken(token);
  }
  const current = async (signal: AbortSignal): Promise<string> => {
    try {
      const given = typeof token === "function" ? await orAborted(Promise.resolve(token()), signal) : token;
      if (found !== undefined && given === "") {
        return "";
      }
      checkToken(given);
      return given;
    } catch (cause) {
      throw signal.aborted ? signal.reason : new TokenFault("token", { cause });
    }
  };
  return [
    (next) => async (request) => {
      const now = await current(request.signal);
      if (now !== "") {
        request.header.set("authorization", `Bearer ${now}`);
      }
      return next(request);
    },
  ];
}

/** The error of the program's own token function, or of the token that it returned, if that ended the call. */
export function tokenFault(thrown: unknown): TokenFault | undefined {
  const cause: unknown = thrown instanceof ConnectError ? thrown.cause : thrown;
  return cause instanceof TokenFault ? cause : undefined;
}

/** Checks a token. The error never contains it, since errors are logged. */
function checkToken(token: unknown): void {
  if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token)) {
    throw new TypeError("token: must be a string of printable ASCII characters without spaces, and not empty");
  }
}
