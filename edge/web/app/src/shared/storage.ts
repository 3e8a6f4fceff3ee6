// What a browser keeps of a visit. It may keep nothing, or be full: a page works without.
function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

export const keep = (key: string, value: string) => attempt(() => localStorage.setItem(key, value));
export const kept = (key: string) => attempt(() => localStorage.getItem(key));
export const drop = (key: string) => attempt(() => localStorage.removeItem(key));

/** keptOrders are the ids of the orders that this browser can open. */
export function keptOrders(): string[] {
  return attempt(() => Object.keys(localStorage).flatMap((key) => (key.startsWith('order:') ? [key.slice(6)] : []))) ?? [];
}

/** forgetBuyer forgets all that this browser has kept of a buyer: what opens orders, names, drafts of orders. */
export function forgetBuyer() {
  attempt(() => {
    for (const key of Object.keys(localStorage)) if (/^(order|open|pass|buyer|queue)[:.]/.test(key)) localStorage.removeItem(key);
    for (const key of ['attempt', ...Object.keys(sessionStorage).filter((name) => name.startsWith('admission:'))]) sessionStorage.removeItem(key);
  });
}

/** keepOrder keeps what opens an order in this browser. */
export const keepOrder = (id: string, token: string) => keep(`order:${id}`, token);
export const orderToken = (id: string) => kept(`order:${id}`);
