#!/usr/bin/env node
import { spawn } from "node:child_process";
import { constants } from "node:os";

import { ownBinary, platformPackage } from "./wire/binary.js";

/** Becomes the daemon's program, as far as Node can: with its input, output, signals and exit code. */
function run(program: string): void {
  const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    // A terminal sends SIGINT to both; a second one does no harm.
    process.on(signal, () => child.kill(signal));
  }
  child.on("error", (e) => {
    process.stderr.write(`compactord: ${e.message}\n`);
    process.exitCode = 1;
  });
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
  });
}

const program = ownBinary();
if (program === undefined) {
  process.stderr.write(
    `compactord: ${platformPackage}, which has the program, is not installed: there is none for this platform, or optional packages were left out\n`,
  );
  process.exitCode = 1;
} else {
  run(program);
}
