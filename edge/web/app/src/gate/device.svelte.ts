// A device at a gate: it decides whom to let in, with the network or without it, keeps what it has
// decided, and tells the server when the network is back. It does what package gate does.
import { uuid, type Schemas } from '../shared/api/client';
import { Refusal } from '../shared/api/refusal';
import { readShown, Roster, type Decision, type Found, type Shown, type Ticket } from './roster';
import { Away, type Service } from './service';
import type { Kept, Scan, Setup, State, Store, Told } from './store';

export const pace = 3000; // milliseconds between questions for the manifest
const patience = 2000; // milliseconds that somebody at the gate waits for the server
const longPatience = 10_000; // the same where the device can't decide by itself
const batchSize = 500; // scans that the server takes at once
const clockDrift = 5000; // milliseconds that the offset may change before it is kept again
const askedDrift = 15_000; // the same of the list's age

/** Verdict is what a steward is shown. again: the same person, shown again. */
export interface Verdict extends Decision { alone: boolean; again: boolean; out: boolean; type: string; seated: boolean; holder: string; gate: string; at: string; ticketCode: string }

/** stands says whether an admission is one by what the server has said so far. */
const stands = ({ told }: Scan) => !told || told.status === 'success';

const nobody: Found = { ticket: null, known: true };

export class Device {
  online = $state(false);
  settled = $state(false); // whether the server was asked once
  asked = $state(0); // when the list was up to date last, by the device's own clock
  trouble = $state.raw<unknown>(null);
  waiting = $state.raw<Scan[]>([]); // let in alone, and the server has not been told yet
  wrong = $state.raw<Scan[]>([]); // let in alone, and the server does not admit
  last = $state.raw<Scan | null>(null); // the last admission, which may be taken back
  counts = $state.raw({ inside: 0, left: 0 });
  title = $state('');
  exits = $state(false); // whether the event counts who goes out
  out = $state(false); // whether people go out here
  readonly #roster = new Roster();
  #state: State = { offset: 0, asked: 0, title: '', types: {} };
  #left = false; // nothing is kept any more
  #named = false; // whether the names of ticket types were asked for
  #unheard: Scan | null = null; // the last scan that the device could not decide, and whose answer never came
  #first: Promise<unknown> | null = null; // the first answer of the server
  #turn: Promise<unknown> = Promise.resolve(); // syncing and taking back, one after the other

  constructor(readonly store: Store, readonly service: Service, readonly setup: Setup, readonly id: string) {
    this.title = setup.title;
  }

  /** ended says that the device's key was revoked or is over. */
  get ended(): boolean {
    return !!this.setup.key && this.trouble instanceof Refusal && this.trouble.code === 'UNAUTHORIZED';
  }

  /** open takes up what an earlier page has kept. */
  async open({ manifests, scans, state }: Kept) {
    if (state) this.#state = state;
    this.title = this.#state.title || this.setup.title;
    this.asked = this.#state.asked;
    for (const manifest of manifests) this.#roster.apply(manifest, 0);
    for (const scan of scans) {
      if (scan.status !== 'success') continue;
      const { ticket } = await this.#find(readShown(scan.code, true));
      if (ticket) this.#roster.note(ticket, { out: !!scan.out, at: scan.at, told: scan.told?.when ?? 0 });
    }
    const admitted = scans.filter(({ status }) => status === 'success');
    this.waiting = admitted.filter(({ told }) => !told);
    this.wrong = admitted.filter((scan) => !stands(scan));
    this.last = admitted.findLast(stands) ?? null;
    this.#count();
  }

  /** now is the server's time in milliseconds. */
  now = () => Date.now() + this.#state.offset;

