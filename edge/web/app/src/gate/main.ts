import { Session } from '../shared/api/session.svelte';
import { open } from '../shared/open';
import GatePage from './GatePage.svelte';
import { readOffer } from './offer';

const code = readOffer();
// Another link that is opened in the same tab changes only what stands behind #.
addEventListener('hashchange', () => location.reload());
open(GatePage, { session: new Session(), code });
// Without it (by plain HTTP, say) the page works, and needs the network to be opened.
void navigator.serviceWorker?.register('/gate-worker.js', { scope: '/gate' }).catch(() => undefined);
