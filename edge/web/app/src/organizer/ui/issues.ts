import type { Form } from '../../shared/form.svelte';
import type { Issue } from '../../shared/api/refusal';
import { w } from '../words';

/** told is an issue in the page's language, where it has words for it. */
export function told(issue: Issue): string {
  const text = w.issues[issue.code] ?? issue.message;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** issueAt is what is wrong with a field of a form. */
export function issueAt(form: Form, path: string): string {
  const issue = form.issues.find((i) => i.path === path);
  return issue ? told(issue) : '';
}