  /** scan is the verdict on a code. Where it throws, nobody is let in: the device could not keep its
   * decision, or the server refuses to talk to it. */
  async scan(code: string, typed: boolean): Promise<Verdict> {
    if (!this.online && this.#first) await Promise.race([this.#first, new Promise((done) => setTimeout(done, patience))]);
    if (this.ended) throw this.trouble;
    const out = this.out && this.exits, at = this.now(), shown = readShown(code, typed), found = await this.#find(shown), alone = this.#roster.judge(shown, found, at, out);
    const scan: Scan = { event: this.setup.event, device: this.id, gate: this.setup.gate, code, typed, out, at, alone: false, request: this.#findUnheard(code, out), ...alone }, before = scan.request;
    if (alone.status === 'success' && found.ticket && this.#roster.justPassed(found.ticket, at, out)) return this.#show(scan, found.ticket, true);
    if (this.online) {
      scan.request ||= uuid();
      try {
        const told = await this.#ask(scan, alone.status === 'undecided' ? longPatience : patience);
        return await this.#keepDecision(scan, told, found.ticket);
      } catch (e) {
        if (!(e instanceof Away)) throw e;
        if (!e.sent) scan.request = before;
      }
    }
    return this.#decideAlone(scan, shown);
  }

  /** findUnheard is the request under which the server may have judged the same code before, or ''. Under the
   * same one it repeats that verdict: whoever was asked to show the code again is not a duplicate. */
  #findUnheard(code: string, out: boolean): string {
    return this.#unheard?.code === code && this.#unheard.out === out ? this.#unheard.request : '';
  }

  async #ask(scan: Scan, wait: number): Promise<Told> {
    const stop = new AbortController(), timer = setTimeout(() => stop.abort(), wait);
    try {
      return await this.service.judge(scan, stop.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  /** keepDecision keeps what the server has decided. */
  async #keepDecision(scan: Scan, told: Told, ticket: Ticket | null): Promise<Verdict> {
    Object.assign(scan, { status: told.status, reason: told.reason, request: '', told });
    if (told.status !== 'undecided') await this.#keep(scan, ticket);
    return this.#show(scan, ticket);
  }

  /** decideAlone decides without the server. */
  async #decideAlone(scan: Scan, shown: Shown | null): Promise<Verdict> {
    this.online = false;
    const found = await this.#find(shown);
    Object.assign(scan, this.#roster.judge(shown, found, scan.at, scan.out), { alone: true });
    if (scan.status !== 'undecided') await this.#keep(scan, found.ticket);
    else if (scan.request) this.#unheard = scan;
    if (scan.status === 'success') this.waiting = [...this.waiting, scan];
    return this.#show(scan, found.ticket);
  }

  async #keep(scan: Scan, ticket: Ticket | null) {
    scan.n = await this.store.keepScan(scan);
    if (scan.status !== 'success') return;
    if (ticket) this.#roster.note(ticket, { out: !!scan.out, at: scan.at, told: scan.told?.when ?? 0 });
    this.last = scan;
    this.#count();
  }

  #show({ status, reason, alone, out, told }: Scan, ticket: Ticket | null, again = false): Verdict {
    const type = this.#state.types[ticket?.t ?? ''];
    return { status, reason, alone, again, out: !!out, type: type?.name ?? '', seated: type?.seated ?? false, holder: told?.holder ?? '', gate: told?.gate ?? '', at: told?.at ?? '', ticketCode: told?.ticketCode ?? '' };
  }

  #find = (shown: Shown | null): Promise<Found> => (shown ? this.#roster.find(shown) : Promise.resolve(nobody));

  #count() {
    this.counts = this.#roster.count();
    this.exits = !!this.#roster.manifest.exits;
  }

  /** typeOf is the name of the ticket type of a scan's code, if it is known. */
  async typeOf({ code, typed }: Scan): Promise<string> {
    const { ticket } = await this.#find(readShown(code, typed));
    return this.#state.types[ticket?.t ?? '']?.name ?? '';
  }

