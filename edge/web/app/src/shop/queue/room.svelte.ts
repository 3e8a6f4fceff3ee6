// An event's waiting room as one visitor sees it. The visitor's own figures are asked for; what all see
// comes by a stream as well, which one tab of a browser has open.
import { api, ask, uuid, type Schemas } from '../../shared/api/client';
import { Refusal } from '../../shared/api/refusal';
import { Session } from '../../shared/api/session.svelte';
import { Ticker } from '../../shared/clock.svelte';
import { drop, keep, kept } from '../../shared/storage';
import type { Task } from './work';
import { keepAdmission, keepEntry, keptEntry, type Entry } from '../room';

const pace = 5000; // milliseconds between questions
const hiddenPace = 20_000; // of a tab that nobody looks at
const spread = 2000; // so that all who hear of a draw don't ask in one moment

export type Step = 'loading' | 'none' | 'over' | 'before' | 'join' | 'mailed' | 'full' | 'in' | 'closed' | 'drawn' | 'waiting' | 'admitted' | 'expired';

export class Room {
  event = $state.raw<Schemas['Event'] | null>(null);
  queue = $state.raw<Schemas['Queue'] | null>(null);
  entry = $state.raw<Entry | null>(null);
  error = $state.raw<unknown>(null); // why nothing is shown
  refused = $state.raw<unknown>(null); // why one could not join
  busy = $state(false);
  mailed = $state(''); // the address whose mail brings the link by which one joins
  invitation = $state(''); // the token of that link
  changed = $state<[string, string] | null>(null); // two roots of one draw
  readonly session = new Session();
  readonly ticker = new Ticker();
  #timer = 0;
  #asked = 0;
  #stop = new AbortController();

  readonly you = $derived(this.queue?.you?.draw === this.queue?.draw ? this.queue?.you ?? null : null);
  readonly place = $derived(this.you?.place ?? null);
  readonly ahead = $derived(this.place === null ? null : Math.max(0, this.place - 1 - this.queue!.served));
  readonly admission = $derived(this.you?.admission ?? null);
  readonly left = $derived(this.admission?.expiresAt ? Date.parse(this.admission.expiresAt) - this.ticker.now : 0);

  readonly step: Step = $derived.by(() => {
    const q = this.queue;
    if (!q) return 'loading';
    if (q.state === 'none') return this.entry ? 'over' : 'none';
    if (this.admission) return this.left > 0 ? 'admitted' : 'expired';
    if (!this.you) return q.draining ? 'full' : q.state === 'announced' ? 'before' : this.mailed ? 'mailed' : 'join';
    if (this.place === null) return q.state === 'closed' ? 'closed' : 'in';
    return q.state === 'open' ? 'waiting' : 'drawn';
  });

  constructor(readonly slug: string, readonly moved: Entry | null, invitation: string) {
    this.invitation = invitation;
    $effect(() => {
      const stop = this.#stop = new AbortController();
      void this.load();
      const seen = () => { if (!document.hidden) void this.look(); };
      document.addEventListener('visibilitychange', seen);
      return () => {
        clearTimeout(this.#timer);
        document.removeEventListener('visibilitychange', seen);
        stop.abort();
      };
    });
  }

  load = async () => {
    this.error = null;
    try {
      const event = await ask(api.GET('/api/v1/events/{slug}', { params: { path: { slug: this.slug } } }));
      this.entry = this.moved ?? keptEntry(event.id);
      this.event = event;
      void this.#watch(event.id, this.#stop.signal);
    } catch (e) {
      this.error = e;
      return;
    }
    await this.look();
  };

  /** look asks for the room and for the visitor's place, and again after a while. */
  look = async () => {
    const id = this.event?.id;
    if (!id) return;
    clearTimeout(this.#timer);
    const mine = ++this.#asked;
    let wait = document.hidden ? hiddenPace : pace;
    this.entry ??= keptEntry(id); // another tab may have joined
    const entry = this.entry;
    try {
      const queue = await ask(api.GET('/api/v1/public/events/{id}/queue', { params: { path: { id } }, cache: 'no-store', ...(entry && { headers: { Authorization: `Queue ${entry.token}` } }) }));
      if (mine !== this.#asked) return; // a newer question is on its way
      this.error = null;
      this.#take(queue);
      if (entry && queue.you && entry === this.moved) keepEntry(id, entry);
      if (this.admission && this.left > 0) keepAdmission(id, this.admission as { token: string; expiresAt: string });
    } catch (e) {
      if (mine !== this.#asked) return;
      if (entry && e instanceof Refusal && e.code === 'NOT_FOUND') {
        this.#forget(entry);
        wait = 0;
      } else {
        if (!this.queue) this.error = e;
        if (e instanceof Refusal) wait = Math.max(wait, e.retryAfter * 1000);
      }
    }
    this.#later(wait);
  };

  #later(wait: number) {
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => void this.look(), wait && wait * (0.9 + 0.2 * Math.random()));
  }

  /** #forget lets go of an entry that the room does not know. One that a link brought may hide this browser's own. */
  #forget(entry: Entry) {
    const own = keptEntry(this.event!.id);
    if (own?.token === entry.token) drop(`queue:${this.event!.id}`);
    this.entry = own && own.token !== entry.token ? own : null;
  }

  #take(queue: Schemas['Queue']) {
    this.queue = queue;
    if (queue.you && queue.draw && queue.you.draw !== queue.draw && this.entry) this.#forget(this.entry); // it was of an earlier room
    if (!queue.root) return;
    // The first root that came here is kept. A later one that differs proves a fraud.
    const at = `queue:root:${this.event!.id}:${queue.draw}`, first = kept(at);
    if (!first) keep(at, queue.root);
    else if (first !== queue.root) this.changed = [first, queue.root];
  }

