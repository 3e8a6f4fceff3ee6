// The pages of mailed links that do one thing. Programs open the links in mails to look for
// harm, so nothing happens before a person presses the button. The link's token is behind #,
// so that no server and no log gets it with the page's address. The server has written what
// the page says into the form, in the reader's language.
import { call } from './api.js';

const form = document.getElementById('form');
const button = form.querySelector('button');
const outcome = document.getElementById('outcome');
const refused = JSON.parse(form.dataset.refused); // by code or reason; "" is any other
const token = new URLSearchParams(location.hash.slice(1)).get('token') || '-';

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const password = document.getElementById('password')?.value;
  const again = document.getElementById('again')?.value ?? password;
  if (password !== again) {
    outcome.textContent = refused.again;
    return;
  }
  button.disabled = true; // a link may do its thing once, and a second press would say that it does nothing
  try {
    await call('POST', form.dataset.path.replace('{token}', encodeURIComponent(token)), password && { token, password });
  } catch (refusal) {
    outcome.textContent = refused[refusal.details?.reason] ?? refused[refusal.code] ?? refused[''];
    button.disabled = false;
    return;
  }
  outcome.textContent = form.dataset.done;
  form.remove();
  try {
    if (form.dataset.forget) localStorage.removeItem(form.dataset.forget);
  } catch { /* this browser lets pages keep nothing */ }
});
