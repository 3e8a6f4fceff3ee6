import { many } from '../../shared/words';
import type { Words } from './words.en';

const some = (n: number, names: string[]) => (names.length ? `: ${names.join('; ')}${n > names.length ? '; …' : ''}` : '');

const words = {
  picture: (name, n) => `${name}, ${many(n, '# Platz', '# Plätze')}`, seats: (n) => many(n, '# Platz', '# Plätze'), name: 'Name des Plans',
  of: { ours: 'Ein Plan in unserer Form', pretix: 'Ein Sitzplan von pretix', seatsio: 'Ein Plan von seats.io' },
  file: 'Datei (JSON)', fileHint: 'Ein Sitzplan, den der Editor von pretix gesichert hat, ein Plan von seats.io, wie ihn dessen API gibt, oder ein Plan in unserer Form.', bring: 'Plan einlesen', replace: 'Plan ersetzen',
  drawHall: 'Einen Saal zeichnen', rowsAre: 'Reihen', straight: 'Gerade', curved: 'Um die Bühne', radius: (m) => `Radius der ersten Reihe: ${m} m`, radiusHint: 'Je kleiner, desto stärker die Biegung.', grows: 'Hintere Reihen haben mehr Plätze', blockOf: (n) => `Block ${n}`, block: (n) => `Block ${n}`, seatsOf: 'Plätze', form: 'Sie stehen', inRows: 'In Reihen', atTables: 'An Tischen', tableRows: 'Reihen von Tischen', perTableRow: 'Tische je Reihe', perTable: 'Plätze je Tisch', addBlock: 'Block dahinter', withStanding: 'Mit Stehplätzen, deren Karten keinen Platz haben', standing: 'Stehplätze', mixed: 'Karten ohne Bereich gibt es auch ohne Platz',
  map: 'Die Plätze des Events', lasso: 'Zieh eine Linie um Plätze, um sie zu wählen, oder tippe auf einen. Die Listen darunter tun dasselbe mit der Tastatur.', states: { free: 'zu haben', blocked: 'gesperrt', sold: 'verkauft', chosen: 'gewählt' }, priceThem: (n) => (n === 1 ? 'Ihr Bereich wird verkauft als' : `Ihre ${n} Bereiche werden verkauft als`), setPrice: 'Setzen', release: 'Nichts wählen',
  lost: 'Was nicht mitkommt', nothing: 'Alles kommt mit.', plan: 'Saal', unnamedSection: 'Plätze', category: (n) => `Kategorie ${n}`,
  fault: {
    json: (at) => `Diese Datei ist kein JSON: In Zeile ${at} stimmt etwas nicht.`, unknown: () => 'Diesen Plan kennen wir nicht: Er ist weder von pretix noch von seats.io noch von uns.', big: () => 'Diese Datei ist zu groß: höchstens 16 MB.', many: (at) => `Es sind zu viele Plätze${at && ` bei ${at}`}: etwa 25.000 gehen.`, seats: () => 'In diesem Plan sind keine Plätze.',
    missing: (at) => `${at} fehlt.`, text: (at) => `${at} ist kein Text.`, number: (at) => `${at} ist keine Zahl.`, list: (at) => `${at} ist keine Liste.`, object: (at) => `${at || 'Die Datei'} ist kein Objekt.`, duplicate: (at) => `${at} hat eine Nummer, die ein anderer Platz der Reihe hat.`,
  },
  losses: {
    colours: (n, names) => `Farben: Hier haben Bereiche sie nach ihrem Preis${some(n, names)}`, background: (n, names) => `Bilder und Flächen hinter Plätzen${some(n, names)}`, outlines: (n, names) => `Umrisse, die kein Rechteck und keine Ellipse sind${some(n, names)}`, turned: (n, names) => `${many(n, '# gedrehte Fläche oder Schrift steht', '# gedrehte Flächen oder Schriften stehen')} gerade${some(n, names)}`,
    directions: (n, names) => `Der Platz, bei dem der Verkauf einer Reihe beginnt${some(n, names)}`, sizes: () => 'Größen einzelner Plätze: Alle sind gleich gezeichnet', labels: (n, names) => `Wie Reihen und Plätze in Worten heißen${some(n, names)}`, areas: (n, names) => `Flächen ohne Sitze: Verkaufe sie als Kartenart ohne Bereich${some(n, names)}`, booths: (n, names) => `Stände${some(n, names)}`, whole: (n, names) => `Tische, die es nur ganz gibt: Hier gibt es sie Platz für Platz${some(n, names)}`,
    views: () => 'Eingeschränkte Sicht und Bilder der Sicht', pictures: (n) => many(n, '# Symbol oder Bild', '# Symbole und Bilder'), texts: (n, names) => `Schriften ohne Ort${some(n, names)}`, entrances: (n, names) => `Eingänge der Bereiche${some(n, names)}`, floors: (n, names) => `Stockwerke liegen untereinander${some(n, names)}`, zones: (n, names) => `Zonen, jede mit ihrer Blickrichtung${some(n, names)}`, empty: (n, names) => `Teile ohne Plätze${some(n, names)}`,
    repeated: (n, names) => `${many(n, '# Reihe heißt', '# Reihen heißen')} anders, da eine andere ebenso heißt und die gleichen Plätze hat${some(n, names)}`, unnamed: (n) => `${many(n, '# Reihe ohne Namen bekam', '# Reihen ohne Namen bekamen')} eine Nummer`, cut: (n, names) => `Namen, die für eine Karte zu lang sind, sind gekürzt${some(n, names)}`, moved: (n, names) => `${many(n, '# Platz stand auf einem anderen und steht', '# Plätze standen auf anderen und stehen')} jetzt daneben${some(n, names)}`, focus: () => 'Wohin alle blicken, steht nicht im Plan: Die besten Plätze sind die vorn in der Mitte', shapes: (n, names) => `Flächen über 200 hinaus${some(n, names)}`, split: (n, names) => `${many(n, '# Reihe liegt', '# Reihen liegen')} in mehreren Kategorien und damit in mehreren Bereichen${some(n, names)}`,
  },
} satisfies Words;

export default words as Words;
