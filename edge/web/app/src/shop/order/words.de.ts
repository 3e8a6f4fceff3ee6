import type { Words } from './words.en';

const words = {
  refunded: 'Diese Bestellung wurde erstattet',
  refundedHint: (sum) => `${sum} sind auf dem gleichen Weg zurückgegangen. Banken brauchen meist 5 bis 10 Tage, bis sie es zeigen.`,
  refundedByHand: (sum) => `${sum} wurden dir zurückgeschickt. Bis sie ankommen, kann es einige Tage dauern.`,
  returned: 'Diese Bestellung ist zurückgegeben',
  givenBack: 'Zurückgegeben',
  onWay: 'Dein Geld ist auf dem Weg zurück',
  onWayHint: (sum) => `${sum} kommen auf dem gleichen Weg zurück. Banken brauchen meist 5 bis 10 Tage.`,
  stuck: 'Dein Geld muss noch zurückgehen',
  stuckHint: (sum) => `${sum} ließen sich beim ersten Versuch nicht schicken. Wir versuchen es von selbst wieder und schreiben dir, wenn sie unterwegs sind: Du brauchst nichts zu tun.`,
  byHand: 'Dieses Geld schickt ein Mensch, das kann einige Tage länger dauern. Wir schreiben dir, wenn es unterwegs ist.',
  came: (sum) => `Trotzdem kam Geld von dir an: ${sum} gehen zurück.`,
  feesKept: 'Gebühren, gehen nicht zurück',
  kept: 'Geht nicht zurück',
  withoutFees: 'Für eine Karte geht ihr Preis zurück. Die Gebühren gehen nicht zurück.',
  ask: 'Geld zurückverlangen',
  askHint: 'Du kannst dein Geld zurückverlangen, samt Gebühren, was auch immer beim Kauf galt. Der Veranstalter entscheidet, und wir schreiben dir.',
  askedHint: 'Du hast dein Geld zurückverlangt. Der Veranstalter entscheidet, und wir schreiben dir.',
  newDate: (date) => `Die Veranstaltung ist verlegt: Sie ist jetzt am ${date}`,
  newDateHint: (until, paid) => `Wenn dir das nicht passt, kannst du bis ${until} ${paid ? 'dein Geld zurückverlangen' : 'darum bitten, deine Karten zurückgeben zu dürfen'}, was auch immer beim Kauf galt. Der Veranstalter entscheidet.`,
  giveBack: 'Eine Karte zurückgeben',
  moved: 'inzwischen verlegt: Der neue Termin steht auf der Karte oben',
  backHint: 'Geld geht auf dem gleichen Weg zurück; Banken brauchen meist 5 bis 10 Tage.',
  backs: { requested: 'Zurückverlangt', approved: 'Auf dem Weg zurück', denied: 'Erstattung abgelehnt', processing: 'Auf dem Weg zurück', processed: 'Zurückgegangen', failed: 'Ließ sich noch nicht schicken: Wir versuchen es wieder', cancelled: 'Nicht mehr zurückverlangt' },
} satisfies Words;

export default words as Words;
