/** How many of its appends an object knows to be its own, where messages of others lie between them. */
const remembered = 1_000;

/**
 * Where a session object is in the log: the index up to which it knows all messages. Its own appends move the index on.
 * Those of others do not, so that the daemon refuses an append that expects this index after them.
 */
export class Position {
  #next: number | undefined;
  #own: { readonly first: number; readonly after: number }[] = [];
  readonly #sending = new Set<Promise<unknown>>();

  /** The index; undefined before the first start. */
  get nextIndex(): number | undefined {
    return this.#next;
  }

  /** Takes the log up to an index as known, whoever wrote it. */
  start(nextIndex: number): void {
    this.#next = Math.max(this.#next ?? 0, nextIndex);
    this.#moveOn();
  }

  /** Knows nothing of the log any more. */
  forget(): void {
    this.#next = undefined;
    this.#own = [];
  }

  /** Notes messages that this object has written. */
  wrote(first: number, after: number): void {
    this.#own = [...this.#own, { first, after }].slice(-remembered);
    this.#moveOn();
  }

  /** Whether this object has written a message. */
  isOwn(index: number): boolean {
    return this.#own.some(({ first, after }) => first <= index && index < after);
  }

  /** Executes an append, for which {@link settled} waits. What it notes must be noted when its promise settles. */
  async sending<T>(append: Promise<T>): Promise<T> {
    this.#sending.add(append);
    try {
      return await append;
    } finally {
      this.#sending.delete(append);
    }
  }

  /** Waits for the appends that are under way now. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#sending);
  }

  /** Moves the index to the end of the own messages that begin at it. */
  #moveOn(): void {
    if (this.#next === undefined) {
      return;
    }
    let next = this.#next;
    for (const { first, after } of this.#own.toSorted((one, other) => one.first - other.first)) {
      next = first <= next && next < after ? after : next;
    }
    this.#own = this.#own.filter(({ after }) => after > next);
    this.#next = next;
  }
}
