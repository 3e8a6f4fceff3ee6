// What a gate device asks the server, and what is an answer.
import { api, uuid, type Schemas } from '../shared/api/client';
import { Refusal } from '../shared/api/refusal';
import { isDoor, isFull, type Manifest, type Status } from './roster';
import type { Scan, Told } from './store';

/** Away says that the server does not answer. sent: it may have got the request all the same. */
export class Away extends Error {
  constructor(readonly sent: boolean) {
    super('the server does not answer');
  }
}

const patience = 20_000; // milliseconds; an answer that is later is as good as none

type Headers = () => Promise<{ Authorization: string }>;
interface Answer<T> { data?: { data: T }; error?: unknown; response: Response }

/** read returns what stands under data. A server that is down or busy is away. */
async function read<T>(request: Promise<Answer<T>>): Promise<{ data: T; response: Response }> {
  let answer: Answer<T>;
  try {
    answer = await request;
  } catch (e) {
    if (e instanceof Refusal && e.code !== 'OFFLINE') throw e;
    throw new Away(navigator.onLine);
  }
  if (answer.data) return { data: answer.data.data, response: answer.response };
  const refusal = Refusal.of(answer.error, answer.response);
  throw answer.response.status >= 500 || refusal.code === 'OFFLINE' ? new Away(true) : refusal;
}

const direction = ({ out }: Scan) => (out ? { direction: 'out' as const } : {});
const optional = (gate: string) => (gate ? { gateName: gate } : {});

export class Service {
  /** bound: the headers have a gate's key, which is for scans alone. */
  constructor(readonly headers: Headers, readonly event: string, readonly bound = false) {}

  /** judge asks for the verdict on one scan. */
  async judge(scan: Scan, signal?: AbortSignal): Promise<Told> {
    const rest = { headers: await this.#prove(), signal: signal ?? AbortSignal.timeout(patience) };
    const params = { header: { 'Idempotency-Key': scan.request || uuid() } }, by = { deviceId: scan.device, ...optional(scan.gate), ...direction(scan) };
    try {
      const { data } = await read<Schemas['ScanResult']>(scan.typed && (isFull(scan.code) || isDoor(scan.code))
        ? api.POST('/api/v1/checkin/event/{id}/manual', { params: { ...params, path: { id: this.event } }, body: { ticketCode: scan.code, ...by }, ...rest })
        : api.POST('/api/v1/checkin/scan', { params, body: { qrData: scan.code, eventId: this.event, method: 'qr_scan', ...by }, ...rest }));
      return {
        status: data.status, reason: data.idCheck ? 'ID_CHECK' : data.deniedReason ?? '', when: Date.now(), gate: data.firstGate ?? '',
        at: data.checkedInAt ?? data.leftAt ?? '', holder: data.holderName ?? '', ticketCode: data.ticketCode ?? '',
      };
    } catch (e) {
      if (!(e instanceof Refusal)) throw e;
      if (e.code === 'RATE_LIMITED') return unheard('undecided', e.message);
      // What a device says of itself may be wrong too, which is no verdict on anybody's ticket.
      if (e.issues.length && e.issues.every(({ path }) => path === 'qrData' || path === 'ticketCode')) return unheard('denied_wrong_event', 'NO_CODE');
      throw e;
    }
  }

  /** sendBatch asks for the verdicts on earlier scans. */
  async sendBatch(scans: Scan[]): Promise<Told[]> {
    const { data } = await read<Schemas['BatchVerdicts']>(api.POST('/api/v1/checkin/batch', {
      ...await this.#rest(),
      body: {
        eventId: this.event,
        scans: scans.map((s) => ({
          ...(isFull(s.code) || (s.typed && isDoor(s.code)) ? { ticketCode: s.code } : { qrData: s.code }), scannedAt: new Date(s.at).toISOString(), deviceId: s.device, ...optional(s.gate), ...direction(s),
        })),
      },
    }));
    if (data.results.length !== scans.length) throw new Error(`a batch of ${scans.length} scans has ${data.results.length} verdicts`);
    return data.results.map((v) => ({
      status: v.status, reason: v.deniedReason ?? '', when: Date.now(), gate: v.firstGate ?? '', at: v.firstCheckedInAt ?? v.leftAt ?? '', holder: v.holderName ?? '', ticketCode: v.ticketCode ?? '',
    }));
  }

  /** askManifest asks what has changed since a cursor. date is the server's time in milliseconds, or NaN. */
  async askManifest(cursor: string, deviceId: string): Promise<{ manifest: Manifest; date: number }> {
    const { data, response } = await read<Schemas['Manifest']>(api.GET('/api/v1/checkin/event/{id}/manifest', {
      params: { path: { id: this.event }, query: { deviceId, ...(cursor && { since: cursor }) } }, ...await this.#rest(),
    }));
    const { cursor: next, full, salt, offlineDoorCodes, rotatingOnly, exits, tickets } = data;
    return { manifest: { cursor: next, full, salt, offlineDoorCodes, rotatingOnly, exits: !!exits, tickets }, date: Date.parse(response.headers.get('Date') ?? '') };
  }

  /** undo takes the last passage of a ticket back, and says what the ticket is now: issued or checked_in. */
  async undo(ticketCode: string): Promise<string> {
    const { data } = await read<Schemas['CheckInUndone']>(api.POST('/api/v1/checkin/event/{id}/undo', { params: { path: { id: this.event } }, body: { ticketCode }, ...await this.#rest() }));
    return data.status;
  }

  async stats(): Promise<Schemas['GateStats']> {
    return (await read<Schemas['GateStats']>(api.GET('/api/v1/checkin/event/{id}/stats', { params: { path: { id: this.event } }, ...await this.#rest() }))).data;
  }

  /** page is the event as everybody sees it, with the names of its ticket types. */
  async page(): Promise<Schemas['Event']> {
    return (await read<Schemas['Event']>(api.GET('/api/v1/events/{slug}', { params: { path: { slug: this.event } }, ...(this.bound ? { signal: AbortSignal.timeout(patience) } : await this.#rest()) }))).data;
  }

  /** guests are those whom a name, an address or a whole code fits. */
  async guests(q: string): Promise<Schemas['Attendee'][]> {
    return (await read<{ items: Schemas['Attendee'][] }>(api.GET('/api/v1/organizer/events/{id}/attendees', { params: { path: { id: this.event }, query: { q, limit: 20 } }, ...await this.#rest() }))).data.items;
  }

  #rest = async () => ({ headers: await this.#prove(), signal: AbortSignal.timeout(patience) });

  async #prove() {
    try {
      return await this.headers();
    } catch (e) {
      if (e instanceof Refusal && !e.isPassing) throw e;
      throw new Away(false);
    }
  }
}

function unheard(status: Status, reason: string): Told {
  return { status, reason, when: Date.now(), gate: '', at: '', holder: '', ticketCode: '' };
}
