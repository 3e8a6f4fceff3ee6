// The page of a mailed link that sets a new password. The link's token is behind #, so
// that no server and no log gets it with the page's address.
import { call } from './api.js';

const form = document.getElementById('form');
const outcome = document.getElementById('outcome');
const token = new URLSearchParams(location.hash.slice(1)).get('token');

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const password = document.getElementById('password').value;
  if (password !== document.getElementById('again').value) {
    outcome.textContent = 'The two passwords are not the same.';
    return;
  }
  try {
    await call('POST', '/auth/password/reset', { token: token || '-', password });
    form.remove();
    outcome.textContent = 'Thank you. Sign in with the new password from now on.';
  } catch (refusal) {
    outcome.textContent = refusal.message;
  }
});
