// The checks of a draw and of a receipt, as the page shows them.
import { api, ask, type Schemas } from '../../shared/api/client';
import { Refusal } from '../../shared/api/refusal';
import { kept } from '../../shared/storage';
import { keptEntry } from '../room';
import { d } from './words';
import { canCheck, hexOf, isCounted, isOfDraw, isReceiptSigned, isRoundNamed, isStatementSigned, isUnder, isWitnessed, placeOf, readReceipt } from './verify';

/** Check is one thing that was looked at; its verdict is null if it can't be checked here. */
export interface Check { name: keyof typeof d.checks; right: boolean | null }

export class Draw {
  document = $state.raw<Schemas['DrawDocument'] | null>(null);
  absent = $state(false); // nothing is published yet
  published = $state.raw<Check[]>([]);
  receipt = $state('');
  own = $state.raw<Check[]>([]);
  place = $state<number | null>(null);
  issue = $state('');
  busy = $state(false);
  error = $state.raw<unknown>(null);
  // A receipt that is not signed, or of another draw, proves nothing; a signed one whose entry is not on the list does.
  readonly wrong = $derived([...this.published, ...(this.own.some((c) => c.name === 'receipt' && c.right === false) ? [] : this.own.filter((c) => c.name === 'under'))].some((c) => c.right === false));

  constructor(readonly event: string) {
    void this.load();
  }

  load = async () => {
    this.error = null;
    this.receipt ||= keptEntry(this.event)?.receipt ?? '';
    try {
      const document = await ask(api.GET('/api/v1/public/events/{id}/queue/draw', { params: { path: { id: this.event } } }));
      this.document = document;
      if (!canCheck()) return;
      const s = document.statement, sent = kept(`queue:root:${this.event}:${s.draw}`);
      this.published = [
        { name: 'root', right: sent && sent === s.root }, { name: 'counted', right: isCounted(document) },
        { name: 'signed', right: await isStatementSigned(document) }, { name: 'round', right: isRoundNamed(document) }, { name: 'beacon', right: null },
        ...document.witness ? [{ name: 'witness', right: await isWitnessed(document) }] : [],
      ].map((c) => ({ ...c, right: c.right === '' ? null : c.right })) as Check[];
    } catch (e) {
      this.absent = e instanceof Refusal && (e.code === 'NOT_FOUND' || e.code === 'EVENT_NOT_FOUND');
      if (!this.absent) this.error = e;
      return;
    }
    if (this.receipt) await this.check();
  };

  /** check finds the place of the receipt. */
  check = async () => {
    if (this.busy) return;
    const r = readReceipt(this.receipt), document = this.document!;
    this.own = [];
    this.place = null;
    this.error = null;
    this.issue = r ? '' : d.noReceipt;
    if (!r) return;
    this.busy = true;
    try {
      const checks: Check[] = [{ name: 'draw', right: isOfDraw(r, document) }, { name: 'receipt', right: await isReceiptSigned(r, document) }];
      const proof = checks[0]!.right ? await this.#prove(hexOf(r.leaf)) : null;
      if (checks[0]!.right) checks.push({ name: 'under', right: proof !== null && await isUnder(r.leaf, document, proof) });
      if (proof && checks.every((c) => c.right !== false)) this.place = await placeOf(proof.index, document);
      this.own = checks;
    } catch (e) {
      this.error = e;
    }
    this.busy = false;
  };

  /** #prove asks for the proof of a leaf; null if the operator has none, which is itself a finding. */
  async #prove(leaf: string): Promise<Schemas['DrawProof'] | null> {
    try {
      return await ask(api.GET('/api/v1/public/events/{id}/queue/proof', { params: { path: { id: this.event }, query: { leaf } } }));
    } catch (e) {
      if (e instanceof Refusal && e.code === 'NOT_FOUND') return null;
      throw e;
    }
  }
}
