// What an online course teaches, as a form has it.
import type { Schemas } from '../../shared/api/client';

type Placed = Schemas['PlacedLesson'];

type Asked = NonNullable<Schemas['Event']['exam']>['questions'][number];

export interface Material { name: string; url: string }

/** A Question has two answers at least, of which one is right. Its id keeps it the same question. */
export interface Question { key: number; was: Partial<Asked>; prompt: string; options: { key: number; text: string }[]; right: number; why: string }

/** A Lesson is one of a syllabus. What the form does not show of it is kept as it was. */
export interface Lesson { was: Partial<Placed>; title: string; duration: string; skillLevel: string; format: string; video: string; pdf: string; writeup: string; materials: Material[]; platform: string; pin: string }

export interface Course { type: 'unified' | 'syllabus'; video: string; pdf: string; lessons: Lesson[]; materials: Material[]; certificate: string; exam: { enabled: boolean; pass: string; questions: Question[] } }

let keys = 0;

/** questionOf is a question of an exam, or an empty one. */
export function questionOf(q: Partial<Asked>): Question {
  const options = (q.options ?? ['', '']).map((text) => ({ key: keys++, text }));
  return { key: keys++, was: q, prompt: q.prompt ?? '', options, right: options[q.correctIndex ?? 0]!.key, why: q.explanation ?? '' };
}

export const lessonOf = (l: Partial<Placed>): Lesson => ({
  was: l, title: l.title ?? '', duration: l.duration ?? 'A week', skillLevel: l.skillLevel ?? 'All levels', format: l.format ?? 'Self-paced',
  video: l.lessonVideo ?? '', pdf: l.lessonPdf ?? '', writeup: l.writeup ?? '', materials: (l.materials ?? []).map((m) => ({ ...m })), platform: l.streamingPlatform ?? '', pin: l.lessonPin ?? '',
});

/** courseOf is what an event teaches, or an empty course. */
export function courseOf(e: Schemas['Event'] | null): Course {
  return {
    type: e?.courseType === 'syllabus' ? 'syllabus' : 'unified', video: e?.unifiedVideo ?? '', pdf: e?.unifiedPdf ?? '', lessons: (e?.syllabus ?? []).map(lessonOf),
    materials: (e?.unifiedMaterials ?? []).map((m) => ({ ...m })), certificate: e?.certificateTemplate ?? '',
    exam: { enabled: e?.exam?.enabled ?? false, pass: String(e?.exam?.passMarkPct ?? 70), questions: (e?.exam?.questions ?? []).map(questionOf) },
  };
}

/** courseFields is what a form's course is to the API. */
export function courseFields(c: Course) {
  const exam = !c.exam.enabled && c.exam.questions.length === 0 ? null : {
    enabled: c.exam.enabled, passMarkPct: Number(c.exam.pass),
    questions: c.exam.questions.map((q) => ({ ...(q.was.id && { id: q.was.id }), prompt: q.prompt.trim(), options: q.options.map((o) => o.text.trim()), correctIndex: q.options.findIndex((o) => o.key === q.right), ...(q.why.trim() && { explanation: q.why.trim() }) })),
  };
  const all = { exam, certificateTemplate: (c.certificate || null) as 'cert-1' | null };
  if (c.type === 'unified') return { ...all, courseType: c.type, unifiedVideo: c.video.trim() || null, unifiedPdf: c.pdf.trim() || null, unifiedMaterials: c.materials };
  const syllabus = c.lessons.map(({ was: { order: _, description, ...was }, ...l }) => ({
    ...was, ...(description && { description }), title: l.title.trim(), duration: l.duration as 'A week', skillLevel: l.skillLevel as 'Beginner', format: l.format as 'Live',
    lessonVideo: l.video.trim() || undefined, lessonPdf: l.pdf.trim() || undefined, writeup: l.writeup.trim() || undefined, materials: l.materials, streamingPlatform: l.platform.trim() || undefined, lessonPin: l.pin.trim() || undefined,
  }));
  return { ...all, courseType: c.type, syllabus };
}
