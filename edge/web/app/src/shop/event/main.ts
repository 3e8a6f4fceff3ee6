import { wear } from '../../shared/accent';
import type { Schemas } from '../../shared/api/client';
import { open } from '../../shared/open';
import EventPage from './EventPage.svelte';
import { standOn } from './ground';

// The server has put the event into the page. An address that names none has no data.
const data = document.getElementById('data')?.textContent;
const event = data ? (JSON.parse(data) as Schemas['Event']) : null;
if (event?.page) {
  wear(event.page.accentColor);
  standOn(event.page);
}
open(EventPage, { event });
