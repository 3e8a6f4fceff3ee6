import { open } from '../../shared/open';
import DrawPage from './DrawPage.svelte';

open(DrawPage, { event: decodeURIComponent(location.pathname.split('/')[2] ?? '') });
