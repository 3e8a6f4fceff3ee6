import { many } from '../../shared/words';
import type { Words } from './words.en';

const words = {
  schedule: 'Was wann geschieht', noSchedule: 'Mit einem Programm sagt die Seite des Events, was wann geschieht und wer auf der Bühne steht.', addSession: 'Programmpunkt hinzufügen', session: 'Programmpunkt', day: (n) => `Tag ${n}`,
  name: 'Wie er heißt', from: 'Von', to: 'Bis', who: 'Wer spricht oder spielt', whoHint: 'Ein Name, wie die Seite ihn zeigt.', bio: 'Ein paar Worte dazu, wer das ist', room: 'Wo', roomHint: 'Etwa „Große Bühne“.', about: 'Worum es geht', dropSession: 'Programmpunkt löschen', dropSessionSure: 'Er ist dann von der Seite des Events verschwunden.', dropped: 'Es ist gelöscht.',
  parts: 'Teile des Raums', noParts: 'Teile wie „Empore“ sind Worte für Gäste, und Kartenarten können sie nennen. Sie begrenzen keinen Verkauf; Sitze stehen im Sitzplan.', addPart: 'Teil hinzufügen', part: 'Teil des Raums', partName: 'Name', holds: 'Wie viele hineinpassen', fits: (n) => many(n, 'für # Person', 'für # Personen'), partAbout: 'Was Gäste wissen sollten', dropPart: 'Teil löschen', dropPartSure: 'Er ist dann aus dem Event verschwunden. Ein Teil, den eine Kartenart nennt, lässt sich nicht löschen.',
  look: 'Wie die Seite aussieht', preview: 'Vorschau', layout: 'Aufbau', layouts: { classic: 'Klassisch', split: 'Bild neben dem Titel', gallery: 'Bilder zuerst', minimal: 'Nur Worte', magazine: 'Magazin', festival: 'Festival' },
  hero: 'Am Kopf', heroes: { image: 'Dein Bild', video: 'Dein Film', gradient: 'Zwei Farben', pattern: 'Was wir zeichnen', solid: 'Eine Farbe' },
  colours: 'Farben', colour: { accentColor: 'Links und Knöpfe', primaryColor: 'Kopf', secondaryColor: 'Kopf, zweite', backgroundColor: 'Grund', textColor: 'Text' }, fromCover: 'Aus dem Bild nehmen', unreadable: 'Dieser Text ist auf diesem Grund schwer zu lesen: Die Seite behält ihre eigenen Farben.', accentHint: 'Sie wird dunkler oder heller, wo Text sonst nicht zu lesen wäre.',
  cta: 'Der Knopf zu den Karten', getTickets: 'Karten holen', shows: 'Die Seite zeigt', show: { showOrganizer: 'Wer veranstaltet', showSchedule: 'Das Programm', showVenueMap: 'Einen Link zur Karte der Stadt', showCountdown: 'Wie lange es noch hin ist', showSocialShare: 'Einen Knopf zum Teilen', showPoweredBy: 'Dass sie mit Boxoffice gemacht ist' },
  faqs: 'Fragen und Antworten', question: (n) => `Frage ${n}`, answer: 'Antwort', addFaq: 'Frage hinzufügen', social: 'Anderswo', platform: 'Plattform', platformHint: 'Etwa instagram.', address: 'Adresse', link: (n) => `Link ${n}`, addLink: 'Link hinzufügen',
  seo: 'Für Suchmaschinen und Vorschauen', seoTitle: 'Titel', seoTitleHint: 'Leer: der des Events.', seoText: 'Beschreibung', seoTextHint: 'Leer: was Käufer lesen.', defaults: 'Wie sie von selbst wäre', days: (n) => many(n, 'in # Tag', 'in # Tagen'),
} satisfies Words;

export default words;
