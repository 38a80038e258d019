// Pi's own way beside ours: the real program, in its mode for other programs, with the Node that COMPACTORD_PI_NODE names.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { program, type Way } from "./ways.js";

const folder = join(import.meta.dirname, "../../pi");
const cli = join(folder, "node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js");

interface Event {
  readonly type: string;
  readonly message?: { readonly role: string; readonly errorMessage?: string };
}

interface Compaction {
  readonly enabled?: boolean;
  readonly reserveTokens?: number;
  readonly keepRecentTokens?: number;
}

function way(extensions: readonly string[], compaction: (contextWindow: number) => Compaction): Way {
  return (contextWindow) => {
    const home = mkdtempSync(join(tmpdir(), "compactord-pi-"));
    const models = [{ id: "make-believe", contextWindow, maxTokens: 1_000 }];
    const made = { baseUrl: process.env["OPENAI_BASE_URL"], api: "openai-completions", apiKey: "none", models };
    writeFileSync(join(home, "models.json"), JSON.stringify({ providers: { "make-believe": made } }));
    writeFileSync(
      join(home, "settings.json"),
      JSON.stringify({ compaction: compaction(contextWindow), retry: { enabled: false } }),
    );
    const own = ["--mode", "rpc", "--session-id", "one", "--model", "make-believe/make-believe", "--no-skills"];
    const named = ["test-tool.ts", ...extensions].flatMap((name) => ["--extension", join(folder, name)]);
    const pi = spawn(process.env["COMPACTORD_PI_NODE"] ?? "node", [cli, ...own, ...named], {
      cwd: home,
      env: { ...process.env, PI_CODING_AGENT_DIR: home, PI_OFFLINE: "1" },
      stdio: ["pipe", "pipe", "ignore"],
    });
    process.on("exit", () => {
      pi.kill();
      rmSync(home, { recursive: true, force: true });
    });
    const events = createInterface({ input: pi.stdout })[Symbol.asyncIterator]();
    return async (message) => {
      pi.stdin.write(`${JSON.stringify({ type: "prompt", message })}\n`);
      let failed: string | undefined;
      for (let next = await events.next(); next.done !== true; next = await events.next()) {
        const event = JSON.parse(next.value) as Event;
        if (event.type === "message_end" && event.message?.role === "assistant") {
          failed = event.message.errorMessage;
        }
        if (event.type === "agent_settled") {
          break;
        }
      }
      if (failed !== undefined) {
        throw new Error(failed);
      }
    };
  };
}

await program({
  "no compaction": way([], () => ({ enabled: false })),
  "Pi's own compaction": way([], (window) => ({ reserveTokens: window / 4, keepRecentTokens: window / 4 })),
  // Pi would compact by its own count, which is of its own list.
  "the extension": way(["compactord.ts"], () => ({ reserveTokens: 500, keepRecentTokens: 1_000 })),
});
process.exit();
