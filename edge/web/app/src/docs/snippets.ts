// The snippets have the reader's own values where the server has left room for them.
import { keep, kept } from '../shared/storage';
import { byId, said } from './page';

export interface Snippets {
  /** token shows a credential; with '' what the server wrote stands there again. */
  token(kind: 'key' | 'session', value: string): void;
}

const place = 'docs.language';

export function addSnippets(): Snippets {
  const box = document.querySelector<HTMLFieldSetElement>('.snippets')!, form = byId<HTMLFormElement>('try');
  const marks = (name: string) => [...box.querySelectorAll<HTMLElement>(`b[data-${name}]`)];
  const written = new Map(marks('part').concat(marks('token')).map((mark) => [mark, mark.textContent]));

  function show() {
    const query = new URLSearchParams();
    for (const field of form.querySelectorAll<HTMLInputElement>('[data-in]')) {
      if (field.dataset.in === 'query' && field.value) query.set(field.name, field.value);
    }
    const text = query.size ? `?${query}` : '';
    for (const mark of marks('query')) mark.textContent = text;
    for (const mark of marks('part')) {
      const value = form.querySelector<HTMLInputElement>(`[data-in=path][name="${mark.dataset.part}"]`)?.value;
      mark.textContent = value ? encodeURIComponent(value) : written.get(mark)!;
    }
    const body = form.querySelector<HTMLTextAreaElement>('#sent');
    if (body) for (const mark of marks('body')) mark.textContent = writeBody(mark.dataset.body!, body.value);
  }

  form.addEventListener('input', show);
  const chosen = box.querySelector<HTMLInputElement>(`#lang-${kept(place) ?? 'curl'}`);
  if (chosen) chosen.checked = true;
  box.addEventListener('change', (e) => keep(place, (e.target as HTMLInputElement).value));

  const copy = byId<HTMLButtonElement>('copy'), name = copy.textContent;
  copy.hidden = !navigator.clipboard;
  copy.addEventListener('click', async () => {
    const language = box.querySelector<HTMLInputElement>('input:checked')!.value;
    await navigator.clipboard.writeText(box.querySelector(`pre.${language}`)!.textContent!);
    copy.textContent = said.copied!;
    setTimeout(() => { copy.textContent = name; }, 2000);
  });

  return {
    token(kind, value) {
      for (const mark of marks('token')) if (mark.dataset.token === kind) mark.textContent = value || written.get(mark)!;
    },
  };
}

/** writeBody writes JSON as a language has it. What is no JSON yet is shown as it is. */
function writeBody(language: string, text: string): string {
  if (language === 'curl') return text.replaceAll("'", `'\\''`);
  if (language !== 'python') return text;
  const own: Record<string, string> = { true: 'True', false: 'False', null: 'None' };
  return text.replace(/"(?:\\.|[^"\\])*"|\b(?:true|false|null)\b/g, (word) => own[word] ?? word);
}
