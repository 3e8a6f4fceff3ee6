// The way from an order to the page where it is paid, the same from checkout and order.
import { api, ask, type Schemas } from '../shared/api/client';
import { Refusal } from '../shared/api/refusal';

const providers = ['paystack', 'flutterwave', 'nowpayments'] as const;

/** pay opens an attempt at the first provider that there is, and goes to its page. One that pays with coins has none. */
export async function pay(id: string, token: string): Promise<Schemas['PayAt']> {
  for (const provider of providers) {
    try {
      const at = await ask(api.POST('/api/v1/orders/{id}/pay', { params: { path: { id } }, body: { provider, token } }));
      const to = at.authorizationUrl && new URL(at.authorizationUrl);
      if (to && (to.protocol === 'https:' || to.protocol === 'http:')) {
        location.assign(to);
      }
      return at;
    } catch (e) {
      if (!(e instanceof Refusal && /^PROVIDER_(NOT_CONFIGURED|MISSING)|CURRENCY_NOT_SUPPORTED$/.test(e.code) && provider !== providers.at(-1))) throw e;
    }
  }
  throw new Refusal('OFFLINE', '', {}, 0, '');
}
