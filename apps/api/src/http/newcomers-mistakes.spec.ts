import { WHERE_TEXT_IS } from '#contracts';
import { startTestGateway, TEST_KEY, type TestGateway } from '../../../../tests/harness/test-gateway.js';

/** What people send before reading the guide; each error must say what to send instead. */
describe('A request with a typical mistake', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ workers: false, environment: { ADMIN_TOKEN: 'admin-token-for-tests' } });
  });
  afterAll(() => gateway.stop());

  const messageOf = async (method: string, path: string, body?: object, headers?: Record<string, string>) => {
    const answer = await gateway.send(method, path, body, headers);
    return [answer.status, (answer.body as { message: string }).message];
  };

  it.each([
    ['POST', '/v1/completions', `Text is ${WHERE_TEXT_IS}.`],
    ['POST', '/v1/chat', `Text is ${WHERE_TEXT_IS}.`],
    ['POST', '/v1/image/generation', 'Did you mean POST /v1/images/generations?'],
    ['POST', '/v1/video/generations', 'Did you mean POST /v1/videos/generations?'],
    ['POST', '/v1/videos', 'Did you mean POST /v1/videos/generations?'],
    ['POST', '/v1/response', 'Did you mean POST /v1/responses?'],
    ['GET', '/V1/Models', 'Did you mean GET /v1/models?'],
    ['GET', '/v1/model', 'Did you mean GET /v1/models?'],
    ['GET', '/v1/task/task_1', 'Did you mean GET /v1/tasks/{task_id}?'],
    ['POST', '/v1/moderations', 'GET /docs describes every route, GET /openapi.json for programs.'],
    ['GET', '/', 'GET /docs describes every route, GET /openapi.json for programs.'],
  ])('%s %s gets an error that names the right path', async (method, path, hint) => {
    const body = method === 'POST' ? { model: 'vendor-5' } : undefined;
    expect(await messageOf(method, path, body)).toEqual([404, `There is no ${method} ${path}. ${hint}`]);
  });

  it.each([
    ['POST', '/upload/v1beta/files', 'POST /v1/files'],
    ['POST', '/v1/uploads', 'POST /v1/files'],
    ['POST', '/v1/batches', 'send the requests one by one'],
    ['POST', '/v1/messages/batches', 'send the requests one by one'],
    ['POST', '/v1/conversations', 'previous_response_id'],
    ['GET', '/v1/conversations/conv_1/items', 'previous_response_id'],
    ['POST', '/v1beta/cachedContents', 'marks prompts that begin alike'],
    ['POST', '/v1/threads/runs', 'POST /v1/responses'],
    ['POST', '/v1/images/generate', 'POST /v1/images/generations'],
    ['POST', '/v1/images/variations', 'POST /v1/images/edits'],
    ['POST', '/v1beta/models/vendor-5/generateContent', '{model}:generateContent'],
  ])('%s %s gets an error that names the alternative to what is not offered', async (method, path, hint) => {
    const body = method === 'POST' ? { model: 'vendor-5' } : undefined;
    expect(await messageOf(method, path, body)).toEqual([404, expect.stringContaining(hint)]);
  });

  it('gets the same error for multipart file uploads', async () => {
    const headers = { authorization: `Bearer ${TEST_KEY}` };
    const body = new FormData();
    body.set('file', new Blob(['x']), 'x.txt');
    const answer = await fetch(`${gateway.baseUrl}/v1/uploads`, { method: 'POST', headers, body });
    expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('POST /v1/files')]);
  });

  it('suggests admin routes only to the holder of the admin token', async () => {
    const [, stranger] = await messageOf('GET', '/admin/v2/accounts', undefined, {});
    expect(stranger).not.toContain('/admin/v1');
    const admin = { authorization: 'Bearer admin-token-for-tests' };
    expect(await messageOf('GET', '/admin/v1/account', undefined, admin)).toEqual([
      404,
      'There is no GET /admin/v1/account. Did you mean GET /admin/v1/accounts?',
    ]);
  });

  const TEXT_ROUTES: [path: string, body: (model: string) => object][] = [
    ['/v1/responses', (model) => ({ model, input: 'hello' })],
    ['/v1/chat/completions', (model) => ({ model, messages: [{ role: 'user', content: 'hello' }] })],
    ['/v1/messages', (model) => ({ model, max_tokens: 9, messages: [{ role: 'user', content: 'hello' }] })],
    ['/v1/messages/count_tokens', (model) => ({ model, messages: [{ role: 'user', content: 'hello' }] })],
    ['/v1beta/models/MODEL:generateContent', () => ({ contents: [{ parts: [{ text: 'hello' }] }] })],
  ];
  describe.each(TEXT_ROUTES)('to %s', (path, body) => {
    const refusal = (model: string) =>
      messageOf('POST', path.replace('MODEL', model), body(model), {
        authorization: `Bearer ${TEST_KEY}`,
        'vendor-version': '2023-06-01',
      });

    it('gets an error that names the nearest model', async () => {
      expect(await refusal('vendor5')).toEqual([404, 'There is no model "vendor5". Did you mean "vendor-5"?']);
    });
    it('gets an error that lists the models when none is near', async () => {
      const [status, message] = await refusal('model-of-another-vendor');
      expect([status, message]).toEqual([
        404,
        expect.stringMatching(
          /^There is no model "model-of-another-vendor"\. For text there are vendor-5, .*GET \/v1\/models lists all\.$/,
        ),
      ]);
    });
    it('gets an error that names the path of an image model', async () => {
      expect(await refusal('eta-image-2.0')).toEqual([
        404,
        'The model "eta-image-2.0" does not write text: send it to POST /v1/images/generations.',
      ]);
    });
  });

  it('to /v1/quote for a text model gets an error that names the field of the chat body that it takes', async () => {
    const answer = await messageOf('POST', '/v1/quote', { model: 'vendor-5', prompt: 'x' });
    expect(answer).toEqual([400, expect.stringContaining('messages is required.')]);
  });

  it.each(['/v1/quote', '/v1/chat/completions', '/v1/images/generations', '/v1/videos/generations'])(
    'to %s without a name of a model gets an error that says so',
    async (path) => {
      const beside = { prompt: 'x', messages: [{ role: 'user', content: 'x' }] };
      expect(await messageOf('POST', path, { model: 5, ...beside })).toEqual([
        400,
        expect.stringMatching(/^model must be a string(, not 5)?\.$/),
      ]);
      expect(await messageOf('POST', path, beside)).toEqual([400, expect.stringMatching(/^model is required[.:]/)]);
    },
  );

  it.each(['/v1/images/generations', '/v1/videos/generations'])(
    'to %s gets an error that names the path of a text model',
    async (path) => {
      expect(await messageOf('POST', path, { model: 'vendor-5', prompt: 'x' })).toEqual([
        404,
        expect.stringContaining(`vendor-5 writes text: send it to ${WHERE_TEXT_IS}`),
      ]);
    },
  );

  it.each([
    ['/v1/responses', { messages: [] }, /^input is required\. messages is the field of POST \/v1\/chat/],
    ['/v1/responses/input_tokens', { contents: [] }, /^input is required, or .*\. contents is the field of POST/],
    [
      '/v1/chat/completions',
      { input: 'hello' },
      /^messages is required\. input is the field of POST \/v1\/responses\.$/,
    ],
    ['/v1/messages', { max_tokens: 9, contents: [] }, /^messages is required\. contents is the field of POST \/v1beta/],
    [
      '/v1beta/models/vendor-5:generateContent',
      { messages: [] },
      /^contents is required\. messages is the field of POST/,
    ],
  ])(
    'to %s with the conversation in the field of another style gets an error that names its path',
    async (path, body, expected) => {
      const headers = { authorization: `Bearer ${TEST_KEY}`, 'vendor-version': '2023-06-01' };
      expect(await messageOf('POST', path, { model: 'vendor-5', ...body }, headers)).toEqual([
        400,
        expect.stringMatching(expected),
      ]);
    },
  );

  it.each([
    [{}, /is required: a date such as 2023-06-01\.$/],
    [{ 'anthropic-version': 'latest' }, /must be a date such as 2023-06-01\.$/],
  ])('to /v1/messages with the version %j gets an error that says what it must be', async (version, expected) => {
    const body = { model: 'vendor-5', max_tokens: 9, messages: [{ role: 'user', content: 'hello' }] };
    const headers = { authorization: `Bearer ${TEST_KEY}`, ...version };
    expect(await messageOf('POST', '/v1/messages', body, headers)).toEqual([400, expect.stringMatching(expected)]);
  });

  it.each<[method: string, path: string, body: object | undefined, message: string]>([
    ['GET', '/v1/ledger?limit=abc', undefined, 'limit must be a whole number from 1 to 1000, not "abc".'],
    [
      'GET',
      '/v1/usage?group_by=color',
      undefined,
      'group_by must be any of day, model, key, tag, separated by commas.',
    ],
    [
      'POST',
      '/v1/videos/generations',
      { model: 'beta-2.5-preview', prompt: 'x', webhook_url: 'localhost' },
      'webhook_url cannot be called: it must be a whole URL, such as https://example.com/path.',
    ],
  ])('to %s %s gets an error that says what is allowed', async (method, path, body, message) => {
    expect(await messageOf(method, path, body)).toEqual([400, message]);
  });

  const REFUSED_KEYS: [what: string, path: string, headers: Record<string, string>, message: string][] = [
    ['no key', '', {}, 'No API key was sent: add the header "Authorization: Bearer <API_KEY>".'],
    [
      'a key without Bearer',
      '',
      { authorization: TEST_KEY },
      'The Authorization header lacks the word Bearer before the key: it must be "Authorization: Bearer <API_KEY>".',
    ],
    [
      'another scheme',
      '',
      { authorization: 'Basic c2stZ3c6' },
      'The Authorization header must be "Authorization: Bearer <API_KEY>"; the scheme Basic is not supported.',
    ],
    [
      'Bearer alone',
      '',
      { authorization: 'Bearer ' },
      'The Authorization header has no key after the word Bearer. Is the variable empty that should hold it?',
    ],
    [
      'a key in quotation marks',
      '',
      { authorization: `Bearer "${TEST_KEY}"` },
      'The API key was sent in quotation marks; send it without them.',
    ],
    [
      'Bearer twice',
      '',
      { authorization: `Bearer Bearer ${TEST_KEY}` },
      'The word Bearer stands twice before the API key; send it once.',
    ],
    [
      'the name of a variable',
      '',
      { authorization: 'Bearer $GATEWAY_API_KEY' },
      'The name of a variable was sent in place of the API key: in a shell, double quotation marks fill it in.',
    ],
    [
      'the key in the header of another service',
      '',
      { 'api-key': TEST_KEY },
      'The API key was sent in the header api-key, which is not read: add the header "Authorization: Bearer <API_KEY>".',
    ],
    [
      'the key in a field of the address',
      `?api_key=${TEST_KEY}`,
      {},
      'The API key was sent in the address, which logs keep: add the header "Authorization: Bearer <API_KEY>".',
    ],
    [
      'a key in the address',
      `?key=${TEST_KEY}`,
      {},
      'The API key was sent as ?key=, which only content-generation paths take: add the header "Authorization: Bearer <API_KEY>".',
    ],
  ];
  it.each(REFUSED_KEYS)(
    'with %s gets an error that says what is wrong with it',
    async (_what, query, headers, message) => {
      expect(await messageOf('GET', `/v1/models${query}`, undefined, headers)).toEqual([401, message]);
      expect(await messageOf('POST', `/v1/responses${query}`, { model: 'vendor-5' }, headers)).toEqual([401, message]);
    },
  );

  it('to /v1/messages without a key gets an error that names its own header', async () => {
    expect(await messageOf('POST', '/v1/messages', { model: 'vendor-5' }, {})).toEqual([
      401,
      'No API key was sent: add the header "x-api-key: <API_KEY>".',
    ]);
  });

  it('with a key that is not known gets an error that says why that may be', async () => {
    expect(await messageOf('GET', '/v1/models', undefined, { authorization: 'Bearer sk-gw-none' })).toEqual([
      401,
      'The API key is not valid: it is unknown, or was revoked, or its account is disabled.',
    ]);
  });

  it.each(['/v1/responses', '/v1/chat/completions', '/v1/messages'])(
    'to %s without a model gets an error that says where models are listed',
    async (path) => {
      const headers = { authorization: `Bearer ${TEST_KEY}`, 'vendor-version': '2023-06-01' };
      expect(await messageOf('POST', path, {}, headers)).toEqual([400, 'model is required. GET /v1/models lists all.']);
    },
  );

  it.each(['generateContent', 'streamGenerateContent', 'countTokens'])(
    'to %s by GET gets an error that names the method',
    async (method) => {
      const path = `/v1beta/models/vendor-2.5-flash:${method}`;
      expect(await messageOf('GET', path)).toEqual([
        404,
        `model "vendor-2.5-flash:${method}" does not exist: ${method} is called by POST.`,
      ]);
    },
  );

  it('by another method gets an error that lists those that the path takes', async () => {
    expect(await messageOf('PUT', '/v1/models/vendor-5')).toEqual([
      405,
      expect.stringMatching(/^This path does not take PUT: it takes GET(, HEAD or POST| or HEAD)\.$/),
    ]);
    expect(await messageOf('PUT', '/v1beta/models/vendor-5:generateContent')).toEqual([
      405,
      'This path does not take PUT: it takes GET, HEAD or POST.',
    ]);
  });

  it('never shows a secret sent in a wrong header', async () => {
    for (const authorization of [TEST_KEY, `Basic ${TEST_KEY}`, `Bearer "${TEST_KEY}"`, `${TEST_KEY} x`])
      expect(JSON.stringify(await messageOf('GET', '/v1/models', undefined, { authorization }))).not.toContain(
        TEST_KEY,
      );
  });

  it('with an admin token without Bearer gets an error that says so', async () => {
    const headers = { authorization: 'admin-token-for-tests' };
    expect(await messageOf('GET', '/admin/v1/accounts', undefined, headers)).toEqual([
      401,
      'The Authorization header lacks the word Bearer before the token: it must be "Authorization: Bearer <ADMIN_TOKEN>".',
    ]);
  });
});
