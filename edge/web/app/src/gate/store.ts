// What a gate device must not forget, in the browser's own database (IndexedDB): what it was set up
// for, the event's manifest and its deltas, and the scans with what the server said of them.
import type { Decision, Manifest } from './roster';

/** Setup is what a device was set up for. key is empty where a person has signed in; guests: the key
 * may read guests. */
export interface Setup { event: string; title: string; gate: string; key: string; guests: boolean }

/** Told is what the server says of a scan; when is by the device's own clock. */
export interface Told extends Decision { when: number; gate: string; at: string; holder: string; ticketCode: string }

/** Scan is a code that was shown, and what came of it. at is by the corrected clock, in
 * milliseconds. request is the Idempotency-Key of a scan that the server may have judged although
 * its answer never came. */
export interface Scan extends Decision {
  n?: number; event: string; device: string; gate: string; code: string; typed: boolean; out?: boolean; at: number; alone: boolean; request: string; told?: Told;
}

/** State is how far a device is. offset: from its clock to the server's; asked: when the server said
 * last that the list is up to date, by the device's own clock; types: names of ticket types. */
export interface State { offset: number; asked: number; title: string; types: Record<string, { name: string; seated: boolean }> }

/** Kept is all that a device has of an event. */
export interface Kept { manifests: Manifest[]; scans: Scan[]; state: State | undefined }

type Name = 'setup' | 'state' | 'manifests' | 'scans';
interface Line { event: string; manifest: Manifest }

export class Store {
  constructor(readonly db: IDBDatabase) {}

  static open(): Promise<Store> {
    return new Promise((done, fail) => {
      const asked = indexedDB.open('gate', 1);
      asked.onupgradeneeded = () => {
        asked.result.createObjectStore('setup');
        asked.result.createObjectStore('state');
        asked.result.createObjectStore('manifests', { autoIncrement: true }).createIndex('event', 'event');
        asked.result.createObjectStore('scans', { keyPath: 'n', autoIncrement: true }).createIndex('event', 'event');
      };
      asked.onsuccess = () => done(new Store(asked.result));
      asked.onerror = () => fail(asked.error ?? new Error('the database did not open'));
    });
  }

  /** run returns once what the work has written is on the disk. */
  #run<T>(names: Name[], mode: 'readonly' | 'readwrite', work: (of: (name: Name) => IDBObjectStore) => IDBRequest<T> | null): Promise<T> {
    return new Promise((done, fail) => {
      const all = this.db.transaction(names, mode, { durability: 'strict' });
      const asked = work((name) => all.objectStore(name));
      all.oncomplete = () => done(asked?.result as T);
      all.onabort = all.onerror = () => fail(all.error ?? new Error('the database did not keep it'));
    });
  }

  setup = () => this.#run<Setup | undefined>(['setup'], 'readonly', (of) => of('setup').get('now'));

  /** setups are those of all events that the device is a gate of. */
  setups = () => this.#run<Setup[]>(['setup'], 'readonly', (of) => of('setup').getAll(IDBKeyRange.bound('of/', 'of/\uffff')));

  /** keepSetup keeps what the device is from now on. */
  keepSetup = (setup: Setup) => this.#run(['setup'], 'readwrite', (of) => {
    of('setup').put(setup, `of/${setup.event}`);
    return of('setup').put(setup, 'now');
  });

  keepState = (event: string, state: State) => this.#run(['state'], 'readwrite', (of) => of('state').put(state, event));

  /** load returns what is kept of an event. */
  async load(event: string): Promise<Kept> {
    const lines = await this.#run<Line[]>(['manifests'], 'readonly', (of) => of('manifests').index('event').getAll(event));
    const scans = await this.#run<Scan[]>(['scans'], 'readonly', (of) => of('scans').index('event').getAll(event));
    const state = await this.#run<State | undefined>(['state'], 'readonly', (of) => of('state').get(event));
    return { manifests: lines.map((line) => line.manifest), scans, state };
  }

  /** keepManifest adds a delta, or replaces what there is by a full manifest. */
  keepManifest(event: string, manifest: Manifest, state: State) {
    return this.#run(['manifests', 'state'], 'readwrite', (of) => {
      of('state').put(state, event);
      if (!manifest.full) return of('manifests').add({ event, manifest });
      removeAll(of('manifests'), event, () => of('manifests').add({ event, manifest }));
      return null;
    });
  }

  /** keepScan keeps a scan and returns its number. */
  keepScan = (scan: Scan) => this.#run(['scans'], 'readwrite', (of) => of('scans').put(scan)) as Promise<number>;

  keepScans = (scans: Scan[]) => this.#run(['scans'], 'readwrite', (of) => {
    for (const scan of scans) of('scans').put(scan);
    return null;
  });

  dropScan = (n: number) => this.#run(['scans'], 'readwrite', (of) => of('scans').delete(n));

  /** leave forgets the setup and all of its event. */
  leave = (event: string) => this.#run(['setup', 'state', 'manifests', 'scans'], 'readwrite', (of) => {
    of('setup').delete('now');
    of('setup').delete(`of/${event}`);
    of('state').delete(event);
    removeAll(of('manifests'), event);
    removeAll(of('scans'), event);
    return null;
  });
}

/** removeAll removes what a store has of an event, and then goes on. */
function removeAll(from: IDBObjectStore, event: string, then?: () => void) {
  const keys = from.index('event').getAllKeys(event);
  keys.onsuccess = () => {
    for (const key of keys.result) from.delete(key);
    then?.();
  };
}
