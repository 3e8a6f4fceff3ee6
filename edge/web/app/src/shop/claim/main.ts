import { linkToken } from '../../shared/link';
import { open } from '../../shared/open';
import ClaimPage from './ClaimPage.svelte';

open(ClaimPage, { token: linkToken() });
