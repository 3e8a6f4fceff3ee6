import { Session } from '../shared/api/session.svelte';
import { open } from '../shared/open';
import GatePage from './GatePage.svelte';

open(GatePage, { session: new Session() });
