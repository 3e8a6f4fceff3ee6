import { open } from '../../shared/open';
import MailedPlace from './MailedPlace.svelte';
import QueuePage from './QueuePage.svelte';

// A place moves to another device by a link, and a mailed one lets its reader join. What it carries goes out of the
// address at once.
const carried = new URLSearchParams(location.hash.slice(1) || location.search);
const ticket = carried.get('ticket'), invitation = carried.get('join') ?? '', party = Number(carried.get('party')) || 1;
if (ticket || invitation) history.replaceState(null, '', location.pathname);

const slug = decodeURIComponent(location.pathname.split('/')[2]!);
const moved = ticket ? { token: ticket, ...(carried.has('receipt') && { receipt: carried.get('receipt')! }) } : null;
if (moved && carried.has('mailed')) open(MailedPlace, { slug, moved, invitation, party });
else open(QueuePage, { slug, moved, invitation, party });
