/** noKey stands where a reader's own key belongs. */
export const noKey = 'vt_live_...';

/** Client is a program that an agent runs in. */
export type Client = 'claude-code' | 'claude-desktop' | 'cursor' | 'vscode' | 'codex';

/** Connection is what a client is told of us. */
export interface Connection { id: Client; name: string; text: string }

/** connections are what each client is told, with the key as it writes it. */
export function connections(address: string, key: string): Connection[] {
  const bearer = `Bearer ${key}`;
  const written = (value: unknown) => JSON.stringify(value, null, 2);
  return [
    { id: 'claude-code', name: 'Claude Code', text: `claude mcp add --transport http boxoffice ${address} --header "Authorization: ${bearer}"` },
    {
      id: 'claude-desktop', name: 'Claude Desktop',
      // Its file knows programs alone, so one that speaks to an address stands between. No argument of it has a
      // space: on Windows the client would cut it there.
      text: written({ mcpServers: { boxoffice: { command: 'npx', args: ['-y', 'mcp-remote', address, '--header', 'Authorization:${BOXOFFICE_KEY}'], env: { BOXOFFICE_KEY: bearer } } } }),
    },
    { id: 'cursor', name: 'Cursor', text: written({ mcpServers: { boxoffice: { url: address, headers: { Authorization: bearer } } } }) },
    { id: 'vscode', name: 'VS Code', text: written({ servers: { boxoffice: { type: 'http', url: address, headers: { Authorization: bearer } } } }) },
    { id: 'codex', name: 'Codex', text: `[mcp_servers.boxoffice]\nurl = "${address}"\nhttp_headers = { Authorization = "${bearer}" }` },
  ];
}
