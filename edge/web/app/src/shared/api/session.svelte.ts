// Who works at this browser: a session of a person, or the API key of a device.
import { drop, dropHere, keep, keepHere, kept, keptHere } from '../storage';
import { api, ask, type Schemas } from './client';
import { Refusal } from './refusal';

interface Kept { access: string; refresh: string; until: number }

const place = 'session';

export class Session {
  #kept = $state.raw<Kept | null>(read());
  #key = $state(keptHere('key') ?? '');
  #alone = false; // this browser lets pages keep nothing: only this tab has the session
  readonly open = $derived(!!this.#kept || !!this.#key);

  /** signIn signs in, or returns the challenge that asks for a second factor. */
  async signIn(email: string, password: string): Promise<string | null> {
    const answer = await ask(api.POST('/api/v1/auth/login', { body: { email, password } }));
    if ('challengeToken' in answer && answer.challengeToken) return answer.challengeToken as string;
    await this.#enter(answer as Schemas['Tokens']);
    return null;
  }

  async prove(challengeToken: string, code: string) {
    await this.#enter(await ask(api.POST('/api/v1/auth/2fa-verify', { body: { challengeToken, code } })));
  }

  /** askCode has a login code mailed. What it returns goes with the code: so it stays good whatever others ask for. */
  async askCode(email: string): Promise<string> {
    return (await ask(api.POST('/api/v1/auth/token/request', { body: { email } }))).nonce;
  }

  /** exchange signs in by a mailed code, or returns the challenge that asks for a second factor. */
  async exchange(email: string, code: string, nonce: string): Promise<string | null> {
    const answer = await ask(api.POST('/api/v1/auth/token/exchange', { body: { email, code, nonce } }));
    if (answer.challengeToken) return answer.challengeToken;
    await this.#enter(answer as Schemas['Tokens']);
    return null;
  }

  /** signUp opens an organizer's account, and signs in. */
  async signUp(body: Schemas['Register']) {
    await this.#enter(await ask(api.POST('/api/v1/auth/register', { body })));
  }

  /** use works with an API key, as long as the tab is open. */
  use(key: string) {
    keepHere('key', key);
    this.#key = key;
  }

  async signOut() {
    const refreshToken = this.#kept?.refresh;
    drop(place);
    dropHere('key');
    this.#kept = null;
    this.#key = '';
    await forgetDatabase('held');
    if (refreshToken) await api.POST('/api/v1/auth/logout', { body: { refreshToken } }).catch(() => null);
  }

  /** headers prove who asks, with a token that is still good. */
  async headers(): Promise<{ Authorization: string }> {
    if (this.#key) return { Authorization: `Bearer ${this.#key}` };
    // A refresh token is good once: of two tabs, one refreshes and the other reads what came of it.
    const work = async () => {
      const now = this.#alone ? this.#kept : read();
      if (!now) throw new Refusal('UNAUTHORIZED', '', {}, 0, '');
      if (now.until - 30_000 < Date.now()) {
        this.#take(await ask(api.POST('/api/v1/auth/refresh', { body: { refreshToken: now.refresh } })));
      } else {
        this.#kept = now;
      }
    };
    if (!this.#kept || this.#kept.until - 30_000 < Date.now()) {
      try {
        await (navigator.locks ? navigator.locks.request(place, work) : work());
      } catch (e) {
        if (e instanceof Refusal && !e.isPassing) await this.signOut();
        throw e;
      }
    }
    return { Authorization: `Bearer ${this.#kept!.access}` };
  }

  /** #enter begins the session of a person. Passes of the one before are deleted first. */
  async #enter(t: Schemas['Tokens']) {
    drop(place);
    await forgetDatabase('held');
    this.#take(t);
  }

  #take(t: { accessToken: string; refreshToken: string; expiresIn: number }) {
    const kept = { access: t.accessToken, refresh: t.refreshToken, until: Date.now() + t.expiresIn * 1000 };
    this.#kept = kept;
    keep(place, JSON.stringify(kept));
    this.#alone = !read();
  }
}

/** forgetDatabase deletes a database of this browser, and returns once it is gone. */
export function forgetDatabase(name: string): Promise<void> {
  return new Promise((done) => {
    const asked = globalThis.indexedDB?.deleteDatabase(name);
    if (asked) asked.onsuccess = asked.onerror = () => done();
    else done();
  });
}

function read(): Kept | null {
  return JSON.parse(kept(place) ?? 'null') as Kept | null;
}
