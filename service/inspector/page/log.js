// The log of a session, as far as it is loaded.

import { call } from "./api.js";

const pageSize = 100;
const keptPages = 50;

// Log has the messages of a session by index. It loads them by pages, and forgets the oldest pages. A page that is loaded
// again shows what it had until then.
export class Log {
  constructor(session, length, arrived, failed, signal) {
    this.session = session;
    this.length = length;
    this.arrived = arrived;
    this.failed = failed;
    this.signal = signal;
    this.pages = new Map();
    this.age = 0;
  }

  // at returns a message, or nothing while it is being loaded for the first time.
  at(index) {
    return this.page(Math.floor(index / pageSize)).messages?.get(index);
  }

  // loaded waits for a message.
  async loaded(index) {
    const page = this.page(Math.floor(index / pageSize));
    await page.loading;
    return page.messages?.get(index);
  }

  // grow makes room for messages that were appended. stale says that all messages may stand elsewhere than before.
  grow(length, stale) {
    const last = this.pages.get(Math.floor(this.length / pageSize));
    if (last) {
      last.age = undefined;
    }
    this.length = length;
    if (stale) {
      this.age++;
    }
  }

  // page returns a page, and has it loaded where it is not, or is out of date.
  page(number) {
    const page = this.pages.get(number) ?? {};
    if (page.age !== this.age) {
      page.age = this.age;
      this.pages.set(number, page);
      this.forget();
      page.loading = this.load(number, page);
    }
    return page;
  }

  forget() {
    for (const [number, old] of this.pages) {
      if (this.pages.size <= keptPages) {
        break;
      }
      if (old.messages) {
        this.pages.delete(number);
      }
    }
  }

  async load(number, page) {
    const { age } = page;
    const messages = new Map();
    const end = Math.min(this.length, (number + 1) * pageSize);
    try {
      for (let from = number * pageSize, pageToken = ""; from < end;) {
        const answer = await call("SessionService/ListMessages", {
          sessionId: this.session, fromIndex: pageToken ? 0 : from, pageToken, pageSize: end - from,
        }, this.signal);
        for (const m of answer.messages ?? []) {
          messages.set(m.index ?? 0, m);
        }
        pageToken = answer.nextPageToken ?? "";
        if (!pageToken || !answer.messages?.length) {
          break;
        }
        from = (answer.messages.at(-1).index ?? 0) + 1;
      }
    } catch (error) {
      this.pages.delete(number);
      if (!this.signal.aborted) {
        this.failed(error);
      }
      return;
    }
    // What was asked for later is newer.
    if (page.age === age) {
      page.messages = messages;
    }
    this.arrived();
  }
}

// loadConversation calls arrived with the indexes of the messages that are conversation, whenever there are more.
export async function loadConversation(session, arrived, signal) {
  const indexes = [];
  let pageToken = "";
  do {
    const answer = await call("SessionService/ListMessages", {
      sessionId: session, listing: "MESSAGE_LISTING_DIALOGUE", pageSize: 1000, pageToken,
    }, signal);
    indexes.push(...(answer.messages ?? []).map((m) => m.index ?? 0));
    arrived(indexes);
    pageToken = answer.nextPageToken ?? "";
  } while (pageToken);
}
