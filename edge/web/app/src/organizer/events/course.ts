// What an online course teaches, as a form has it.
import type { Schemas } from '../../shared/api/client';

type Placed = Schemas['PlacedLesson'];

/** A Lesson is one of a syllabus. What the form does not show of it is kept as it was. */
export interface Lesson { was: Partial<Placed>; title: string; duration: string; skillLevel: string; format: string; video: string; pdf: string; writeup: string }

export interface Course { type: 'unified' | 'syllabus'; video: string; pdf: string; lessons: Lesson[] }

export const lessonOf = (l: Partial<Placed>): Lesson => ({
  was: l, title: l.title ?? '', duration: l.duration ?? 'A week', skillLevel: l.skillLevel ?? 'All levels', format: l.format ?? 'Self-paced',
  video: l.lessonVideo ?? '', pdf: l.lessonPdf ?? '', writeup: l.writeup ?? '',
});

/** courseOf is what an event teaches, or an empty course. */
export function courseOf(e: Schemas['Event'] | null): Course {
  return { type: e?.courseType === 'syllabus' ? 'syllabus' : 'unified', video: e?.unifiedVideo ?? '', pdf: e?.unifiedPdf ?? '', lessons: (e?.syllabus ?? []).map(lessonOf) };
}

/** courseFields is what a form's course is to the API. */
export function courseFields(c: Course) {
  if (c.type === 'unified') return { courseType: c.type, unifiedVideo: c.video.trim() || null, unifiedPdf: c.pdf.trim() || null };
  const syllabus = c.lessons.map(({ was: { order: _, description, ...was }, ...l }) => ({
    ...was, ...(description && { description }), title: l.title.trim(), duration: l.duration as 'A week', skillLevel: l.skillLevel as 'Beginner', format: l.format as 'Live',
    lessonVideo: l.video.trim() || undefined, lessonPdf: l.pdf.trim() || undefined, writeup: l.writeup.trim() || undefined,
  }));
  return { courseType: c.type, syllabus };
}
