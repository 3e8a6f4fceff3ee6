// A course at its learner's: what it has, how far one has come, and where one is.
import { api as open, ask, proving, type Schemas } from '../../shared/api/client';
import { Refusal } from '../../shared/api/refusal';
import { Session } from '../../shared/api/session.svelte';
import { wear } from '../../shared/accent';
import { Load } from '../../shared/load.svelte';

/** A Unit is what can be done: a lesson, or all of a course that has none. */
export interface Unit { index: number; title: string; about: string; film: string; text: string; writeup: string; pin: string; files: { name: string; url: string }[]; done: boolean }

export class Course {
  readonly session = new Session();
  readonly api = proving(() => this.session.headers());
  readonly content: Load<Schemas['LearnerCourse']>;
  number = '';
  event = $state.raw<Schemas['Event'] | null>(null);
  at = $state(location.hash.slice(1));
  readonly units = $derived.by(() => units(this.content.value));

  constructor(readonly named: string) {
    this.content = new Load(() => this.#read());
    addEventListener('hashchange', () => { this.at = location.hash.slice(1); });
  }

  /** here is the unit that is shown: the one of the address, or the first that is not done. */
  readonly here = $derived.by(() => this.units.find((u) => `lesson-${u.index + 1}` === this.at) ?? this.units.find((u) => !u.done) ?? this.units[0]);

  async #read() {
    await this.#find();
    return ask(this.api.GET('/api/v1/courses/{eventId}', { params: { path: { eventId: this.number } } }));
  }

  /** find looks up the number of the event, which tickets name by its id. Courses are known by numbers alone. */
  async #find() {
    if (this.number) return;
    try {
      this.event = await ask(open.GET('/api/v1/events/{slug}', { params: { path: { slug: this.named } } }));
      if (this.event.page) wear(this.event.page.accentColor);
    } catch (e) {
      if (!(e instanceof Refusal) || e.code === 'OFFLINE') throw e;
    }
    this.number = this.event ? String(this.event.numericId) : this.named;
  }

  /** mark says that a unit is done, or not after all, and reads the course anew. */
  async mark(unit: Unit, done: boolean) {
    const path = { eventId: this.number, index: String(unit.index) };
    if (this.content.value?.unified) await ask(this.api.POST('/api/v1/courses/{eventId}/complete', { params: { path } }));
    else if (done) await ask(this.api.POST('/api/v1/courses/{eventId}/lessons/{index}/complete', { params: { path } }));
    else await ask(this.api.DELETE('/api/v1/courses/{eventId}/lessons/{index}/complete', { params: { path } }));
    await this.content.again();
  }

  /** certificate is the PDF, and the number by which everybody can check it. */
  async certificate(): Promise<{ pdf: Blob; number: string }> {
    const answer = await this.api.GET('/api/v1/courses/{eventId}/certificate', { params: { path: { eventId: this.number } }, parseAs: 'blob' });
    if (!answer.response.ok) throw Refusal.of(answer.error, answer.response);
    return { pdf: answer.data as Blob, number: answer.response.headers.get('ETag')?.match(/"(.*)"/)?.[1] ?? '' };
  }
}

function units(course: Schemas['LearnerCourse'] | null): Unit[] {
  if (!course) return [];
  if (course.unified) {
    const u = course.unified;
    return [{ index: 0, title: course.meta.title, about: '', film: u.video ?? '', text: u.pdf ?? '', writeup: '', pin: u.pin ?? '', files: u.materials, done: u.completed }];
  }
  return course.lessons.map((s) => ({
    index: s.index, title: s.title, about: s.description ?? '', film: s.lessonVideo ?? '', text: s.lessonPdf ?? '', writeup: s.writeup ?? '',
    pin: s.lessonPin ?? '', files: s.materials ?? [], done: s.completed,
  }));
}
