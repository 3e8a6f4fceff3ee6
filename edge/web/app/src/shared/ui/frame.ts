// What the frame of a buyer's pages says. It is so little that both languages are in it.
import { spoken } from '../words';

const words = {
  en: { on: 'What is on', mine: 'My tickets', sell: 'Sell tickets', short: 'Sell', help: 'Help', developers: 'Developers', gate: 'Gate', around: 'The shop', language: 'Language' },
  de: { on: 'Was läuft', mine: 'Meine Karten', sell: 'Karten verkaufen', short: 'Verkaufen', help: 'Hilfe', developers: 'Für Entwickler', gate: 'Einlass', around: 'Der Laden', language: 'Sprache' },
};

export const f = words[spoken];

/** shop is what the shop is called: in the frame, and behind the title of each page. */
export const shop = 'Boxoffice';
