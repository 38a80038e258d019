// Follows a session: what is appended, what is recorded, and the compaction that runs.

import { Refused, stream } from "./api.js";
import { shown } from "./text.js";

const gathering = 150;
const shortest = 1000;
const longest = 30_000;

// follow calls changed, a little later, when the log has grown, with its length and whether a record is new; event with each
// event of a compaction; and said with what keeps it from following, if anything does. It ends with the signal.
export async function follow(session, { changed, event, said }, signal) {
  const state = { from: (session.point ?? 0) + 1, length: session.nextIndex ?? 0, stale: false, timer: undefined };
  let wait = shortest;

  function tell() {
    state.timer ??= setTimeout(() => {
      const { stale } = state;
      state.timer = undefined;
      state.stale = false;
      changed(state.length, stale);
    }, gathering);
  }

  signal.addEventListener("abort", () => clearTimeout(state.timer));
  while (!signal.aborted) {
    try {
      const request = { sessionId: session.sessionId, uid: session.uid, fromSequence: state.from, withoutContent: true, events: true };
      for await (const answer of stream("SessionService/WatchSession", request, signal)) {
        said("");
        wait = shortest;
        if (answer.event) {
          event(answer.event);
        } else if (answer.message || answer.record) {
          const { message, record } = answer;
          state.from = (message ?? record).sequence + 1;
          state.length = message ? (message.index ?? 0) + 1 : Math.max(state.length, record.nextIndex ?? 0);
          state.stale ||= record !== undefined;
          tell();
        }
      }
      said("The daemon has ended the watch. Trying again …");
    } catch (error) {
      if (signal.aborted) {
        return;
      }
      said(`This page does not follow the session: ${shown(error.message)}`);
      if (error instanceof Refused) {
        return;
      }
    }
    await later(wait, signal);
    wait = Math.min(longest, 2 * wait);
  }
}

// later waits for some milliseconds, or until the signal.
function later(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true });
  });
}
