// The reader's key: pasted, or made here by whoever is signed in. It stays in the tab.
import { ask, proving } from '../shared/api/client';
import { Refusal } from '../shared/api/refusal';
import { Session } from '../shared/api/session.svelte';
import { kept } from '../shared/storage';
import { byId, said } from './page';
import type { Snippets } from './snippets';

/** session is the portal's, in this browser. */
export const session = new Session();
export const desk = proving(() => session.headers());

const place = 'docs.key';
const read = ['events:read', 'tickets:read', 'orders:read', 'attendees:read', 'payouts:read', 'analytics:read'] as const;

/** ownKey is the key with which the reader tries the API; '' if there is none. */
export const ownKey = () => byId<HTMLInputElement>('key').value.trim();

export function addKey(snippets: Snippets) {
  const field = byId<HTMLInputElement>('key'), make = byId<HTMLButtonElement>('make-key'), forget = byId<HTMLButtonElement>('forget');
  const takes = byId('try').dataset.takes!.split(' ');

  function use(key: string) {
    if (key) sessionStorage.setItem(place, key);
    else sessionStorage.removeItem(place);
    field.value = key;
    show();
  }

  function show() {
    snippets.token('key', ownKey());
    forget.hidden = !ownKey();
    make.hidden = !!ownKey() || !session.open;
    byId('sign-in').hidden = !!ownKey() || session.open;
  }

  byId('key-box').hidden = !takes.includes('apiKey');
  field.value = sessionStorage.getItem(place) ?? '';
  field.addEventListener('input', () => use(field.value.trim()));
  forget.addEventListener('click', () => { use(''); field.focus(); });
  make.addEventListener('click', async () => {
    const name = make.textContent, trouble = byId('key-error');
    make.disabled = true;
    make.textContent = said.making!;
    trouble.textContent = '';
    try {
      use(await makeKey());
      field.focus();
    } catch (e) {
      trouble.textContent = e instanceof Refusal && e.message || said.failed!;
    }
    make.disabled = false;
    make.textContent = name;
  });
  show();
  if (session.open) void fillOrganization();
}

/** organization is the one for which the reader works, as the portal keeps it. */
async function organization(): Promise<string> {
  const me = await ask(desk.GET('/api/v1/users/me'));
  return (me.organizations.find((o) => o.id === kept('organization')) ?? me.organizations[0])?.id ?? '';
}

/** makeKey makes a key for this deployment. Where money is real, the key can only read. */
async function makeKey(): Promise<string> {
  const body = { name: 'Docs', ...(said.env === 'live' && { scopes: [...read] }) };
  const made = await ask(desk.POST('/api/v1/organizer/integrations/org/{orgId}/api-keys', { params: { path: { orgId: await organization() } }, body }));
  return made.secret;
}

/** fillOrganization enters the reader's organization where an operation asks for one. */
async function fillOrganization() {
  const field = document.querySelector<HTMLInputElement>('#try [data-in=path][name=orgId]');
  if (!field || field.value) return;
  field.value = await organization().catch(() => '');
  field.dispatchEvent(new Event('input', { bubbles: true }));
}
