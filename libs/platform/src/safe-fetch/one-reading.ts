import { isIP } from 'node:net';
import { FetchRefused } from './fetch-errors.js';

/** What is in front of the path as it was written: at least one character, up to a slash, a question mark or a hash. */
const WRITTEN_HOST = /^ *https?:\/\/([^/?#]+)/i;

/** Parsers drop some of these, end the URL at others, or split the request there. */
const CONTROL = /\p{Cc}/u;

/** Some parsers take it for a slash, others for a letter of a user name. */
const BACKSLASH = /^[^?#]*\\/;

/** `http://a.example?@10.0.0.1/`: a user name to parsers that look for the first slash. */
const LATE_USER = /^ *https?:\/\/[^/]*@/i;

const wrong = (message: string): FetchRefused => new FetchRefused('bad_url', message);

/**
 * Refuses a URL that another parser may read as one of another host: it is passed on as it was written, and who fetches it
 * may understand other rules than those of the WHATWG, by which it was checked.
 *
 * @param text as it was written.
 * @param url what it was read as, without user name and password.
 * @throws FetchRefused `bad_url`.
 */
export function expectOneReading(text: string, { hostname }: URL): void {
  if (CONTROL.test(text)) throw wrong('a URL has no control characters');
  if (BACKSLASH.test(text)) throw wrong('a URL has no backslash');
  const written = WRITTEN_HOST.exec(text)?.[1];
  if (written === undefined) throw wrong('its host must follow http:// or https://');
  if (LATE_USER.test(text)) throw wrong('a slash must follow its host');
  if (hostname.split('.').slice(0, -1).includes('')) throw wrong('its host has an empty part between two dots');
  // 010.8.8.8 is 8.8.8.8 to one parser and 10.8.8.8 to the next.
  if (isIP(hostname) === 4 && written.replace(/:\d*$/, '') !== hostname)
    throw wrong(`the address of its host must be written as ${hostname}`);
}
