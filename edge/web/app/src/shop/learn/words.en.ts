import { many } from '../../shared/words';

/** What a course and its certificate say. */
const words = {
  title: 'Course', mine: 'My tickets', signIn: 'Sign in with the address that the course was bought for. Then you go on where you stopped, at any device.',
  lessons: 'Lessons', done: (n: number, of: number) => `${n} of ${many(of, '# lesson', '# lessons')} done`, isDone: 'done', all: 'All done',
  finish: 'Done, go on', finishLast: 'Done', reopen: 'Not done after all', next: 'Next', film: 'Film', watch: (host: string) => `Watch the film at ${host}`, read: 'Open the text', files: 'Files', pin: 'To open it',
  failed: 'The film does not play. Links to it end after 15 minutes, or your connection is gone.', load: 'Load it again',
  changed: 'The course has changed since you completed it. Your certificate stays; what is new is open.',
  ended: 'This course is not open to you', endedHint: 'Nobody with this address has a good ticket for it: perhaps it was bought with another address, passed on, or its money given back. What you have learned is kept, should you come back.', signedIn: (mail: string) => `You are signed in as ${mail}.`, see: 'See the course', other: 'Sign in with another address',
  exam: {
    title: 'Exam', lead: (n: number, mark: number) => `${many(n, '# question', '# questions')}, one after the other. ${mark} % pass it. You may try as often as you like.`, begin: 'Begin the exam', once: 'Try once more', at: (n: number, of: number) => `Question ${n} of ${of}`, back: 'Back', next: 'Next', give: 'Hand in', choose: 'Choose an answer.',
    passed: (pct: number) => `Passed, with ${pct} %`, not: (pct: number, mark: number) => `${pct} %: it takes ${mark} % to pass`, notHint: 'Look at the lessons once more; nothing is lost.', right: 'right', wrong: 'not right', last: (pct: number) => `Last time: ${pct} %`, isPassed: 'Passed', first: 'The course is complete once the exam is passed.', many: 'Ten tries an hour are allowed. Wait a while, then hand in again: your answers are kept.', lessons: 'To the lessons',
  },
  certificate: { earned: 'You have completed the course', get: 'Certificate as PDF', show: 'Page to share', none: 'Well done.', nameless: 'We do not know your name, so your e-mail address stands in its place.', tell: 'Tell us your name, then come back' },
  check: {
    title: 'Certificate', holds: 'This certificate is real and holds', ended: 'This certificate was real and holds no more', endedHint: 'The purchase by which it was earned was given back or cancelled.', unknown: 'There is no such certificate', unknownHint: 'Look at the number again. If it is right, the certificate was not issued here.',
    completed: 'has completed', by: 'Issued by', on: 'On', number: 'Number', qr: 'QR code with the address of this page',
  },
};

export default words;
export type Words = typeof words;
