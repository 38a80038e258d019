// How many tokens a view had at each point, as far as that follows from the log.

import { call, canFollow, stream } from "./api.js";

// historyOf returns the tokens at each point, and the records. They are the estimates of single messages, and exact at
// compactions and prunes. arrived is called now and then with how far it is.
export async function historyOf(session, arrived, signal) {
  const last = session.point ?? 0;
  const tokens = new Array(last + 1).fill(0);
  const records = [];
  let at = 0;
  for await (const { message, record } of canFollow ? watched(session, signal) : listed(session, signal)) {
    if (!message && !record) {
      continue;
    }
    const { sequence = 0 } = message ?? record;
    if (sequence > last) {
      break;
    }
    const before = sequence > 0 ? tokens[sequence - 1] : 0;
    tokens[sequence] = message ? before + shownOf(message) : after(record, before, tokens);
    if (record) {
      records.push(record);
    }
    if (++at % 5000 === 0) {
      arrived(at, last + 1);
    }
    if (sequence === last) {
      break;
    }
  }
  return { tokens, records };
}

function shownOf({ tokens = 0, arrivalEdits = [] }) {
  return Math.max(0, tokens - arrivalEdits.reduce((sum, edit) => sum + (edit.tokensFreed ?? 0), 0));
}

function after(record, before, tokens) {
  const made = record.compaction ?? record.prune;
  if (made) {
    return made.tokensAfter ?? 0;
  }
  return record.revert ? tokens[record.revert.point ?? 0] : before;
}

// watched yields all messages and records without what they contain, which a watch alone can leave out.
async function* watched(session, signal) {
  const mine = new AbortController();
  try {
    yield* stream("SessionService/WatchSession", { sessionId: session.sessionId, fromSequence: 0, withoutContent: true },
      AbortSignal.any([signal, mine.signal]));
  } finally {
    mine.abort();
  }
}

// listed yields the same, where nothing can be watched.
async function* listed(session, signal) {
  const all = [];
  for (const [rpc, name, kind] of [["ListMessages", "messages", "message"], ["ListRecords", "records", "record"]]) {
    let pageToken = "";
    do {
      const answer = await call(`SessionService/${rpc}`, { sessionId: session.sessionId, pageSize: 1000, pageToken }, signal);
      all.push(...(answer[name] ?? []).map((one) => ({ [kind]: one })));
      pageToken = answer.nextPageToken ?? "";
    } while (pageToken);
  }
  yield* all.sort((a, b) => ((a.message ?? a.record).sequence ?? 0) - ((b.message ?? b.record).sequence ?? 0));
}
