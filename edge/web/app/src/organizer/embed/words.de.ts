import type { Words } from './words.en';

const words: Words = {
  title: 'Auf deiner Seite', hint: 'Zeige deine Karten auf eigenen Seiten. Dort wird gewählt; bestellt und bezahlt wird in einem Tab des Shops.',
  origins: 'Seiten, die deine Veranstaltungen zeigen dürfen', originsHint: 'Je Zeile eine, höchstens 20, etwa https://www.example.org. Ohne Eintrag kann keine andere Seite sie einbetten; der Knopf braucht keinen.', noOrigin: 'Eine davon ist keine Adresse einer Seite wie https://www.example.org.', tooMany: 'Höchstens 20.',
  event: 'Veranstaltung', none: 'Nichts ist im Verkauf. Sobald es etwas ist, steht hier, was du einfügst.', widget: 'Widget', widgetHint: 'Ein Skript zeigt die Karten dort, wo es steht, so hoch wie sie sind.', frame: 'Rahmen', frameHint: 'Dasselbe ohne Skript, falls deine Seite keines nimmt.', button: 'Knopf', buttonHint: 'Ein Link zur Veranstaltung.', tickets: 'Karten', look: 'Ansehen',
};

export default words;
