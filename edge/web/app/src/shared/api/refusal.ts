export interface Issue { path: string; code: string; message: string }

interface Envelope {
  error?: { code?: string; message?: string; details?: Record<string, unknown> };
  meta?: { request_id?: string };
}

/** A Refusal is an answer other than success, or none at all (code OFFLINE). */
export class Refusal extends Error {
  constructor(
    readonly code: string, message: string, readonly details: Record<string, unknown>,
    readonly retryAfter: number, readonly request: string,
  ) {
    super(message);
  }

  static of(answer: unknown, response: Response): Refusal {
    const { error, meta } = (answer ?? {}) as Envelope;
    return new Refusal(
      error?.code ?? 'OFFLINE', error?.message ?? '', error?.details ?? {},
      Number(response.headers.get('Retry-After')) || 0, meta?.request_id ?? '',
    );
  }

  /** isPassing says whether the same request may succeed soon: the server is away, busy, failing, or still at the
   * first request with the same key. */
  get isPassing(): boolean {
    return /^(OFFLINE|RATE_LIMITED|OVERLOADED|UNAVAILABLE|INTERNAL|IDEMPOTENCY_IN_FLIGHT)$/.test(this.code);
  }

  /** issues are what is wrong with fields of the request. */
  get issues(): Issue[] {
    return (this.details.issues as Issue[] | undefined) ?? [];
  }
}
