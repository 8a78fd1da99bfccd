import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** A way to fail; each is done to every request until `fault` is set back. */
export type VendorFault =
  | 'none'
  | 'cut-before-headers'
  | 'cut-after-headers'
  | 'cut-mid-event'
  | 'early-end'
  | 'stall'
  | 'garbage'
  | 'wrong-content-type'
  | 'huge-reply'
  | 'slow-429'
  | 'refusal'
  | 'refusal-400'
  | 'error-500'
  | 'error-in-stream'
  | 'no-usage'
  | 'no-output-count';

/** How the fault `refusal` refuses. */
export interface VendorRefusal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const HARMLESS: ReadonlySet<VendorFault> = new Set(['none', 'no-usage', 'no-output-count']);

/** Whether the fault spoils the reply; a vendor that does not count merely leaves something out. */
export const fails = (fault: VendorFault): boolean => !HARMLESS.has(fault);

/** True when the fault was all there is to the reply. */
export async function failBeforeReply(
  fault: VendorFault,
  refusal: VendorRefusal,
  response: ServerResponse,
): Promise<boolean> {
  const refuse = (status: number, message: string, headers: VendorRefusal['headers'] = {}): true => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ error: { type: 'vendor_error', message, code: 'x' } }));
    return true;
  };
  switch (fault) {
    case 'cut-before-headers':
      response.destroy();
      return true;
    case 'wrong-content-type':
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<html>a proxy says hello</html>');
      return true;
    case 'slow-429':
      await sleep(50);
      return refuse(429, 'slow down', { 'retry-after-ms': '120' });
    case 'refusal':
      return refuse(refusal.status, 'not now', refusal.headers);
    case 'refusal-400':
      return refuse(400, 'The vendor does not like the field temperature.');
    case 'error-500':
      return refuse(500, 'secret internals of the vendor');
    default:
      return false;
  }
}

/** Sends a whole reply as the fault spoils it. */
export async function failWhole(fault: VendorFault, json: string, response: ServerResponse): Promise<void> {
  if (fault === 'stall') return void response.write(json.slice(0, 10));
  if (fault === 'garbage') return void response.end('{"not json');
  if (fault === 'huge-reply') return sendHuge(response, '"');
  response.setHeader('content-length', Buffer.byteLength(json));
  response.write(json.slice(0, json.length / 2));
  await untilRead();
  response.destroy();
}

async function sendHuge(response: ServerResponse, start: string): Promise<void> {
  response.write(start);
  const block = 'x'.repeat(1024 * 1024);
  for (let megabytes = 0; megabytes < 80 && !response.destroyed; megabytes += 1)
    if (!response.write(block)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
  response.end();
}

/** Turns of the event loop: in each, every reader in this process gets what has arrived for it. */
const TURNS = 50;

/** Lets what was written arrive on its own. Time alone does not: a loop that stood still meanwhile has read nothing. */
async function untilRead(): Promise<void> {
  await sleep(10);
  for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
}

/** Ends a stream as the fault does; `next` is the event that would have followed. */
export async function failStream(
  fault: VendorFault,
  next: string,
  failure: string,
  response: ServerResponse,
): Promise<void> {
  if (!fails(fault)) return void response.end();
  // The failure meets a reply that has begun.
  await untilRead();
  switch (fault) {
    case 'cut-after-headers':
    case 'cut-mid-event':
      if (fault === 'cut-mid-event') response.write(next.slice(0, next.length / 2));
      await untilRead();
      response.destroy();
      break;
    case 'garbage':
      response.end('data: {"this is": not json\n\n');
      break;
    case 'error-in-stream':
      response.end(failure);
      break;
    case 'huge-reply':
      await sendHuge(response, 'data: {"x":"');
      break;
    case 'stall':
      break;
    default:
      response.end();
  }
}

/** Tells no usage, as vendors do that do not count. */
const stripUsage = (json: string): string =>
  json.replace(/,?"usage(Metadata)?":\{("[a-zA-Z_]+":(\d+|\{[^{}]*\}|\[[^[\]]*\]),?)*\}/g, '');

/** Tells only the input, as vendors do that do not count what they write. */
const zeroOutput = (json: string): string =>
  json.replace(/"(output_tokens|completion_tokens|candidatesTokenCount|thoughtsTokenCount)":\d+/g, '"$1":0');

/** What happens to a reply's JSON, or to an event, at a vendor that counts this way. */
export function counting(fault: VendorFault): (json: string) => string {
  if (fault === 'no-usage') return stripUsage;
  return fault === 'no-output-count' ? zeroOutput : (json) => json;
}
