// The page of a mailed link that confirms an account's address. The link's token is
// behind #, so that no server and no log gets it with the page's address.
import { call } from './api.js';

const form = document.getElementById('form');
const outcome = document.getElementById('outcome');
const token = new URLSearchParams(location.hash.slice(1)).get('token');

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const password = document.getElementById('password').value;
  try {
    await call('POST', '/auth/email/confirm', { token: token || '-', password });
    form.remove();
    localStorage.removeItem('unproven'); // the organizer's pages remind of it
    outcome.textContent = 'Thank you. Your address is confirmed.';
  } catch (refusal) {
    outcome.textContent = refusal.message;
  }
});
