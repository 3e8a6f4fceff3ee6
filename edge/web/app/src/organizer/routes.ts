// The views of a desk, each of which is loaded when it is opened.
import type { Component } from 'svelte';
import type { Desk } from './desk.svelte';
import { w } from './words';

type View = Component<{ desk: Desk; id: string; tab: string }>;

/** Room is what a desk has: views below an address, the first of which is opened first, and
 * links to what is elsewhere. */
export interface Room {
  base: string;
  title: string;
  views: { name: string; title: string; load: () => Promise<{ default: View }> }[];
  links?: { href: string; title: string }[];
}

/** office is where organizers work. */
export const office: Room = {
  base: '/organizer',
  title: w.title,
  views: [
    { name: 'overview', title: w.nav.overview, load: () => import('./Overview.svelte') },
    { name: 'events', title: w.nav.events, load: () => import('./events/EventsView.svelte') },
    { name: 'orders', title: w.nav.orders, load: () => import('./orders/OrdersView.svelte') },
    { name: 'refunds', title: w.nav.refunds, load: () => import('./orders/RefundsView.svelte') },
    { name: 'inbox', title: w.nav.inbox, load: () => import('./audience/InboxView.svelte') },
    { name: 'customers', title: w.nav.customers, load: () => import('./people/CustomersView.svelte') },
    { name: 'settings', title: w.nav.settings, load: () => import('./settings/SettingsView.svelte') },
  ],
};

export interface Found { load: () => Promise<{ default: View }>; view: string; id: string; tab: string }

/** find reads an address: {base}/{view}/{id}/{tab}. */
export function find(room: Room, path: string): Found | null {
  const [view = '', id = '', tab = ''] = path.slice(room.base.length + 1).replace(/\/$/, '').split('/');
  const found = view ? room.views.find(({ name }) => name === view) : room.views[0];
  return found ? { load: found.load, view: found.name, id: decodeURIComponent(id), tab } : null;
}
