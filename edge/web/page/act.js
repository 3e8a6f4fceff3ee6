// The pages of mailed links that do one thing. Programs open the links in mails to look for
// harm, so nothing happens before a person presses the button. The link's token is behind #,
// so that no server and no log gets it with the page's address.
import { call } from './api.js';

const form = document.getElementById('form');
const outcome = document.getElementById('outcome');
const token = new URLSearchParams(location.hash.slice(1)).get('token');

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  try {
    await call('POST', form.dataset.path + encodeURIComponent(token || '-') + (form.dataset.act ?? ''));
    outcome.textContent = form.dataset.done;
    form.remove();
  } catch (refusal) {
    outcome.textContent = refusal.message;
  }
});
