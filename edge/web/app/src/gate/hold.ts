// Of two pages that decide alone, each would let the same ticket in. So one page is the gate.
const patience = 1000; // milliseconds until a page that is closed has let go

/** hold makes this page the gate, or says that another one is. lost is called when another page
 * takes over. */
export function hold(takeOver: boolean, lost: () => void): Promise<boolean> {
  if (!navigator.locks) return Promise.resolve(true);
  return new Promise((done) => {
    const keep = () => {
      done(true);
      return new Promise(() => undefined); // until the page is closed
    };
    const asked = takeOver ? navigator.locks.request('gate', { steal: true }, keep) : navigator.locks.request('gate', { signal: AbortSignal.timeout(patience) }, keep);
    asked.catch(() => {
      done(false);
      lost();
    });
  });
}
