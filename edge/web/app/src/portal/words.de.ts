import type { Words } from './words.en';

const words: Words = {
  title: 'Entwickler',
  nav: { keys: 'Schlüssel', log: 'Anfragen', metrics: 'Zahlen', webhooks: 'Webhooks', docs: 'Doku' },
  log: {
    title: 'Anfragen', hint: 'Was deine API-Schlüssel in den letzten sieben Tagen gefragt haben.', key: 'Schlüssel', allKeys: 'Alle Schlüssel', route: 'Route', routeHint: '/api/v1/organizer/events', status: 'Status', allStatuses: 'Jeder Status',
    statuses: { '2xx': '2xx: erledigt', '4xx': '4xx: abgelehnt', '5xx': '5xx: unser Fehler' }, from: 'Von', to: 'Bis', look: 'Ansehen', none: 'Noch keine Anfragen', noneHint: 'Mache einen Schlüssel und sende damit eine Anfrage.', nothing: 'Nichts passt.',
    request: 'Anfrage', at: 'Wann', latency: 'Dauer', client: 'Von Adresse', id: 'Nummer der Anfrage',
  },
  metrics: {
    title: 'Zahlen', interval: 'Zeit', intervals: { hour: 'Die letzte Stunde', day: 'Die letzten 24 Stunden', week: 'Die letzten sieben Tage' }, requests: 'Anfragen', errors: 'Fehler', half: 'Median', p95: '95 %', p99: '99 %',
    requestsIn: 'Anfragen', failed: 'gescheitert', slow: '95 % dauerten nicht länger', none: 'Keine Anfragen in dieser Zeit',
  },
};

export default words;
