/**
 * Compacts a session of the daemon at COMPACTORD_ADDR, and shows how it goes on:
 *
 *     node progress.js SESSION
 */
import { argv, exit } from "node:process";

import ora from "ora";

import { Client } from "compactord";
import { CompactionStage, type CompactionEvent } from "compactord/v1";

const [, , sessionId] = argv;
if (sessionId === undefined) {
  console.error("usage: node progress.js SESSION");
  exit(2);
}

await using client = new Client();
const spinner = ora("Planning").start();
const compaction = client.session(sessionId).compacting();
try {
  for await (const { event } of compaction) {
    spinner.text = textOf(event) ?? spinner.text;
  }
} catch (error) {
  spinner.fail("Failed: nothing has changed");
  throw error;
}

const { result } = compaction;
if (result?.done === true) {
  const tokens = result.compaction ?? result.prune;
  spinner.succeed(`${String(tokens?.tokensBefore ?? 0)} tokens before, ${String(tokens?.tokensAfter ?? 0)} after`);
} else {
  spinner.info(result?.message ?? "");
}

function textOf(event: CompactionEvent["event"]): string | undefined {
  switch (event.case) {
    case "started":
      return `Compacting ${String(event.value.plan?.tokensBefore ?? 0)} tokens`;
    case "progress": {
      const { stage, done, total } = event.value;
      const percent = total === 0 ? 100 : Math.floor((100 * done) / total);
      return `${CompactionStage[stage].toLowerCase()}: ${String(percent)} %`;
    }
    default:
      return undefined;
  }
}
