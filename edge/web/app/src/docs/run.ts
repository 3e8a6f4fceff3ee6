// Run sends a request to this server, the only one that the page may talk to.
import { bearer, uuid } from '../shared/api/client';
import { ownKey, session } from './key';
import { byId, said } from './page';
import type { Snippets } from './snippets';

/** most is how many characters of an answer are shown. */
const most = 100_000;

export function addRun(snippets: Snippets) {
  const form = byId<HTMLFormElement>('try'), sure = byId<HTMLDialogElement>('sure'), stop = byId<HTMLButtonElement>('stop');
  let underWay: AbortController | null = null;
  form.hidden = false;

  form.addEventListener('submit', (e) => {
    e.preventDefault();
    if (underWay) return;
    if (form.dataset.method === 'GET') {
      void run();
    } else {
      byId('sure-what').textContent = addressOf(form);
      sure.showModal();
    }
  });
  byId('sure-no').addEventListener('click', () => sure.close());
  byId('sure-yes').addEventListener('click', () => { sure.close(); void run(); });
  stop.addEventListener('click', () => underWay?.abort());

  async function run() {
    const status = byId('answer-status'), shown = byId('answer-body');
    byId('answer').hidden = false;
    status.textContent = said.running!;
    shown.textContent = '';
    const body = bodyOf(form);
    if (body === undefined) {
      status.textContent = said.notJson!;
      return;
    }
    underWay = new AbortController();
    stop.hidden = false;
    const began = performance.now();
    try {
      const answer = await fetch(addressOf(form), { method: form.dataset.method!, headers: await headersOf(form, snippets), body, signal: underWay.signal });
      status.textContent = `${answer.status} · ${Math.round(performance.now() - began)} ms`;
      await showAnswer(answer, shown);
    } catch {
      if (!underWay.signal.aborted) status.textContent = said.offline!;
    }
    underWay = null;
    stop.hidden = true;
  }
}

const fieldsOf = (form: HTMLFormElement, place: string) => [...form.querySelectorAll<HTMLInputElement>(`[data-in=${place}]`)].filter((field) => field.value);

function addressOf(form: HTMLFormElement): string {
  let path = form.dataset.path!;
  for (const field of fieldsOf(form, 'path')) path = path.replace(`{${field.name}}`, encodeURIComponent(field.value));
  const query = new URLSearchParams(fieldsOf(form, 'query').map((field) => [field.name, field.value]));
  return query.size ? `${path}?${query}` : path;
}

/** bodyOf is what is sent: null for nothing, undefined if it is no JSON. */
function bodyOf(form: HTMLFormElement): BodyInit | null | undefined {
  if (form.dataset.body === 'multipart/form-data') {
    const parts = new FormData();
    for (const field of fieldsOf(form, 'form')) parts.append(field.name, field.files?.[0] ?? field.value);
    return parts;
  }
  const text = form.querySelector<HTMLTextAreaElement>('#sent')?.value;
  if (text === undefined) return null;
  if (form.dataset.body === 'application/json') {
    try {
      JSON.parse(text);
    } catch {
      return undefined;
    }
  }
  return text;
}

/** headersOf proves who asks: by the key where that is enough, else by the session of the portal. */
async function headersOf(form: HTMLFormElement, snippets: Snippets): Promise<Headers> {
  const headers = new Headers(fieldsOf(form, 'header').map((field): [string, string] => [field.name, field.value]));
  const takes = form.dataset.takes!.split(' ');
  if (takes.includes('apiKey') && ownKey()) {
    headers.set('Authorization', bearer(ownKey()).Authorization);
  } else if (session.open && takes.some((name) => ['user', 'member', 'admin'].includes(name))) {
    const proof = (await session.headers()).Authorization;
    headers.set('Authorization', proof);
    snippets.token('session', proof.slice('Bearer '.length));
  }
  const type = form.dataset.body!;
  if (type && type !== 'multipart/form-data') headers.set('Content-Type', type);
  const key = form.querySelector('[data-in=header][name=Idempotency-Key]');
  if (key && !headers.has('Idempotency-Key')) headers.set('Idempotency-Key', uuid());
  return headers;
}

/** showAnswer shows a text as it comes, since a stream does not end, and of a file how large it is. */
async function showAnswer(answer: Response, shown: HTMLElement) {
  const type = answer.headers.get('Content-Type') ?? '';
  if (!/^(text\/|application\/json)/.test(type)) {
    const size = (await answer.blob()).size;
    shown.textContent = size ? said.binary!.replace('#', String(size)) : '';
    return;
  }
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    text += part.value;
    shown.textContent = text.slice(0, most);
    if (text.length > most) {
      await reader.cancel();
      shown.textContent += '\n' + said.cut!;
      return;
    }
  }
  if (type.startsWith('application/json')) shown.textContent = JSON.stringify(JSON.parse(text), null, 2).slice(0, most);
}