  /** sync takes the manifest and tells the server whom the device has let in without it. The device
   * is online if all of that succeeds. */
  sync(): Promise<void> {
    const work = this.#inTurn(async () => {
      if (this.#left) return;
      try {
        await this.#takeManifest();
        await this.#tellWaiting();
        if (!this.#named) await this.#takeNames();
        this.online = true;
        this.trouble = null;
      } catch (e) {
        this.online = false;
        this.trouble = e instanceof Away ? null : e;
      }
      this.settled = true;
    });
    this.#first ??= work;
    return work;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work);
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  async #takeManifest() {
    const { cursor } = this.#roster.manifest, asked = Date.now();
    const { manifest, date } = await this.service.askManifest(cursor, this.id);
    const was = this.#state, arrived = Date.now();
    // The header has whole seconds, and was written between request and answer.
    const offset = date ? date + 500 - (asked + arrived) / 2 : was.offset;
    const state = { ...was, offset, asked };
    this.asked = asked;
    if (manifest.cursor === cursor && !manifest.full) {
      if (Math.abs(offset - was.offset) > clockDrift || asked - was.asked > askedDrift) await this.store.keepState(this.setup.event, state);
      else state.asked = was.asked; // so that it is kept some time
    } else {
      this.#roster.apply(manifest, asked);
      await this.store.keepManifest(this.setup.event, manifest, state);
      this.#count();
    }
    this.#state = state;
  }

  /** tellWaiting tells of the waiting scans. One whose first request may have arrived is sent under
   * the same key again, so that the device's own admission does not look like somebody else's. */
  async #tellWaiting() {
    while (this.waiting.length) {
      const some = this.waiting.slice(0, batchSize), batch: Scan[] = [], told = new Map<Scan, Told>();
      for (const scan of some) {
        const answer = scan.request ? await this.service.judge(scan) : null;
        if (answer?.status === 'success') told.set(scan, answer);
        else batch.push(scan);
      }
      if (batch.length) (await this.service.sendBatch(batch)).forEach((answer, i) => told.set(batch[i]!, answer));
      const answered = some.map((scan) => ({ ...scan, told: told.get(scan)! }));
      await this.store.keepScans(answered);
      for (const scan of answered) {
        const { ticket } = await this.#find(readShown(scan.code, true));
        if (ticket) this.#roster.note(ticket, { out: !!scan.out, at: scan.at, told: scan.told.when });
        // What the server does not admit was somebody else's admission, which must not be taken back.
        if (this.last?.n === scan.n) this.last = stands(scan) ? scan : null;
      }
      this.waiting = this.waiting.slice(some.length);
      this.wrong = [...this.wrong, ...answered.filter((scan) => !stands(scan))];
    }
  }

  async #takeNames() {
    const page = await this.service.page().catch((e: unknown) => { if (e instanceof Refusal) return null; throw e; }); // a private event may have none for a key
    this.#named = true;
    if (!page) return;
    this.title = page.title;
    this.#state = { ...this.#state, title: page.title, types: Object.fromEntries((page.ticketTypes ?? []).map((t: Schemas['TicketType']) => [t.id, { name: t.name, seated: t.seated }])) };
    await this.store.keepState(this.setup.event, this.#state);
  }

  /** leave forgets all that the device has of its event, once what is being kept is kept. */
  leave(): Promise<void> {
    return this.#inTurn(async () => {
      this.#left = true;
      await this.store.leave(this.setup.event);
    });
  }

  /** undo takes the last admission back: at the server, or out of the queue if the server has not
   * heard of it. */
  undo(): Promise<void> {
    return this.#inTurn(async () => {
      const scan = this.last;
      if (!scan) return;
      if (!scan.told && scan.request) throw new Away(true); // the server may know of it, and will say so first
      let is = '';
      if (!scan.told) {
        this.waiting = this.waiting.filter(({ n }) => n !== scan.n);
      } else {
        const left = await this.service.undo(scan.told.ticketCode || scan.code);
        is = left === 'issued' ? 'i' : scan.out ? 'c' : 'o';
      }
      await this.store.dropScan(scan.n!);
      const { ticket } = await this.#find(readShown(scan.code, scan.typed));
      if (ticket) this.#roster.forget(ticket, is);
      this.last = null;
      this.#count();
    });
  }
}
