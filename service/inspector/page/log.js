// The log of a session, as far as it is loaded.

import { call } from "./api.js";

const pageSize = 100;
const keptPages = 50;

// Log has the messages of a session by index. It loads them by pages, and forgets the oldest pages.
export class Log {
  constructor(session, length, arrived, failed, signal) {
    this.session = session;
    this.length = length;
    this.arrived = arrived;
    this.failed = failed;
    this.signal = signal;
    this.pages = new Map();
  }

  // at returns a message, or nothing while it is being loaded.
  at(index) {
    const number = Math.floor(index / pageSize);
    const page = this.pages.get(number);
    if (page === undefined) {
      this.pages.set(number, this.load(number));
      return undefined;
    }
    return page instanceof Promise ? undefined : page.get(index);
  }

  // loaded waits for a message.
  async loaded(index) {
    this.at(index);
    const number = Math.floor(index / pageSize);
    const page = await this.pages.get(number);
    return page?.get(index);
  }

  async load(number) {
    const page = new Map();
    const end = Math.min(this.length, (number + 1) * pageSize);
    try {
      for (let from = number * pageSize, token = ""; from < end;) {
        const answer = await call("SessionService/ListMessages", {
          sessionId: this.session, fromIndex: token ? 0 : from, pageToken: token, pageSize: end - from,
        }, this.signal);
        const messages = answer.messages ?? [];
        for (const m of messages) {
          page.set(m.index ?? 0, m);
        }
        token = answer.nextPageToken ?? "";
        if (messages.length === 0 || !token) {
          break;
        }
        from = (messages.at(-1).index ?? 0) + 1;
      }
    } catch (error) {
      this.pages.delete(number);
      if (!this.signal.aborted) {
        this.failed(error);
      }
      return page;
    }
    this.pages.set(number, page);
    for (const old of this.pages.keys()) {
      if (this.pages.size <= keptPages) {
        break;
      }
      if (old !== number && !(this.pages.get(old) instanceof Promise)) {
        this.pages.delete(old);
      }
    }
    this.arrived();
    return page;
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
