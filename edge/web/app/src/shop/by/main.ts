import { open } from '../../shared/open';
import ByPage from './ByPage.svelte';

// The server has put the organization into the page. An address that names none has no data.
const data = document.getElementById('data')?.textContent;
open(ByPage, { shown: data ? JSON.parse(data) : null });
