// Who and what there is to see at an event, as a form has it.
import type { Schemas } from '../../shared/api/client';

type Entity = NonNullable<Schemas['CreateEvent']['entities']>[number];

export interface Act { key: number; kind: string; name: string; role: string; setTime: string; link: string; bio: string; imageUrl: string }

let keys = 0;

/** actOf is somebody of a line-up, or nobody yet. */
export const actOf = (e: Partial<Entity>): Act => ({ key: keys++, kind: e.kind ?? 'artist', name: e.name ?? '', role: e.role ?? '', setTime: e.setTime ?? '', link: e.link ?? '', bio: e.bio ?? '', imageUrl: e.imageUrl ?? '' });

/** entitiesOf is a line-up to the API. */
export const entitiesOf = (acts: Act[]): Entity[] => acts.map(({ key: _, kind, name, ...rest }) => ({
  kind: kind as Entity['kind'], name: name.trim(), ...Object.fromEntries(Object.entries(rest).map(([k, v]) => [k, v.trim()]).filter(([, v]) => v)),
}));
