// What organizers link to.

/** own is the address of a picture of this server. Pictures of others would tell them who looks at the page; it shows none. */
export const own = (at?: string | null) => (at && new URL(at, location.href).origin === location.origin ? at : '');

/** outside is an address that a link may lead to. */
export const outside = (at?: string | null) => (at && /^https?:\/\//.test(at) ? at : '');

/** socialLinks are the addresses of people by platform, those of later lists before those of earlier ones. */
export function socialLinks(...lists: unknown[]): [string, string][] {
  const all = Object.assign({}, ...lists) as Record<string, unknown>;
  return Object.entries(all).filter((entry): entry is [string, string] => typeof entry[1] === 'string' && !!outside(entry[1]));
}

/** titled is a platform's name as a title. */
export const titled = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);
