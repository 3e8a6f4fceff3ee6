import type { Room } from '../organizer/routes';
import { w } from './words';

/** portal is where developers look after the programs of their organization. */
export const portal: Room = {
  base: '/portal',
  title: w.title,
  views: [
    { name: 'keys', title: w.nav.keys, load: () => import('./KeysView.svelte') },
    { name: 'log', title: w.nav.log, load: () => import('./LogView.svelte') },
    { name: 'metrics', title: w.nav.metrics, load: () => import('./MetricsView.svelte') },
    { name: 'limits', title: w.nav.limits, load: () => import('./LimitsView.svelte') },
    { name: 'facts', title: w.nav.facts, load: () => import('./FactsView.svelte') },
    { name: 'agent', title: w.nav.agent, load: () => import('./AgentView.svelte') },
    { name: 'webhooks', title: w.nav.webhooks, load: () => import('./WebhooksView.svelte') },
  ],
  links: [{ href: '/docs', title: w.nav.docs }],
};
