// What happens at an event right now: sales are asked for, gates tell by themselves.
import { ask, type Schemas } from '../../shared/api/client';
import type { Desk } from '../desk.svelte';

const pace = 4000; // milliseconds between questions
const patience = 3000; // before a lost stream is opened anew

export class Live {
  types = $state.raw<Schemas['TicketType'][] | null>(null);
  orders = $state.raw<Schemas['Order'][]>([]);
  revenue = $state.raw<Schemas['EventSeries'] | null>(null);
  gates = $state.raw<Schemas['GateStats'] | null>(null);
  error = $state.raw<unknown>(null);
  streaming = $state(false);
  #stream: EventSource | null = null;
  #timer = 0;
  #over = false; // nobody looks any more

  constructor(readonly desk: Desk, readonly event: string) {
    $effect(() => {
      void this.look();
      void this.#watch();
      const every = setInterval(() => { if (!document.hidden) void this.look(); }, pace);
      return () => {
        this.#over = true;
        clearInterval(every);
        clearTimeout(this.#timer);
        this.#stream?.close();
      };
    });
  }

  look = async () => {
    const path = { id: this.event }, api = this.desk.api;
    try {
      [this.types, this.orders, this.revenue] = await Promise.all([
        ask(api.GET('/api/v1/events/{id}/tickets', { params: { path } })).then((t) => t.items),
        ask(api.GET('/api/v1/organizer/orders', { params: { query: { orgId: this.desk.org, eventId: this.event, limit: 10 } } })).then((o) => o.items),
        ask(api.GET('/api/v1/organizer/events/{id}/analytics', { params: { path, query: { metric: 'revenue', interval: 'day' } } })),
      ]);
      this.error = null;
    } catch (e) {
      this.error = e;
    }
  };

  /** watch opens the stream of the gates. Its token opens it once, so a lost one gets another. */
  async #watch() {
    try {
      const { token } = await ask(this.desk.api.POST('/api/v1/checkin/event/{id}/live-token', { params: { path: { id: this.event } } }));
      if (this.#over) return;
      const stream = new EventSource(`/api/v1/checkin/event/${this.event}/live?token=${encodeURIComponent(token)}`);
      this.#stream = stream;
      stream.addEventListener('snapshot', (e) => {
        this.gates = JSON.parse((e as MessageEvent<string>).data) as Schemas['GateStats'];
        this.streaming = true;
      });
      stream.onerror = () => {
        stream.close();
        this.#later();
      };
    } catch {
      this.#later();
    }
  }

  #later() {
    if (this.#over) return;
    this.streaming = false;
    this.#timer = window.setTimeout(() => void this.#watch(), patience);
  }
}
