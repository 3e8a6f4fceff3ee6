import './ui/desk.css';
import { Session } from '../shared/api/session.svelte';
import { open } from '../shared/open';
import { Desk } from './desk.svelte';
import OrganizerPage from './OrganizerPage.svelte';
import { office } from './routes';

open(OrganizerPage, { desk: new Desk(new Session()), room: office });
