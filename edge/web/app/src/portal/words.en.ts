import type { Client } from './agents';

/** What the portal says beside the organizer's pages. */
const words = {
  title: 'Developers',
  nav: { keys: 'Keys', log: 'Requests', metrics: 'Metrics', limits: 'Limits', facts: 'Facts', webhooks: 'Webhooks', agent: 'Agent', docs: 'Docs' },
  log: {
    title: 'Requests', hint: 'What your API keys have asked in the last seven days.', key: 'Key', allKeys: 'All keys', route: 'Route', routeHint: '/api/v1/organizer/events', status: 'Status', allStatuses: 'Any status',
    statuses: { '2xx': '2xx: done', '4xx': '4xx: refused', '5xx': '5xx: we failed' } as Record<string, string>, from: 'From', to: 'To', look: 'Look', none: 'No requests yet', noneHint: 'Make a key and send a request with it.', nothing: 'Nothing fits.',
    request: 'Request', at: 'When', latency: 'Took', client: 'From address', id: 'Request id',
    headers: 'Headers', sent: 'Sent', answered: 'Answered', noBody: 'No JSON.', cut: 'Only the beginning: more than 16 KiB, or no JSON from here on.', keptHint: 'Kept for 24 hours, without secrets and without what the API does not know.',
  },
  limits: {
    title: 'Limits', hint: 'What your keys have left right now, before a request is refused. Rates are those of the node that answered.', look: 'Look again', all: 'All keys together', rate: 'Requests a minute', left: 'Left', of: (left: string, most: string) => `${left} of ${most}`,
    tiers: { public: 'Public reads', strict: 'Orders and payments', admin: "Organizers' work" } as Record<string, string>, stored: 'Stored', quotas: { written_today: 'Written today', files: 'Files' } as Record<string, string>, until: (when: string) => `until ${when}`,
  },
  facts: {
    title: 'Facts', hint: 'What webhooks and the feed tell, as your programs get it, for 30 days.', type: 'Type', allTypes: 'All types', from: 'From when', oldest: 'From the oldest on', now: 'From now on',
    about: 'About', seq: 'Seq', at: 'When', id: 'Id', means: 'What it says', data: 'Data', none: 'Nothing has happened yet', waits: 'That is all so far. What happens now appears here by itself.',
  },
  agent: {
    title: 'Connect an agent', hint: 'An agent does what you ask it in words, by the Model Context Protocol: it looks orders up, puts events on sale, watches gates.', address: 'Address',
    key: 'A key for the agent', keyHint: (none: string) => `Let it do no more than it needs. Until you make a key, ${none} stands in its place below.`, inserted: 'The key is in what you copy below, until you leave this page.',
    steps: {
      'claude-code': 'Run this in a terminal.', 'claude-desktop': 'Add this to claude_desktop_config.json (Settings, Developer, Edit Config), then start it again. It needs Node.js.',
      cursor: 'Add this to ~/.cursor/mcp.json.', vscode: 'Add this to .vscode/mcp.json. Do not commit the file: it has the key.', codex: 'Add this to ~/.codex/config.toml.',
    } as Record<Client, string>,
  },
  metrics: {
    title: 'Metrics', interval: 'Time', intervals: { hour: 'The last hour', day: 'The last 24 hours', week: 'The last seven days' } as Record<string, string>, requests: 'Requests', errors: 'Errors', half: 'Median', p95: '95 %', p99: '99 %',
    requestsIn: 'requests', failed: 'failed', slow: '95 % took no longer', none: 'No requests in this time',
  },
};

export default words;
export type Words = typeof words;
