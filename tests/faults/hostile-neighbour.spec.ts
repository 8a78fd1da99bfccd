import type { SpoiledRequest } from '../harness/text-vendor/fake-text-vendor.js';
import { MODEL_OVER, startTextGateway, type TextGateway } from '../harness/text-vendor/text-gateway.js';
import { STYLES, type Style, textRequest } from '../harness/text-vendor/text-requests.js';

const ADMIN_TOKEN = 'an-admin-token-for-tests';
const PROTOCOLS = ['responses', 'chat', 'messages', 'gemini'] as const;

/** An error as vendors write it for something the caller named, and the error the caller gets. */
interface OwnFault {
  readonly refusal: Exclude<SpoiledRequest, 'cut'>;
  readonly status: number;
  readonly message: string | RegExp;
}

const google = (code: number, status: string, message: string) => ({ error: { code, status, message } });

/** Refusals by vendors that follow from ids, addresses and sizes of the caller's. */
const OWN_FAULTS: Readonly<Record<string, OwnFault>> = {
  'a cache of another account': {
    refusal: {
      status: 403,
      body: google(403, 'PERMISSION_DENIED', 'CachedContent not found (or permission denied)'),
    },
    status: 403,
    message: 'CachedContent not found (or permission denied)',
  },
  'a file that is not there': {
    refusal: {
      status: 404,
      body: { type: 'error', error: { type: 'not_found_error', message: 'File not found: file_missing' } },
    },
    status: 404,
    message: 'File not found: file_missing',
  },
  'an item that is not there': {
    refusal: {
      status: 404,
      body: {
        error: { message: "Item with id 'rs_missing' not found.", type: 'invalid_request_error', param: 'input' },
      },
    },
    status: 404,
    message: "Item with id 'rs_missing' not found.",
  },
  'a tool server that cannot be reached': {
    refusal: {
      status: 424,
      body: {
        error: {
          message: "Error retrieving tool list from MCP server: 'x'.",
          type: 'external_connector_error',
          code: 'http_error',
        },
      },
    },
    status: 400,
    message: /MCP server/,
  },
  'a container in use': {
    refusal: { status: 409, body: { error: { message: 'The container is in use.', type: 'conflict_error' } } },
    status: 400,
    message: 'The container is in use.',
  },
  'a name that reads like a broken key': {
    refusal: {
      status: 404,
      body: { type: 'error', error: { type: 'not_found_error', message: 'API key not valid-7 was not found.' } },
    },
    status: 404,
    message: 'API key not valid-7 was not found.',
  },
  'a request larger than the limit by the minute': {
    refusal: {
      status: 429,
      body: { error: { message: 'Request too large for the model.', type: 'tokens', code: 'rate_limit_exceeded' } },
    },
    status: 413,
    message: 'Request too large for the model.',
  },
};

/** What can be provoked and looks like a failure of the vendor's own. */
const PROVOKED: Readonly<Record<string, SpoiledRequest>> = {
  'an error of the server': { status: 500, body: { error: { message: 'boom', type: 'server_error' } } },
  'a broken connection': 'cut',
  'a limit': { status: 429, body: { error: { message: 'Slow down.', type: 'rate_limit_error' } } },
};

describe('A tenant whose requests fail', () => {
  let gateway: TextGateway;
  beforeAll(async () => {
    gateway = await startTextGateway({ ADMIN_TOKEN });
    for (const [text, { refusal }] of Object.entries(OWN_FAULTS)) gateway.vendor.spoiled.set(`with ${text}`, refusal);
    for (const [text, spoiled] of Object.entries(PROVOKED)) gateway.vendor.spoiled.set(`with ${text}`, spoiled);
  });
  afterAll(() => gateway.stop());

  /** A key of an account of its own. */
  async function newTenant(): Promise<string> {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const create = async (path: string, body: object): Promise<{ readonly id: string; readonly key: string }> =>
      (await gateway.send<{ data: { id: string; key: string } }>('POST', `/admin/v1${path}`, body, headers)).body.data;
    const { id } = await create('/accounts', { name: 'Hostile', unlimited: true });
    return (await create(`/accounts/${id}/keys`, { name: 'loop' })).key;
  }

  async function ask(key: string, style: Style, model: string, text: string, stream = false) {
    const { path, body, headers } = textRequest(style, { key, model, stream, text });
    const answer = await fetch(gateway.baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const content = await answer.text();
    return { status: answer.status, headers: answer.headers, content };
  }

  /** A name that looks like a key is repeated by the vendor only when the caller wrote it. */
  const textOf = (what: string): string => `Hello with ${what}: API key not valid-7`;

  describe.each(STYLES)('in the %s style', (style) => {
    describe.each(PROTOCOLS)('over %s', (protocol) => {
      const model = MODEL_OVER[protocol];
      let hostile: string;
      beforeAll(async () => {
        hostile = await newTenant();
      });

      it.each(Object.entries(OWN_FAULTS))(
        'gets the error about %s once, in the words of the vendor',
        async (what, expected) => {
          for (const stream of [false, true]) {
            const asked = gateway.vendor.seen.length;
            const { status, headers, content } = await ask(hostile, style, model, textOf(what), stream);
            expect([status, headers.get('x-should-retry')]).toEqual([expected.status, 'false']);
            expect((JSON.parse(content) as { message: string }).message).toMatch(expected.message);
            expect(gateway.vendor.seen.length - asked).toBe(1);
          }
        },
      );

      it('does not open the circuit for other callers, whatever it sends', async () => {
        const texts = [...Object.keys(OWN_FAULTS), ...Object.keys(PROVOKED)].map(textOf);
        for (let count = 0; count < 20; count += 1) {
          const attack = ask(hostile, style, model, texts[count % texts.length] ?? '', count % 2 === 0);
          const asked = gateway.vendor.seen.length;
          // The only upstream of the model: while it cools down, this would be refused without asking it.
          expect((await ask(gateway.key, style, model, 'Hello there')).status).toBe(200);
          expect(gateway.vendor.seen.slice(asked).some(({ text }) => text.includes('Hello there'))).toBe(true);
          await attack;
        }
      });
    });
  });
});
