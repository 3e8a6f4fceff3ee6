// The way from an order to the page where it is paid, the same from checkout and order.
import { api, ask, type Schemas } from '../shared/api/client';

/** A Method is a way to pay that the shop has a page for. It has none yet for bank transfers. */
export type Method = Schemas['PayMethod'] & { provider: Exclude<Schemas['PayMethod']['provider'], 'transfer'> };

/** A Choice is how a buyer wants to pay: with whom, and with which coin if that takes coins. */
export interface Choice { provider: Method['provider']; coin: string }

/** listMethods lists the ways to pay that fit a currency: cards first, since most people have one. */
export async function listMethods(currency: string): Promise<Method[]> {
  const list = await ask(api.GET('/api/v1/payments/methods', { params: { query: { currency: currency as 'USD' } } }));
  const shown = list.items.filter((m): m is Method => m.provider !== 'transfer');
  return shown.sort((a, b) => Number(a.kind === 'crypto') - Number(b.kind === 'crypto'));
}

/** firstMethod is what a buyer pays with who has chosen nothing. */
export async function firstMethod(currency: string): Promise<Choice> {
  const [first] = await listMethods(currency);
  if (!first) throw new Error(`nothing takes ${currency}`);
  return { provider: first.provider, coin: '' };
}

/** pay opens an attempt, and goes to the provider's page. One that takes coins has none. */
export async function pay(id: string, token: string, { provider, coin }: Choice): Promise<Schemas['PayAt']> {
  const body = { provider, token, ...(coin && { payCurrency: coin }) };
  const at = await ask(api.POST('/api/v1/orders/{id}/pay', { params: { path: { id } }, body }));
  const to = at.authorizationUrl && new URL(at.authorizationUrl);
  if (to && (to.protocol === 'https:' || to.protocol === 'http:')) {
    location.assign(to);
  }
  return at;
}
