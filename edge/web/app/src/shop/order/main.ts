import { keepOrder } from '../../shared/storage';
import { open } from '../../shared/open';
import OrderPage from './OrderPage.svelte';

const id = location.pathname.split('/')[2]!;
// A link carries the token in the part of the address that no server sees; from there it
// goes into this browser's storage, and out of the address.
const token = new URLSearchParams(location.hash.slice(1)).get('token');
if (token) {
  keepOrder(id, token);
}
if (token || location.search) { // providers add to the address what nobody needs
  history.replaceState(null, '', location.pathname);
}
open(OrderPage, { id });
