import './style/base.css';
import { mount, type Component } from 'svelte';

/** open puts a page where the server has left room for it. */
export function open<P extends Record<string, unknown>>(page: Component<P>, props: P) {
  const target = document.getElementById('app')!;
  target.replaceChildren();
  mount(page, { target, props });
}
