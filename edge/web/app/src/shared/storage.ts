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

/** These keep something for this tab alone, as long as it is open. */
export const keepHere = (key: string, value: string) => attempt(() => sessionStorage.setItem(key, value));
export const keptHere = (key: string) => attempt(() => sessionStorage.getItem(key));
export const dropHere = (key: string) => attempt(() => sessionStorage.removeItem(key));

/** keptOrders are the ids of the orders that this browser can open. */
export function keptOrders(): string[] {
  return attempt(() => Object.keys(localStorage).flatMap((key) => (key.startsWith('order:') ? [key.slice(6)] : []))) ?? [];
}

/** forgetBuyer forgets all that this browser has kept of a buyer: what opens orders, names, drafts of orders. */
export function forgetBuyer() {
  attempt(() => {
    for (const key of Object.keys(localStorage)) if (/^(order|open|pass|buyer|queue)[:.]/.test(key)) localStorage.removeItem(key);
    // Seats are kept by the map's page under the path of their event, too.
    for (const key of Object.keys(sessionStorage)) if (/^(attempt$|admission:|seats:|queued:|\/public\/events\/)/.test(key)) sessionStorage.removeItem(key);
  });
}

/** keepOrder keeps what opens an order in this browser, and returns the address of its page. Where nothing can be
 * kept, the address carries it. */
export function keepOrder(id: string, token: string): string {
  keep(`order:${id}`, token);
  return orderToken(id) === token ? `/o/${id}` : `/o/${id}#token=${token}`;
}
export const orderToken = (id: string) => kept(`order:${id}`);
