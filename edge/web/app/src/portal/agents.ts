/** noKey stands where a reader's own key belongs. */
export const noKey = 'vt_live_...';

/** Client is a program that an agent runs in. */
export type Client = 'claude-code' | 'claude-desktop' | 'cursor' | 'vscode' | 'codex';

/** Connection is what a client is told of us. */
export interface Connection { id: Client; name: string; text: string }

/** connections are what each client is told, with the key as it writes it. Each takes a form of its own. */
export function connections(address: string, key: string): Connection[] {
  const bearer = `Bearer ${key}`;
  const { protocol, hostname } = new URL(address);
  const open = protocol === 'http:' && hostname !== 'localhost' && hostname !== '127.0.0.1';
  const written = (value: unknown) => JSON.stringify(value, null, 2);
  return [
    // Its command adds a server to its file: options, name, address, and a header for each --header.
    { id: 'claude-code', name: 'Claude Code', text: `claude mcp add --transport http boxoffice ${address} --header "Authorization: ${bearer}"` },
    {
      id: 'claude-desktop', name: 'Claude Desktop',
      // Its file knows programs alone, so one that speaks to an address stands between. No argument of it has a
      // space: on Windows the client would cut it there. An address without TLS must be allowed, unless it is this machine.
      text: written({ mcpServers: { boxoffice: { command: 'npx', args: ['-y', 'mcp-remote', address, ...(open ? ['--allow-http'] : []), '--header', 'Authorization:${BOXOFFICE_KEY}'], env: { BOXOFFICE_KEY: bearer } } } }),
    },
    // JSON as Claude Desktop's, with the address and its headers in place of a program.
    { id: 'cursor', name: 'Cursor', text: written({ mcpServers: { boxoffice: { url: address, headers: { Authorization: bearer } } } }) },
    // JSON that calls them servers, and must be told the way they speak.
    { id: 'vscode', name: 'VS Code', text: written({ servers: { boxoffice: { type: 'http', url: address, headers: { Authorization: bearer } } } }) },
    // TOML. It calls literal headers http_headers, ignores headers, and refuses a token under a name of its own.
    { id: 'codex', name: 'Codex', text: `[mcp_servers.boxoffice]\nurl = "${address}"\nhttp_headers = { Authorization = "${bearer}" }` },
  ];
}
