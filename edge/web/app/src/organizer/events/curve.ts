// The sales of an event as steps, so that two events can be drawn over each other.
import type { Schemas } from '../../shared/api/client';

/** Sales are the tickets that were sold up to each day on which some were. A day is counted from the moment at
 * which the event begins: -1 is the day before it. */
export interface Sales { steps: { day: number; sum: number }[]; total: number }

/** readSales adds a series of days up. */
export function readSales(series: Schemas['EventSeries'], begins: string): Sales {
  let total = 0;
  const steps = series.points.map((p) => ({ day: (Date.parse(p.at) - Date.parse(begins)) / 86_400_000, sum: (total += p.count) }));
  return { steps, total };
}

/** sumAt is how many tickets were sold up to a day. */
export function sumAt(sales: Sales, day: number): number {
  return sales.steps.findLast((s) => s.day <= day)?.sum ?? 0;
}

/** drawSteps is the path of sales from one day to another in a drawing of so many units. */
export function drawSteps(sales: Sales, from: number, to: number, wide: number, high: number, top: number): string {
  const x = (day: number) => ((Math.min(day, 0) - from) / -from * wide).toFixed(1);
  const y = (sum: number) => (high - (sum / top) * high).toFixed(1);
  return `M0 ${y(0)}${sales.steps.map((s) => `H${x(s.day)}V${y(s.sum)}`).join('')}H${x(to)}`;
}
