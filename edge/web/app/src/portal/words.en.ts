/** What the portal says beside the organizer's pages. */
const words = {
  title: 'Developers',
  nav: { keys: 'Keys', log: 'Requests', metrics: 'Metrics', webhooks: 'Webhooks', docs: 'Docs' },
  log: {
    title: 'Requests', hint: 'What your API keys have asked in the last seven days.', key: 'Key', allKeys: 'All keys', route: 'Route', routeHint: '/api/v1/organizer/events', status: 'Status', allStatuses: 'Any status',
    statuses: { '2xx': '2xx: done', '4xx': '4xx: refused', '5xx': '5xx: we failed' } as Record<string, string>, from: 'From', to: 'To', look: 'Look', none: 'No requests yet', noneHint: 'Make a key and send a request with it.', nothing: 'Nothing fits.',
    request: 'Request', at: 'When', latency: 'Took', client: 'From address', id: 'Request id',
  },
  metrics: {
    title: 'Metrics', interval: 'Time', intervals: { hour: 'The last hour', day: 'The last 24 hours', week: 'The last seven days' } as Record<string, string>, requests: 'Requests', errors: 'Errors', half: 'Median', p95: '95 %', p99: '99 %',
    requestsIn: 'requests', failed: 'failed', slow: '95 % took no longer', none: 'No requests in this time',
  },
};

export default words;
export type Words = typeof words;
