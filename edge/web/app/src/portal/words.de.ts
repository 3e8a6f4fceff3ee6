import type { Words } from './words.en';

const words: Words = {
  title: 'Entwickler',
  nav: { keys: 'Schlüssel', log: 'Anfragen', metrics: 'Zahlen', limits: 'Grenzen', facts: 'Fakten', webhooks: 'Webhooks', agent: 'Agent', docs: 'Doku' },
  log: {
    title: 'Anfragen', hint: 'Was deine API-Schlüssel in den letzten sieben Tagen gefragt haben.', key: 'Schlüssel', allKeys: 'Alle Schlüssel', route: 'Route', routeHint: '/api/v1/organizer/events', status: 'Status', allStatuses: 'Jeder Status',
    statuses: { '2xx': '2xx: erledigt', '4xx': '4xx: abgelehnt', '5xx': '5xx: unser Fehler' }, from: 'Von', to: 'Bis', look: 'Ansehen', none: 'Noch keine Anfragen', noneHint: 'Mache einen Schlüssel und sende damit eine Anfrage.', nothing: 'Nichts passt.',
    request: 'Anfrage', at: 'Wann', latency: 'Dauer', client: 'Von Adresse', id: 'Nummer der Anfrage',
    headers: 'Kopfzeilen', sent: 'Gesendet', answered: 'Geantwortet', noBody: 'Kein JSON.', cut: 'Nur der Anfang: mehr als 16 KiB, oder ab hier kein JSON.', keptHint: 'Für 24 Stunden aufbewahrt, ohne Geheimnisse und ohne das, was die API nicht kennt.',
  },
  limits: {
    title: 'Grenzen', hint: 'Was deinen Schlüsseln gerade bleibt, bevor eine Anfrage abgelehnt wird. Die Raten sind die des Knotens, der geantwortet hat.', look: 'Noch einmal ansehen', all: 'Alle Schlüssel zusammen', rate: 'Anfragen pro Minute', left: 'Übrig', of: (left, most) => `${left} von ${most}`,
    tiers: { public: 'Öffentliches lesen', strict: 'Käufe und Zahlungen', admin: 'Arbeit der Veranstalter' }, stored: 'Gespeichert', quotas: { written_today: 'Heute geschrieben', files: 'Dateien' }, until: (when) => `bis ${when}`,
  },
  facts: {
    title: 'Fakten', hint: 'Was Webhooks und der Feed melden, so wie deine Programme es bekommen, 30 Tage lang.', type: 'Art', allTypes: 'Alle Arten', from: 'Ab wann', oldest: 'Ab dem ältesten', now: 'Ab jetzt',
    about: 'Worüber', seq: 'Seq', at: 'Wann', id: 'Kennung', means: 'Was es sagt', data: 'Daten', none: 'Noch ist nichts geschehen', waits: 'Das ist bisher alles. Was jetzt geschieht, erscheint hier von selbst.',
  },
  agent: {
    title: 'Einen Agenten verbinden', hint: 'Ein Agent tut, worum du ihn in Worten bittest, mit dem Model Context Protocol: Er findet Käufe, bringt Veranstaltungen in den Verkauf, schaut auf den Einlass.', address: 'Adresse',
    key: 'Ein Schlüssel für den Agenten', keyHint: (none) => `Erlaube ihm nicht mehr, als er braucht. Bis du einen Schlüssel machst, steht unten ${none} an seiner Stelle.`, inserted: 'Der Schlüssel steht in dem, was du unten kopierst, bis du diese Seite verlässt.',
    steps: {
      'claude-code': 'Gib das in ein Terminal ein.', 'claude-desktop': 'Trage das in claude_desktop_config.json ein (Einstellungen, Entwickler, Konfiguration bearbeiten) und starte das Programm neu. Es braucht Node.js.',
      cursor: 'Trage das in ~/.cursor/mcp.json ein.', vscode: 'Trage das in .vscode/mcp.json ein. Checke die Datei nicht ein: Sie enthält den Schlüssel.', codex: 'Trage das in ~/.codex/config.toml ein.',
    },
  },
  metrics: {
    title: 'Zahlen', interval: 'Zeit', intervals: { hour: 'Die letzte Stunde', day: 'Die letzten 24 Stunden', week: 'Die letzten sieben Tage' }, requests: 'Anfragen', errors: 'Fehler', half: 'Median', p95: '95 %', p99: '99 %',
    requestsIn: 'Anfragen', failed: 'gescheitert', slow: '95 % dauerten nicht länger', none: 'Keine Anfragen in dieser Zeit',
  },
};

export default words;
