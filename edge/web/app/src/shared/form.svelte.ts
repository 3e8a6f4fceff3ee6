// A form that is being sent: whether it is under way, and what was wrong with it.
import { tick } from 'svelte';
import { uuid } from './api/client';
import { Refusal, type Issue } from './api/refusal';

export class Form {
  busy = $state(false);
  error = $state.raw<unknown>(null);
  #key = uuid();

  get issues(): Issue[] {
    return this.error instanceof Refusal ? this.error.issues : [];
  }

  /** send runs the work once at a time, and says whether it succeeded. What is tried again
   * has the same Idempotency-Key, so that it is done once. */
  async send(work: (key: string) => Promise<unknown>): Promise<boolean> {
    if (this.busy) return false;
    this.busy = true;
    this.error = null;
    try {
      await work(this.#key);
      this.#key = uuid();
      return true;
    } catch (e) {
      this.error = e;
      if (e instanceof Refusal && !e.isPassing) this.#key = uuid();
      void tick().then(() => document.querySelector<HTMLElement>('[aria-invalid=true]')?.focus());
      return false;
    } finally {
      this.busy = false;
    }
  }
}
