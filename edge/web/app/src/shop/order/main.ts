import { keepOrder } from '../../shared/storage';
import { open } from '../../shared/open';
import OrderPage from './OrderPage.svelte';

const id = location.pathname.split('/')[2]!;
// A link carries the token in the part of the address that no server sees; from there it
// goes into this browser's storage, and out of the address. A browser that keeps nothing has it in the
// history's entry, where a reload finds it.
const token = new URLSearchParams(location.hash.slice(1)).get('token');
const kept = !!token && keepOrder(id, token) === location.pathname;
if (token || location.search) { // providers add to the address what nobody needs
  history.replaceState(token && !kept ? { token } : history.state, '', location.pathname);
}
// The link that is opened where the page is open already changes only what stands behind #.
addEventListener('hashchange', () => location.reload());
open(OrderPage, { id, token: (history.state as { token?: string } | null)?.token ?? '' });
