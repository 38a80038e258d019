import { accessSync, constants } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";

import { defaults } from "./defaults.js";
import { binaryNotFound } from "./errors.js";

/** The file name of the program. */
const programName = process.platform === "win32" ? "compactord.exe" : "compactord";

/** The package that has the program for this platform, where there is one. */
export const platformPackage = `@compactord/${process.platform}-${process.arch}`;

const build = "`go install ./cmd/compactord` in a clone of compactord";

/** Says what to do where no program is installed. */
const howToBuild = `build it with ${build} and have $(go env GOPATH)/bin on PATH, or give binary or set COMPACTORD_BINARY`;

/** The path of the daemon's program: the given one, that of COMPACTORD_BINARY, the installed one, that of PATH. */
export function findBinary(given: string | undefined): string {
  const named = given ?? process.env[defaults.binaryVariable];
  if (named !== undefined && named !== "") {
    try {
      accessSync(named, constants.X_OK);
    } catch (cause) {
      throw binaryNotFound(`the program ${named} does not exist`, cause);
    }
    return named;
  }
  const found = ownBinary() ?? binaryOnPath();
  if (found === undefined) {
    throw binaryNotFound(
      `${platformPackage}, which has the program, is not installed, and compactord is not on PATH: ${howToBuild}`,
    );
  }
  return found;
}

/** The program that npm installed with this package. */
export function ownBinary(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(`${platformPackage}/bin/${programName}`);
  } catch {
    return undefined;
  }
}

/** The command line that starts a daemon. */
export function startCommand(): string {
  return binaryOnPath() === undefined && ownBinary() !== undefined ? "npx compactord serve" : "compactord serve";
}

/** What to say beside {@link startCommand} where its program is not there; empty where it is. */
export function toBuild(): string {
  const there = binaryOnPath() !== undefined || ownBinary() !== undefined;
  return there ? "" : ` (${build} makes the program, which is not on PATH here)`;
}

function binaryOnPath(): string | undefined {
  return (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, programName))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
