import { isAscii, isUtf8 } from 'node:buffer';
import { GatewayError } from '#contracts';

/**
 * The text that UTF-8 says. Most bodies are plain ASCII, which is decoded in half the time.
 *
 * @param latin1 the bytes as text, a character for each, where that is at hand.
 */
export function textOf(bytes: Buffer, latin1?: string): string {
  if (isAscii(bytes)) return latin1 ?? bytes.toString('latin1');
  if (!isUtf8(bytes)) throw new GatewayError('invalid_json', 'The body is not valid UTF-8.');
  return bytes.toString('utf8');
}

/** @throws GatewayError `invalid_json` with the parser's words. */
export function parsedJson(text: string, clean = (message: string): string => message): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // Not kept as a cause: its words quote the body, and causes may be logged.
    const reason = error instanceof Error ? error.message : String(error);
    throw new GatewayError('invalid_json', `The body is not valid JSON: ${clean(reason)}.`);
  }
}
