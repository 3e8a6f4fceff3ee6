// The way from an order to the page where it is paid, the same from checkout and order.
import { api, ask, type Schemas } from '../shared/api/client';

export type Method = Schemas['PayMethod'];

/** A Choice is how a buyer wants to pay: with whom, and with which coin if that takes coins. */
export interface Choice { provider: Method['provider']; coin: string }

const first: Method['kind'][] = ['card', 'transfer', 'crypto'];

/** listMethods lists the ways to pay for an event in a currency: cards first, since most people have one. */
export async function listMethods(currency: string, eventId: string): Promise<Method[]> {
  const list = await ask(api.GET('/api/v1/payments/methods', { params: { query: { currency: currency as 'USD', eventId } } }));
  return list.items.sort((a, b) => first.indexOf(a.kind) - first.indexOf(b.kind));
}

/** firstMethod is what a buyer pays with who has chosen nothing. */
export async function firstMethod(currency: string, eventId: string): Promise<Choice> {
  const [method] = await listMethods(currency, eventId);
  if (!method) throw new Error(`nothing takes ${currency}`);
  return { provider: method.provider, coin: '' };
}

/** pay opens an attempt, and goes to the provider's page. One that takes coins or transfers has none. */
export async function pay(id: string, token: string, { provider, coin }: Choice): Promise<Schemas['PayAt']> {
  const body = { provider, token, ...(coin && { payCurrency: coin }) };
  const at = await ask(api.POST('/api/v1/orders/{id}/pay', { params: { path: { id } }, body }));
  const to = at.authorizationUrl && new URL(at.authorizationUrl);
  if (to && (to.protocol === 'https:' || to.protocol === 'http:')) {
    location.assign(to);
  }
  return at;
}
