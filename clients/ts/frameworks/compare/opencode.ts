// opencode's own way beside ours: the real program that COMPACTORD_OPENCODE names, as a server.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

import { program, type Way } from "./ways.js";

const folder = join(import.meta.dirname, "../../opencode");

interface Compaction {
  readonly auto: boolean;
  readonly preserve_recent_tokens?: number;
}

interface Answer {
  readonly info?: { readonly error?: unknown };
}

function way(plugins: readonly string[], compaction: (contextWindow: number) => Compaction): Way {
  return async (contextWindow) => {
    const home = mkdtempSync(join(tmpdir(), "compactord-opencode-"));
    const named = ["test-tool.ts", ...plugins].map((name) => pathToFileURL(join(folder, name)).href);
    // opencode compacts when less than the longest answer fits.
    const limit = { context: contextWindow, output: contextWindow / 4 };
    const options = { baseURL: process.env["OPENAI_BASE_URL"], apiKey: "none" };
    const make = { npm: "@ai-sdk/openai-compatible", options, models: { "make-believe": { limit } } };
    const config = {
      provider: { make },
      model: "make/make-believe",
      small_model: "make/make-believe",
      // Its own prompt and tools alone would take most of the window.
      agent: { build: { prompt: "You read files." }, title: { disable: true } },
      plugin: named,
      compaction: compaction(contextWindow),
      autoupdate: false,
      share: "disabled",
    };
    writeFileSync(join(home, "opencode.json"), JSON.stringify(config));
    const own = Object.fromEntries(
      ["DATA", "CONFIG", "STATE", "CACHE"].map((kind) => [`XDG_${kind}_HOME`, join(home, kind)]),
    );
    const server = spawn(process.env["COMPACTORD_OPENCODE"] ?? "opencode", ["serve", "--port", "0"], {
      cwd: home,
      env: { ...process.env, ...own, OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_DEFAULT_PLUGINS: "1" },
      stdio: ["ignore", "pipe", "ignore"],
    });
    process.on("exit", () => {
      server.kill("SIGKILL");
      rmSync(home, { recursive: true, force: true });
    });
    const url = await address(createInterface({ input: server.stdout }));
    const { id } = await post<{ id: string }>(`${url}/session`, { title: "one" });
    return async (text) => {
      const { info } = await post<Answer>(`${url}/session/${id}/message`, { parts: [{ type: "text", text }] });
      if (info?.error !== undefined) {
        throw new Error(JSON.stringify(info.error));
      }
    };
  };
}

/** Where the server says that it listens. */
async function address(lines: AsyncIterable<string>): Promise<string> {
  for await (const line of lines) {
    const found = /listening on (http:\S+)/.exec(line);
    if (found?.[1] !== undefined) {
      return found[1];
    }
  }
  throw new Error("opencode did not start");
}

async function post<Answered>(url: string, body: object): Promise<Answered> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) {
    throw new Error(text);
  }
  return JSON.parse(text) as Answered;
}

const compaction = (window: number): Compaction => ({
  auto: true,
  preserve_recent_tokens: window / 4,
});

await program({
  "no compaction": way([], () => ({ auto: false })),
  "opencode's own compaction": way([], compaction),
  "the plugin": way(["compactord.ts"], compaction),
});
process.exit();
