import { open } from '../../shared/open';
import HelpPage from './HelpPage.svelte';

open(HelpPage, {});
