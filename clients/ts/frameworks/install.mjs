// Puts the client, as it is built, where the tests and examples import it from: a package beside the frameworks, as in
// the project of a user. Usage: node install.mjs [FOLDER]; the default is this one.

import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

const client = join(import.meta.dirname, "..");
const installed = join(process.argv[2] ?? import.meta.dirname, "node_modules", "compactord");

rmSync(installed, { recursive: true, force: true });
for (const name of ["dist", "package.json"]) {
  cpSync(join(client, name), join(installed, name), { recursive: true });
}
