import type { Words } from './words.en';

const words = {
  lineup: 'Wer dabei ist', lineupHint: 'Künstler, Rednerinnen, Sponsoren: Die Seite zeigt sie in dieser Folge.', kind: 'Als', kinds: { artist: 'Künstler', dj: 'DJ', speaker: 'Redner', host: 'Gastgeber', guest: 'Gast', sponsor: 'Sponsor', partner: 'Partner', team: 'Team', feature: 'Attraktion' }, name: 'Name', role: 'Was sie tun', when: 'Wann, in Worten', link: 'Wo mehr steht', bio: 'Ein paar Worte', add: 'Jemanden hinzufügen', up: 'Eins höher', one: (n) => `Nr. ${n}`,
  gallery: 'Weitere Bilder', galleryHint: 'Bis zu 20. JPEG, PNG, WebP oder GIF.', picture: (n) => `Bild ${n}`, film: 'Film für den Kopf der Seite', filmHint: 'Seine Adresse oder eine Datei von dir. Er läuft, wenn der Kopf der Seite ein Film ist.',
  before: 'Eines wählen, das du hast', library: 'Bilder, die du hast', libraryHint: 'Die deiner Events. Was kein Event nennt, ist nach 7 Tagen weg.', none: 'Noch kein Event hat ein Bild von dir.', files: 'Dateien, die du hast', noFiles: 'Noch kein Event hat eine Datei von dir.', cover: 'Titelbild', text: 'Text', of: (event, what) => `${event}: ${what}`,
  materials: 'Materialien', material: (n) => `Material ${n}`, address: 'Adresse', addMaterial: 'Material hinzufügen',
  finer: 'Genauere Kategorie, in deinen Worten', shift: 'Verkauf, Rückgabefristen und Einlass rücken ebenso weit', told: 'Alle mit einer Karte bekommen eine Mail über den neuen Beginn und dürfen 14 Tage lang das Geld zurückverlangen. Andere Änderungen zeigt die Seite, und niemand erfährt sie sonst: Schreib deinen Gästen eine Mail.', logo: 'Logo', face: 'Bild dazu', hours: 'Oder so viele Stunden', hoursHint: 'Nach dem Kauf einer Datei oder eines Kurses oder vor der gebuchten Zeit. Das Frühere gilt.',
  end: 'Am Ende des Kurses', asked: 'Was gefragt wird', certificate: 'Zertifikat', noCertificate: 'Keines', design: (n) => `Gestaltung ${n}`, certificateHint: 'Wer den ganzen Kurs geschafft hat, bekommt eines, mit einer Adresse, unter der alle es prüfen können.',
  exam: 'Mit Prüfung', examHint: 'Der Kurs ist geschafft, wenn sie bestanden ist.', pass: 'Prozent, die stimmen müssen', question: (n) => `Frage ${n}`, option: (n) => `Antwort ${n}`, right: 'stimmt', addOption: 'Antwort hinzufügen', addQuestion: 'Frage hinzufügen', why: 'Warum das stimmt, für alle, die bestanden haben',
  platform: 'Wo es übertragen wird', pin: 'Was man zum Öffnen braucht', linkNote: 'Was sie dort brauchen', linkNoteHint: 'Etwa ein Passwort.', idCheck: 'Am Einlass wird der Ausweis verlangt', offlineCodes: 'Einlässe ohne Netz kennen die sechs Zeichen zum Tippen, und damit, wer so ein Gerät hat',
} satisfies Words;

export default words as Words;
