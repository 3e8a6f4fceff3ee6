// The server's clock: what is on sale, and until when, is its to say.
let ahead = 0; // milliseconds

/** tellTime learns from an answer's Date header, which names a second. */
export function tellTime(header: string | null) {
  const at = Date.parse(header ?? '');
  if (at) {
    ahead = at + 500 - Date.now();
  }
}

/** offset is how far the server's clock is ahead of the device's, in milliseconds. */
export const offset = () => ahead;

/** goOnBy takes an offset that was kept, for a device without a network. */
export function goOnBy(kept: number) {
  ahead = kept;
}

/** now is the server's time in milliseconds, to half a second or so. */
export function now(): number {
  return Date.now() + ahead;
}

/** Ticker is the time for what counts down on a page. */
export class Ticker {
  now = $state(now());

  constructor(every = 1000) {
    $effect(() => {
      const timer = setInterval(() => { this.now = now(); }, every);
      return () => clearInterval(timer);
    });
  }
}