  /** join enters the line, once for all tabs: they share a lock and the key of the request. */
  join = async (party: number, email: string) => {
    if (this.busy) return;
    this.busy = true;
    this.refused = null;
    const id = this.event!.id, attempt = `queue:try:${id}`;
    const enter = async () => {
      const known = keptEntry(id);
      if (known && known.token !== this.entry?.token) {
        this.entry = known;
        return;
      }
      const joined = this.invitation ? await this.#confirm(id, party) : await this.#ask(id, attempt, party, email);
      drop(attempt);
      if (joined.pending) {
        this.mailed = email;
        return;
      }
      this.entry = { token: joined.token!, receipt: joined.receipt! };
      keepEntry(id, this.entry);
    };
    try {
      await (navigator.locks ? navigator.locks.request(attempt, enter) : enter());
      await this.look();
    } catch (e) {
      if (e instanceof Refusal && !e.isPassing) drop(attempt);
      if (e instanceof Refusal && e.code === 'NOT_FOUND') this.invitation = ''; // the form asks for another
      this.refused = e;
    }
    this.busy = false;
  };

  #confirm = (id: string, party: number) => ask(api.POST('/api/v1/public/events/{id}/queue/confirm', { params: { path: { id } }, body: { token: this.invitation, party } }));

  async #ask(id: string, attempt: string, party: number, email: string) {
    // A reload while the answer is on its way repeats the same request, so it is one entry.
    const begun = JSON.parse(kept(attempt) ?? 'null') as { key: string; party: number; work?: string } | null;
    const key = begun?.key ?? uuid(), size = begun?.party ?? party;
    const work = begun?.work ?? await this.#work(size, email);
    keep(attempt, JSON.stringify({ key, party: size, ...(work && { work }) }));
    const proof = this.queue!.rules!.proof !== 'none' && this.session.open ? await this.session.headers() : null;
    return ask(api.POST('/api/v1/public/events/{id}/queue', {
      params: { path: { id }, header: { 'Idempotency-Key': key } }, body: { party: size, ...(email && { email }), ...(work && { work }) }, ...(proof && { headers: proof }),
    }));
  }

  /** #work does the work that the room asks for, in a worker; it is the price of an entry. */
  async #work(party: number, email: string): Promise<string> {
    const { draw, work: bits } = this.queue!;
    if (!bits) return '';
    const { here } = await import('./work');
    const worker = new Worker(here, { type: 'module' });
    const task: Task = { event: this.event!.id, draw, minute: Math.floor(this.ticker.now / 60_000), party, email, bits };
    try {
      return await new Promise<string>((done, fail) => {
        worker.onmessage = (e: MessageEvent<string>) => done(`${task.minute}.${e.data}`);
        worker.onerror = () => fail(new Error('the worker did not start'));
        worker.postMessage(task);
      });
    } finally {
      worker.terminate();
    }
  }

  /** #watch has the stream open as long as this tab is the one that has it. */
  async #watch(id: string, stop: AbortSignal) {
    if (!navigator.locks) return; // asking must do
    await navigator.locks.request(`queue:live:${id}`, { signal: stop }, () => new Promise<void>((done) => {
      const stream = new EventSource(`/api/v1/public/events/${id}/queue/live`);
      const close = () => { stream.close(); done(); };
      stop.addEventListener('abort', close);
      addEventListener('pagehide', close);
      stream.addEventListener('snapshot', (e) => this.#hear(JSON.parse((e as MessageEvent<string>).data) as Schemas['Queue']));
      stream.addEventListener('numbers', (e) => this.#hear(JSON.parse((e as MessageEvent<string>).data) as Pick<Schemas['Queue'], 'count' | 'served'>));
    })).catch(() => null); // the page ended while another tab had it
  }

  /** #hear takes in what all see, and asks for the visitor's own place where that may have changed. */
  #hear(part: Partial<Schemas['Queue']>) {
    const old = this.queue;
    if (!old) return;
    this.#take({ ...old, ...part, you: old.you });
    const turn = this.ahead === 0 && this.place !== null && this.queue!.served >= this.place && !this.admission;
    if (turn || part.state && part.state !== old.state) this.#later(spread * Math.random());
  }
}
