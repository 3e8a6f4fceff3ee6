// What a view shows and has to ask for first.

/** Load is an answer, or why there is none yet. */
export class Load<T> {
  value = $state.raw<T | null>(null);
  error = $state.raw<unknown>(null);
  #latest = 0;

  constructor(readonly work: () => Promise<T>) {
    void this.again();
  }

  /** show shows what the server has just answered to something else. An answer that is under way may be older. */
  show(value: T) {
    this.#latest++;
    this.value = value;
    this.error = null;
  }

  /** again asks anew. What is shown stays until the answer is there. */
  again = async () => {
    const mine = ++this.#latest;
    try {
      const value = await this.work();
      if (mine !== this.#latest) return; // a newer question has been asked
      this.value = value;
      this.error = null;
    } catch (e) {
      if (mine === this.#latest) this.error = e;
    }
  };
}

interface Page<T> { items: T[]; nextCursor?: string | null }

/** List is a list that comes by pages. */
export class List<T> extends Load<Page<T>> {
  constructor(readonly page: (cursor?: string) => Promise<Page<T>>) {
    super(() => page());
  }

  more = async () => {
    const have = this.value;
    if (!have?.nextCursor) return;
    try {
      const next = await this.page(have.nextCursor);
      if (this.value !== have) return; // another list is shown by now
      this.value = { items: [...have.items, ...next.items], nextCursor: next.nextCursor };
      this.error = null;
    } catch (e) {
      if (this.value === have) this.error = e;
    }
  };
}
