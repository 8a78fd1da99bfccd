import { createHmac, timingSafeEqual } from 'node:crypto';
import type { CallbackRequest } from '#contracts';

/** The signer, as the vendor names itself. */
const ACCESS_KEY = 'vidu';
/** The most headers that one signature may cover; more are refused. */
const MOST_HEADERS = 16;

/**
 * Whether a call was signed with the API key: HMAC-SHA256 over method, path, query, access key, Date and the signed headers,
 * each on a line that ends (platform.vidu.com: callback signature).
 */
export function isSignedByVidu(request: CallbackRequest, key: string): boolean {
  const header = (name: string): string | undefined => {
    const value = request.headers[name.toLowerCase()];
    return typeof value === 'string' ? value : undefined;
  };
  const signature = header('x-hmac-signature');
  const date = header('date');
  const named = header('x-hmac-signed-headers')?.split(';').filter(Boolean) ?? [];
  if (signature === undefined || date === undefined || named.length > MOST_HEADERS) return false;
  const signed = named.map((name) => `${name}:${header(name) ?? ''}`);
  const lines = [request.method, request.path, request.query, ACCESS_KEY, date, ...signed];
  const expected = createHmac('sha256', key)
    .update(lines.map((line) => `${line}\n`).join(''))
    .digest();
  const sent = Buffer.from(signature, 'base64');
  return sent.length === expected.length && timingSafeEqual(sent, expected);
}
