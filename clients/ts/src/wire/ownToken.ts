import { existsSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

import { defaults } from "./defaults.js";

/** The bits of a mode that let other users read or change a file. */
const forOthers = 0o077;

/** The token that a client sends without the option: of the environment, else of the user's own daemon. */
export interface FoundToken {
  /** Returns the token; an empty text where there is none. Throws a TypeError where its file cannot be used. */
  readonly token: () => string;
  /** Says where the token comes from. */
  readonly origin: () => string;
  /** Whether it is only for daemons of this machine, and is not sent elsewhere. */
  readonly onlyLocal: boolean;
}

/** Finds the token of the environment, else that of the user's own daemon. */
export function foundToken(): FoundToken | undefined {
  const given = (process.env[defaults.tokenVariable] ?? "").trim();
  if (given !== "") {
    const origin = (): string => `the client sends that of ${defaults.tokenVariable}`;
    return { token: () => given, origin, onlyLocal: false };
  }
  const named = process.env[defaults.tokenFileVariable] ?? "";
  const path = named === "" ? defaultFile() : named;
  return { token: tokenOf(path), origin: () => originOf(path), onlyLocal: named === "" };
}

/** What a client says that sends no token. */
export const sendsNone = (why = ""): string =>
  `the client sends none${why}: give it the option token, or set ${defaults.tokenVariable} or ${defaults.tokenFileVariable}`;

function originOf(path: string): string {
  return existsSync(path) ? `the client sends that of the file ${path}` : sendsNone(`, since there is no file ${path}`);
}

/** Reads a file again when it has changed, since a daemon may make it later or anew. */
function tokenOf(path: string): () => string {
  let seen = "";
  let token = "";
  return () => {
    const status = statSync(path, { throwIfNoEntry: false });
    if (status === undefined) {
      return "";
    }
    const now = [status.ino, status.mtimeMs, status.size, status.mode].join();
    if (now !== seen) {
      if (process.platform !== "win32" && (status.mode & forOthers) !== 0) {
        throw new TypeError(
          `the token file ${path} can be read or changed by others than its owner: take that away with chmod 600`,
        );
      }
      token = readFileSync(path, "utf8").trim();
      seen = now;
    }
    return token;
  };
}

/** The file in which a daemon of this user makes its token. */
function defaultFile(): string {
  const base = process.env["XDG_STATE_HOME"] ?? "";
  return join(base === "" ? stateFolder() : base, "compactord", "token");
}

function stateFolder(): string {
  switch (process.platform) {
    case "win32":
      return process.env["APPDATA"] ?? join(homedir(), "AppData", "Roaming");
    case "darwin":
      return join(homedir(), "Library", "Application Support");
    default:
      return join(homedir(), ".local", "state");
  }
}
