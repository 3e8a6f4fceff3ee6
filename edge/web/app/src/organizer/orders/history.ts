// What happened to an order, as its record tells it, each in a sentence and the oldest first.
import type { Schemas } from '../../shared/api/client';
import { money } from '../../shared/money';
import { o } from './words';

export interface Happened { at: string; text: string }

export function historyOf(order: Schemas['Order']): Happened[] {
  const all: Happened[] = [];
  const add = (at: string | null | undefined, text: string) => { if (at) all.push({ at, text }); };
  add(order.createdAt, o.placed(order.buyer.name ?? order.buyer.email ?? order.orderNumber));
  add(order.withdrawalWaivedAt, o.waived);
  const paid = order.payments.find((p) => p.status === 'succeeded');
  add(order.completedAt, Number(order.total) ? o.paid(paid?.provider ?? '') : o.free);
  add(order.cancelledAt, o.cancelledAt);
  for (const t of order.tickets) add(t.checkedInAt, o.came([t.tierName, t.seat && `${t.seat.row} ${t.seat.label}`, t.holder?.name].filter(Boolean).join(', '), t.gateName ?? ''));
  for (const r of order.refunds) {
    const sum = money(r.amount, r.currency);
    const decided = r.decidedAt && r.decidedAt !== r.requestedAt, asked = decided || ['requested', 'denied', 'cancelled'].includes(r.status);
    add(r.requestedAt, (asked ? o.asked : o.given)(sum, r.reason ?? '')); // by somebody, or it goes back without being asked for
    if (decided) add(r.decidedAt, o.decided(sum, r.status === 'denied', r.decisionNote ?? ''));
    add(r.processedAt, o.moved(sum));
  }
  return all.sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}
