import { GatewayError } from '#contracts';
import { FetchRefused, type SafeFetcher } from '#platform';

const URL_CHARACTERS_MAX = 2_048;

/**
 * Refuses an address that is never called, and answers it as it is stored and called. What its name leads to is judged again at every call, because names change.
 *
 * @throws GatewayError `invalid_parameter` naming the field and the rule.
 */
export function checkWebhookUrl(fetcher: SafeFetcher, url: unknown, param: string): string {
  const refused = (rule: string): GatewayError => GatewayError.ofField(param, rule);
  if (typeof url !== 'string' || url.length === 0) throw refused('must be an http or https URL');
  const tooLong = (): GatewayError =>
    refused(
      `may have at most ${URL_CHARACTERS_MAX} characters, as it is sent: a character outside ASCII counts as up to nine`,
    );
  if (url.length > URL_CHARACTERS_MAX) throw tooLong();
  try {
    const { href } = fetcher.checkLater(url);
    if (href.length > URL_CHARACTERS_MAX) throw tooLong();
    return href;
  } catch (error) {
    if (error instanceof FetchRefused) throw refused(`cannot be called: ${error.message}`);
    throw error;
  }
}

/** The address that a submission names, and the body without it. */
export interface TakenWebhookUrl {
  readonly webhookUrl: string | null;
  /** What is left for the model's own checks. */
  readonly body: unknown;
}

/**
 * Takes `webhook_url` out of a body, or the header `X-Webhook-Url` (`header`). Null counts as absent.
 *
 * @throws GatewayError `invalid_parameter`: not a URL that may be called, or two different ones.
 */
export function takeWebhookUrl(fetcher: SafeFetcher, body: unknown, header: string | undefined): TakenWebhookUrl {
  const inHeader = header === undefined ? null : checkWebhookUrl(fetcher, header, 'X-Webhook-Url');
  if (typeof body !== 'object' || body === null || Array.isArray(body) || !('webhook_url' in body)) {
    return { webhookUrl: inHeader, body };
  }
  const { webhook_url: given, ...rest } = body;
  const inBody = given === null ? null : checkWebhookUrl(fetcher, given, 'webhook_url');
  if (inBody !== null && inHeader !== null && inBody !== inHeader) {
    const message = 'webhook_url and the header X-Webhook-Url name different addresses: send one of them.';
    throw new GatewayError('invalid_parameter', message, { param: 'webhook_url' });
  }
  return { webhookUrl: inBody ?? inHeader, body: rest };
}
