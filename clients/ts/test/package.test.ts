import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

// The package as it is published: packed, installed where nothing else is, and used from there. `npm test` has built it.

const project = fileURLToPath(new URL("../../", import.meta.url));
const npm = process.platform === "win32" ? "npm.cmd" : "npm";

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

let folder: string;
let packed: Packed;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "compactord-package-"));
  const [only] = JSON.parse(
    await run(npm, ["pack", "--ignore-scripts", "--json", "--pack-destination", folder], project),
  ) as Packed[];
  assert.ok(only);
  packed = only;
});

after(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Runs a program, whose output the error shows if it fails, and returns what it printed. */
async function run(program: string, args: readonly string[], cwd: string): Promise<string> {
  const done = promisify(execFile)(program, args, { cwd, shell: process.platform === "win32" });
  return (
    await done.catch((error: unknown) => {
      const said = error instanceof Error && "stdout" in error ? String(error.stdout) : "";
      throw new Error(`${String(error)}\n${said}`, { cause: error });
    })
  ).stdout;
}

/** The files below a folder that end with a suffix, without it. */
async function modules(below: string, suffix: string): Promise<string[]> {
  const found = await readdir(join(project, below), { recursive: true });
  return found.filter((path) => path.endsWith(suffix)).map((path) => path.slice(0, -suffix.length));
}

test("the tarball holds a module and its types for each source, and nothing else", async () => {
  const sources = (await modules("src", ".ts")).map((path) => `dist/${path.replaceAll("\\", "/")}`);
  const wanted = sources.flatMap((path) => [`${path}.js`, `${path}.d.ts`]);
  assert.ok(wanted.includes("dist/index.d.ts") && wanted.includes("dist/v1.js"));
  assert.deepEqual(
    packed.files.map(({ path }) => path).sort(),
    [...wanted, "LICENSE", "README.md", "docs/api.md", "package.json"].sort(),
  );
  for (const path of wanted) {
    assert.doesNotMatch(await readFile(join(project, path), "utf8"), /sourceMappingURL/, path);
  }
});

test("the README says how to install this version", async () => {
  const text = await readFile(join(project, "README.md"), "utf8");
  const installed = [...text.matchAll(/^npm install (.*)$/gm)].map(([, what]) => what);
  const binary = packed.filename.replace("compactord-", "compactord-linux-x64-");
  assert.deepEqual(installed, [`./${packed.filename} ./${binary}`, `./${packed.filename}`]);
  // Beside a page of the registry there are no files.
  const links = [...text.matchAll(/\]\(([^)]*)\)/g)].map(([, link]) => link ?? "");
  assert.deepEqual(
    links.filter((link) => !/^(#|https:)/.test(link)),
    [],
  );
});

const program = `
import { equal } from "node:assert/strict";
import { create } from "@bufbuild/protobuf";
import { Client } from "compactord";
import { ErrorReason, SessionSchema } from "compactord/v1";

equal(create(SessionSchema, { sessionId: "one" }).sessionId, "one");
equal(ErrorReason[ErrorReason.SESSION_EXISTS], "SESSION_EXISTS");
const client = new Client("127.0.0.1:1");
client.close();
`;

const typed = `
import { Client, type Session, type View } from "compactord";
import type { ReasonName } from "compactord/types";
import { type ContextReport, CompactionReason } from "compactord/v1";

export const busy: ReasonName = "COMPACTION_RUNNING";

export async function fill(client: Client): Promise<number> {
  const session: Session = await client.createSession({ sessionId: "typed", dialect: "openai_chat" });
  const appended = await session.append(["What is new?"]);
  const view: View = await session.view();
  const tokens: string = view.token;
  return appended.nextIndex + tokens.length;
}

// A token is no number: where the types do not reach here, it is any, which is.
export const reached: number extends View["token"] ? never : true = true;

export function full(report: ContextReport): boolean {
  return report.shouldCompact && CompactionReason.OVERFLOW > 0;
}
`;

test("installed it is imported, and types programs without skipLibCheck", async () => {
  const user = join(folder, "user");
  await mkdir(user);
  const { devDependencies } = JSON.parse(await readFile(join(project, "package.json"), "utf8")) as {
    devDependencies: Record<string, string>;
  };
  await writeFile(
    join(user, "package.json"),
    JSON.stringify({
      name: "user",
      private: true,
      type: "module",
      dependencies: { compactord: `file:../${packed.filename}`, "@bufbuild/protobuf": "*" },
      devDependencies: { "@types/node": devDependencies["@types/node"] },
    }),
  );
  await run(npm, ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"], user);
  const { peerDependencies } = JSON.parse(await readFile(join(project, "package.json"), "utf8")) as {
    peerDependencies: Record<string, string>;
  };
  const installed = await run(npm, ["ls", "--all", "--parseable", "--long"], user);
  for (const framework of Object.keys(peerDependencies)) {
    assert.ok(!installed.includes(`:${framework}@`), `${framework} is installed for who does not use it`);
  }
  await writeFile(join(user, "program.js"), program);
  await run(process.execPath, ["program.js"], user);

  await writeFile(join(user, "typed.ts"), typed);
  const compiler = join(project, "node_modules", "typescript", "bin", "tsc");
  const options = ["--strict", "--noEmit", "--skipLibCheck", "false", "--target", "es2022", "--module", "nodenext"];
  // Connect's types name some of the DOM's, which are there unless a program selects its own.
  await run(process.execPath, [compiler, ...options, "--lib", "es2023,dom,esnext.disposable", "typed.ts"], user);
});

// A stand-in for the program: it says what it was given, and ends with a code of its own.
const standIn = `#!/bin/sh
echo "given: $*"
read -r line && echo "read: $line"
exit 7
`;

test(
  "the command is the program of the platform's package",
  { skip: process.platform === "win32" && "the stand-in is a shell's script" },
  async () => {
    const installed = join(folder, "user", "node_modules");
    const command = join(installed, ".bin", "compactord");
    const none = spawnSync(command, ["version"], { encoding: "utf8" });
    assert.equal(none.status, 1);
    assert.match(none.stderr, /@compactord\/\S+, which has the program, is not installed/);

    const name = `${process.platform}-${process.arch}`;
    const bin = join(installed, "@compactord", name, "bin");
    await mkdir(bin, { recursive: true });
    await writeFile(join(bin, "compactord"), standIn, { mode: 0o755 });
    await writeFile(join(bin, "..", "package.json"), JSON.stringify({ name: `@compactord/${name}`, version: "0.1.0" }));
    const ended = spawnSync(command, ["serve", "--store", "x"], { encoding: "utf8", input: "words\n" });
    assert.equal(ended.stdout, "given: serve --store x\nread: words\n");
    assert.equal(ended.status, 7);
    const { stdout, status } = spawnSync(process.execPath, ["--input-type=module", "--eval", startsEmbedded], {
      cwd: join(folder, "user"),
      encoding: "utf8",
      env: { PATH: "" },
    });
    assert.match(stdout, /ended with exit code 7/);
    assert.equal(status, 0);
  },
);

const startsEmbedded = `
import { embedded } from "compactord";
await embedded().catch((e) => console.log(e.message));
`;
