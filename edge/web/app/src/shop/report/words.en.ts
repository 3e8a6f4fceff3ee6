/** What the form says that reports an event. */
const words = {
  title: 'Report this event', hint: 'If something is wrong with this event, tell it here. For questions about your ticket, write to the organizer from the ticket.', signIn: 'Sign in with your e-mail first: the answer goes into your account.',
  category: 'What it is about', pick: 'Please choose',
  categories: { misleading_info: 'What is said here is wrong', did_not_happen: 'It did not take place', harassment: 'Harassment', fraud: 'Fraud', accessibility: 'Access without barriers', other: 'Something else' },
  toPlatform: 'We read it ourselves. The organizer is not told of it.', toOrganizer: 'The organizer reads and answers it, and is not told who you are. If nobody answers within seven days, it comes to us.',
  description: 'What happened', descriptionHint: 'From 20 to 5,000 characters.', evidence: 'Links that show it (optional)', evidenceHint: 'Pictures or files, one address a line, ten at most.', send: 'Send the report', close: 'Close',
  need: { category: 'Please choose what it is about.', description: 'Please write from 20 to 5,000 characters.', evidenceUrls: 'Please give addresses with http:// or https://, one a line, ten at most.' } as Record<string, string>,
  thanks: 'Thank you: your report has arrived.', answer: 'Once it is answered, you find the answer in the copy of your data, in', account: 'your account', gone: 'This event is no longer public, so it cannot be reported here.',
};

export default words;
export type Words = typeof words;
