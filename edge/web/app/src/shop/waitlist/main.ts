import { linkToken } from '../../shared/link';
import { open } from '../../shared/open';
import WaitlistPage from './WaitlistPage.svelte';

open(WaitlistPage, { token: linkToken() });
