// Where at a desk one is. Views have addresses of their own; filters and
// what is open in a view are in the query.
import { tick } from 'svelte';

/** deskOf is the first part of an address: each desk is a page of its own. */
const deskOf = (path: string) => path.split('/')[1];

class Place {
  path = $state(location.pathname);
  query = $state.raw(new URLSearchParams(location.search));
  /** visit changes when a link or the way back leads to the same view with another query: it is opened anew. */
  visit = $state(0);
  #loading: MutationObserver | null = null; // while the head of a view is not there

  constructor() {
    addEventListener('popstate', () => this.#look());
    document.addEventListener('click', (e) => {
      const a = (e.target as Element).closest?.('a');
      if (!a || e.defaultPrevented || e.button || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
      if (a.target || a.hasAttribute('download') || a.origin !== location.origin || deskOf(a.pathname) !== deskOf(location.pathname)) return;
      e.preventDefault();
      this.go(a.href);
    });
  }

  go(to: string) {
    history.pushState(null, '', to);
    this.#look();
    scrollTo(0, 0);
    this.#awaitHead();
  }

  /** #awaitHead takes the keyboard to the head of the view as soon as that is there, unless it is somewhere else by then. */
  #awaitHead() {
    const before = document.activeElement;
    const look = () => {
      const head = document.querySelector<HTMLElement>('h1'), at = document.activeElement;
      if (!head) return;
      this.#loading?.disconnect();
      if (at === before || at === document.body) head.focus();
    };
    this.#loading?.disconnect();
    this.#loading = new MutationObserver(look);
    this.#loading.observe(document.body, { childList: true, subtree: true });
    void tick().then(look);
  }

  /** set writes filters into the query; empty ones leave it. */
  set(change: Record<string, string>) {
    const query = new URLSearchParams(this.query);
    for (const [name, value] of Object.entries(change)) {
      if (value) query.set(name, value);
      else query.delete(name);
    }
    history.replaceState(null, '', query.size ? `${this.path}?${query}` : this.path);
    this.query = query;
  }

  #look() {
    const query = new URLSearchParams(location.search);
    if (this.path === location.pathname && String(this.query) !== String(query)) this.visit++;
    this.path = location.pathname;
    this.query = query;
  }
}

export const place = new Place();
