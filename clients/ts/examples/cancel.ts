/**
 * Compacts a session of the daemon at COMPACTORD_ADDR. Ctrl-C cancels the compaction; pressed twice, it ends the program:
 *
 *     node cancel.js SESSION
 */
import { argv, exit } from "node:process";

import { Client, CompactordError } from "compactord";

const [, , sessionId] = argv;
if (sessionId === undefined) {
  console.error("usage: node cancel.js SESSION");
  exit(2);
}

await using client = new Client();
const compaction = client.session(sessionId).compacting();

let cancelled: Promise<void> | undefined;
process.on("SIGINT", () => {
  if (cancelled !== undefined) {
    exit(130);
  }
  console.error("Cancelling. Press Ctrl-C again to leave at once.");
  cancelled = compaction.cancel();
});

try {
  for await (const { event } of compaction) {
    if (event.case !== "summaryDelta" && event.case !== "heartbeat") {
      console.error(event.case);
    }
  }
} catch (error) {
  if (!(error instanceof CompactordError && error.reason === "CANCELLED")) {
    throw error;
  }
  // Settles once the daemon has ended it.
  await cancelled;
  console.error("Cancelled: nothing has changed.");
  process.exitCode = 1;
}
