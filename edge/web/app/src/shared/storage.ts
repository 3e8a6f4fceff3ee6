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

/** keepOrder keeps what opens an order in this browser. */
export const keepOrder = (id: string, token: string) => keep(`order:${id}`, token);
export const orderToken = (id: string) => kept(`order:${id}`);
