import '../organizer/ui/desk.css';
import { Desk } from '../organizer/desk.svelte';
import OrganizerPage from '../organizer/OrganizerPage.svelte';
import { Session } from '../shared/api/session.svelte';
import { open } from '../shared/open';
import { portal } from './routes';

open(OrganizerPage, { desk: new Desk(new Session()), room: portal });
