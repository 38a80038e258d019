import type { Client, Session } from "../client/client.js";
import type { PolicyLike } from "../contract/policy.js";

/** So many sessions are kept: a server has conversations without end. */
const most = 1000;

/** The sessions that an adapter has opened, by their ids. Those that were not used for longest are opened again. */
export class OpenedSessions {
  /** In the order of their last use. */
  readonly #held = new Map<string, Promise<Session>>();

  constructor(
    private readonly client: Client,
    private readonly policy: PolicyLike,
  ) {}

  /** The session with this id. It is made where there is none. */
  get(id: string): Promise<Session> {
    const held = this.#held.get(id) ?? this.#open(id);
    this.#held.delete(id);
    this.#held.set(id, held);
    for (const oldest of this.#held.keys()) {
      if (this.#held.size <= most) {
        break;
      }
      this.#held.delete(oldest);
    }
    return held;
  }

  #open(id: string): Promise<Session> {
    const opened = this.client.openSession(id, { policy: this.policy });
    // What could not be opened is tried again.
    opened.catch(() => {
      if (this.#held.get(id) === opened) {
        this.#held.delete(id);
      }
    });
    return opened;
  }
}
