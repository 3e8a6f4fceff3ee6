// Who works here, and for which organization.
import { ask, proving, type Client, type Schemas } from '../shared/api/client';
import type { Session } from '../shared/api/session.svelte';
import { keep, kept } from '../shared/storage';

export class Desk {
  readonly api: Client;
  me = $state.raw<Schemas['Me'] | null>(null);
  #chosen = $state(kept('organization') ?? '');
  readonly organization = $derived(this.me?.organizations.find((o) => o.id === this.#chosen) ?? this.me?.organizations[0] ?? null);

  constructor(readonly session: Session) {
    this.api = proving(() => session.headers());
  }

  async arrive() {
    return this.me = await ask(this.api.GET('/api/v1/users/me'));
  }

  choose(id: string) {
    keep('organization', id);
    this.#chosen = id;
  }

  /** org is the chosen organization, for requests. */
  get org(): string {
    return this.organization?.id ?? '';
  }

  async leave() {
    await this.session.signOut();
    this.me = null;
  }
}
