import type { Client, Session } from "../client/client.js";
import type { PolicyLike } from "../contract/policy.js";
import { SessionExistsError } from "../wire/errors.js";

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

  /** The session with this id. It is made where there is none, and gets the policy where it has another one. */
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
    const opened = this.#made(id);
    // What could not be opened is tried again.
    opened.catch(() => {
      if (this.#held.get(id) === opened) {
        this.#held.delete(id);
      }
    });
    return opened;
  }

  async #made(id: string): Promise<Session> {
    try {
      return await this.client.openSession(id, { policy: this.policy });
    } catch (error) {
      if (!(error instanceof SessionExistsError)) {
        throw error;
      }
    }
    // The program has another policy now, such as for a model with another window.
    const session = this.client.session(id);
    await session.update({ policy: this.policy });
    return session;
  }
}
