import { open } from '../../shared/open';
import MePage from './MePage.svelte';

open(MePage, {});
