import { open } from '../../shared/open';
import LearnPage from './LearnPage.svelte';

open(LearnPage, {});
