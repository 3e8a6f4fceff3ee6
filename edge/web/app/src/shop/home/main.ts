import { open } from '../../shared/open';
import HomePage from './HomePage.svelte';

open(HomePage, {});
