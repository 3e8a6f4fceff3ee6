import { many } from '../../shared/words';

/** What the desk says of an event's programme and of how its page looks. */
const words = {
  schedule: 'What happens when', noSchedule: 'With a schedule, the event’s page says what happens when, and who is on stage.', addSession: 'Add a session', session: 'Session', day: (n: number) => `Day ${n}`,
  name: 'What it is called', from: 'From', to: 'To', who: 'Who speaks or plays', whoHint: 'A name, as the page shows it.', bio: 'A few words about them', room: 'Where', roomHint: 'Such as “Main stage”.', about: 'What it is about', dropSession: 'Delete the session', dropSessionSure: 'It is gone from the event’s page.', dropped: 'It is deleted.',
  parts: 'Parts of the room', noParts: 'Parts such as “Balcony” are words for guests, and ticket types can name them. They bound no sale; seats are on the seat map.', addPart: 'Add a part', part: 'Part of the room', partName: 'Name', holds: 'People that fit in', fits: (n: number) => many(n, 'for # person', 'for # people'), partAbout: 'What guests should know', dropPart: 'Delete the part', dropPartSure: 'It is gone from the event. A part that a ticket type names cannot be deleted.',
  look: 'How the page looks', preview: 'Preview', layout: 'Layout', layouts: { classic: 'Classic', split: 'Picture beside the title', gallery: 'Pictures first', minimal: 'Words alone', magazine: 'Magazine', festival: 'Festival' },
  hero: 'At its head', heroes: { image: 'Your picture', video: 'Your film', gradient: 'Two colours', pattern: 'What we draw', solid: 'One colour' },
  colours: 'Colours', colour: { accentColor: 'Links and buttons', primaryColor: 'Head', secondaryColor: 'Head, second', backgroundColor: 'Ground', textColor: 'Text' }, fromCover: 'Take it from the picture', unreadable: 'This text is hard to read on this ground: the page keeps its own colours.', accentHint: 'It is made darker or lighter where text could not be read.',
  cta: 'The button to the tickets', getTickets: 'Get tickets', shows: 'The page shows', show: { showOrganizer: 'Who organizes it', showSchedule: 'The schedule', showVenueMap: 'A link to a map', showCountdown: 'How long until it begins', showSocialShare: 'A button to share it', showPoweredBy: 'That it is made with Boxoffice' },
  faqs: 'Questions and answers', question: (n: number) => `Question ${n}`, answer: 'Answer', addFaq: 'Add a question', social: 'Elsewhere', platform: 'Platform', platformHint: 'Such as instagram.', address: 'Address', link: (n: number) => `Link ${n}`, addLink: 'Add a link',
  seo: 'For search engines and previews', seoTitle: 'Title', seoTitleHint: 'Empty: the event’s.', seoText: 'Description', seoTextHint: 'Empty: what buyers read.', defaults: 'As it would be by itself', days: (n: number) => many(n, 'in # day', 'in # days'),
};

export default words;
export type Words = typeof words;
