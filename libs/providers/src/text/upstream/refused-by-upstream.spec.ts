import { GatewayError } from '#contracts';
import { parseReply } from './codec-failures.js';
import { refusedByUpstream, refusesProof, reportedFailure, withoutSecrets } from './refused-by-upstream.js';

const refused = (status: number, body: unknown, sent = '{"model":"theirs"}'): GatewayError =>
  refusedByUpstream({ status, headers: {} }, typeof body === 'string' ? body : JSON.stringify(body), {
    upstreamModel: 'theirs',
    sent: [Buffer.from(sent)],
  });

/** Refusals whose status blames the request, although the operator's key, account or configuration is the cause. */
const OPERATORS: readonly (readonly [string, unknown])[] = [
  [
    'a key that is not valid',
    {
      error: {
        code: 400,
        status: 'INVALID_ARGUMENT',
        message: 'API key not valid. Please pass a valid API key.',
        details: [{ reason: 'API_KEY_INVALID', domain: 'vendor.example' }],
      },
    },
  ],
  [
    'no credit',
    {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'Your credit balance is too low to access the API.' },
    },
  ],
  ['a quota that is used up', { error: { type: 'invalid_request_error', code: 'insufficient_quota', message: 'No.' } }],
  ['a model the account has not', { error: { code: 'model_not_found', message: 'The model does not exist.' } }],
  [
    'a region that is not served',
    [{ error: { status: 'FAILED_PRECONDITION', message: 'User location is not supported for the API use.' } }],
  ],
];

/** How servers say that a conversation is too long, most of them without a word for machines. */
const TOO_LONG = [
  'prompt is too long: 2 tokens > 1 maximum',
  'Input is too long for requested model.',
  'The input token count exceeds the maximum number of tokens allowed 1.',
  "This model's maximum context length is 1 tokens. However, your messages resulted in 2 tokens.",
  "This endpoint's maximum context length is 1 tokens. However, you requested about 2 tokens.",
  "This model's maximum prompt length is 1 but the request contains 2 tokens.",
  'the request exceeds the available context size (1 tokens), try increasing it',
  'Prompt contains 2 tokens and 0 draft tokens, too large for model with 1 maximum context length',
  'Your input exceeds the context window of this model. Please adjust your input and try again.',
  "Requested token count exceeds the model's maximum context length of 1 tokens.",
  "The input (2 tokens) is longer than the model's context length (1 tokens).",
  'Invalid request: Your request exceeded model token limit: 1 (requested: 2)',
  '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 2]',
  'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 1. Given: 2 `inputs` tokens',
  'Unable to submit request because the input token count is 2 but the model only supports up to 1.',
  'Trying to keep the first 2 tokens when context the overflows. However, the model is loaded with context length of only 1 tokens',
  'The number of tokens to keep from the initial prompt is greater than the context length',
  'prompt too long; exceeded max context length by 1 tokens',
  "You passed 2 input tokens and requested 0 output tokens. However, the model's context length is only 1 tokens.",
];

/** Bodies of servers that put their sentence elsewhere than in `error.message`. */
const ELSEWHERE: readonly unknown[] = [
  { code: 'Client specified an invalid argument', error: 'The field is wrong.' },
  { detail: 'The field is wrong.' },
  { detail: [{ loc: ['body', 'x'], msg: 'The field is wrong.', type: 'missing' }] },
  { object: 'error', message: { detail: [{ msg: 'The field is wrong.' }] }, type: 'invalid_request_error', code: null },
  { object: 'error', message: 'The field is wrong.', type: 'BadRequestError', code: 400 },
  [{ error: { code: 400, status: 'INVALID_ARGUMENT', message: 'The field is wrong.' } }],
  { errors: [{ code: 7_003, message: 'The field is wrong.' }] },
  { code: 'InvalidParameter', msg: 'The field is wrong.' },
  { error: { error: { message: 'The field is wrong.' } } },
  // What stands behind a server, in its own words.
  { error: { message: JSON.stringify({ error: { message: 'The field is wrong.' } }), code: 400 } },
  ...[
    (json: string) => `upstream error: status_code=400, ${json}`,
    (json: string) => `Provider API error: ${json}`,
    (json: string) => `400 ${json}`,
    (json: string) => `litellm.BadRequestError: AnthropicException - ${json}. Received Model Group=theirs`,
    (json: string) => `litellm.BadRequestError: AnthropicException - b'${json}'`,
  ].map((behind) => ({ error: { message: behind(JSON.stringify({ error: { message: 'The field is wrong.' } })) } })),
  ...[
    { error: { message: 'The field is wrong.', type: 'invalid_request_error' } },
    [{ error: { code: 400, message: 'The field is wrong.' } }],
    { message: 'The field is wrong.' },
    'The field is wrong.',
  ].map((raw) => ({
    error: {
      message: 'Provider returned error',
      code: 400,
      metadata: { raw: typeof raw === 'string' ? raw : JSON.stringify(raw, null, 2), provider_name: 'Maker' },
    },
  })),
];

describe('A refusal by an upstream', () => {
  it.each(OPERATORS)(
    'is a failure of the upstream, reported without its words, when the cause is %s',
    (_cause, body) => {
      const error = refused(400, body);
      expect(error).toMatchObject({ code: 'upstream_error', publicMessage: 'The upstream failed.' });
    },
  );

  it("is reported in the upstream's words when the request is the cause", () => {
    const body = {
      error: { message: 'temperature: must be below 1', type: 'invalid_request_error', param: 'temperature' },
    };
    expect(refused(400, body)).toMatchObject({
      code: 'invalid_parameter',
      publicMessage: 'temperature: must be below 1',
      param: 'temperature',
    });
  });

  it('is one of a proof where the maker behind a server refuses it', () => {
    for (const message of [
      'Corrupted thought signature.',
      'messages.7.content.2: Invalid signature in thinking block',
    ]) {
      const metadata = { raw: JSON.stringify({ message }), provider_name: 'Maker' };
      const error = refused(400, { error: { message: 'Provider returned error', code: 400, metadata } });
      expect([error.publicMessage, refusesProof(error)]).toEqual([message, true]);
    }
  });

  it('keeps the words for machines of a server and of the maker behind it', () => {
    const raw = JSON.stringify({ error: { message: 'Too long.', code: 'context_length_exceeded', param: 'input' } });
    const body = { error: { message: 'Provider returned error', code: 400, metadata: { raw } } };
    expect(refused(400, body)).toMatchObject({ upstreamCode: 'context_length_exceeded', param: 'input' });
    expect(reportedFailure(body.error)).toMatchObject({ upstreamCode: 'context_length_exceeded', param: 'input' });
  });

  it.each([[{ raw: '' }], [{ raw: '{' }], [{ raw: 7 }], ['x'], [{}]])(
    'is read with strange words beside it: %j',
    (metadata) => {
      const error = refused(400, { error: { message: 'The field is wrong.', metadata } });
      expect(error.publicMessage).toMatch(/^(The field is wrong\.|\{)$/);
    },
  );

  it("is not blamed on the operator because of the caller's own words in it", () => {
    const body = { error: { message: 'stop: "API key not valid" is too long' } };
    expect(refused(400, body).code).toBe('invalid_parameter');
    const own = JSON.stringify({ error: { type: 'authentication_error', message: 'API key not valid' } });
    expect(refused(400, { error: { message: `tools.0.description is wrong: ${own}` } }).code).toBe('invalid_parameter');
  });

  it('leaves the reason in the log and never the sentence, which may hold prompts and keys', () => {
    const secret = 'sk-operator-1234 and the prompt';
    const inBody = refused(500, { error: { type: 'api_error', message: secret, code: secret } });
    expect(inBody.message).toBe('upstream answered 500 api_error');
    expect(refused(500, secret).message).toBe('upstream answered 500');
    expect(reportedFailure({ type: 'overloaded_error', message: secret }).message).toBe(
      'upstream reported: overloaded_error',
    );
    expect(() => parseReply(secret)).toThrow(/^not a JSON object, 31 characters$/);
  });

  it.each<[number, unknown]>([
    [401, { error: { message: 'No.' } }],
    [402, { error: { message: 'Insufficient Balance' } }],
    [403, { error: { code: 403, status: 'PERMISSION_DENIED', message: 'Your API key was reported as leaked.' } }],
    [403, { error: { status: 'PERMISSION_DENIED', message: 'x', details: [{ reason: 'SERVICE_DISABLED' }] } }],
    [403, { error: { type: 'permission_error', message: 'Your API key does not have permission to use this.' } }],
    [403, { error: { code: 'unsupported_country_region_territory', message: 'Country not supported' } }],
    [404, { error: { code: 'model_not_found', message: 'The model `theirs` does not exist' } }],
    [404, { error: { type: 'not_found_error', message: 'model: theirs' } }],
    [404, { error: { status: 'NOT_FOUND', message: 'models/theirs is not found for API version v1beta' } }],
    [404, { error: { type: 'NotFoundError', message: 'The model `theirs` does not exist.' } }],
    [400, { error: { type: 'invalid_request_error', message: 'Model Not Exist' } }],
    [404, '<html>nothing here</html>'],
  ])('is a failure of the upstream with status %d: %j', (status, body) => {
    expect(refused(status, body)).toMatchObject({ code: 'upstream_error', publicMessage: 'The upstream failed.' });
  });

  it.each<[number, string, unknown]>([
    [403, 'permission_denied', { error: { status: 'PERMISSION_DENIED', message: 'You do not have permission.' } }],
    [403, 'permission_denied', '<html>blocked</html>'],
    [404, 'not_found', { error: { code: 'model_not_found', message: 'The model `of-a-tool` does not exist' } }],
    [400, 'invalid_parameter', { error: { status: 'FAILED_PRECONDITION', message: 'The File is not ACTIVE.' } }],
    [409, 'invalid_parameter', { error: { message: 'The conversation is locked.' } }],
    [415, 'unsupported_media_type', { error: { message: 'No.' } }],
    [424, 'invalid_parameter', { error: { message: 'The server did not answer.' } }],
    [451, 'permission_denied', { error: { message: 'No.' } }],
  ])("is the request's with status %d: %s", (status, code, body) => {
    expect(refused(status, body).code).toBe(code);
  });

  it.each([
    ['API key not valid was not found', '{"id":"API key not valid"}'],
    ['API key not valid was not found', String.raw`{"id":"\u0041PI key not valid"}`],
    ['API key not valid was not found', '{"id":"%41PI%20key not valid"}'],
    ['models/theirs not found', '{"id":"models/theirs"}'],
  ])("is not blamed on the operator for a sentence of the caller's own: %s", (message, sent) => {
    expect(refused(404, { error: { message } }, sent).code).toBe('not_found');
  });

  it.each([
    [{ error: { code: 'context_length_exceeded', message: 'Too long.' } }, 'context_length_exceeded'],
    [{ error: { code: 'invalid_prompt', message: 'No.' } }, 'invalid_prompt'],
    [{ error: { code: 'content_filter', message: 'No.' } }, 'content_filter'],
    [
      { error: { type: 'invalid_request_error', message: 'prompt is too long: 2 tokens > 1 maximum' } },
      'context_length_exceeded',
    ],
    [
      { error: { code: 400, status: 'INVALID_ARGUMENT', message: 'The input token count (2) exceeds 1.' } },
      'context_length_exceeded',
    ],
    ...TOO_LONG.map((message): [{ error: object }, string] => [{ error: { message } }, 'context_length_exceeded']),
    [{ error: { type: 'exceed_context_size_error', message: 'No.' } }, 'context_length_exceeded'],
    [
      {
        error: {
          message: `litellm.ContextWindowExceededError: BadRequestError: OpenAIException - This model's maximum context length is 1.`,
        },
      },
      'context_length_exceeded',
    ],
    [
      { error: { code: 'invalid_parameter_error', message: '<400> X.Y: Range of input length should be [1, 2]' } },
      'context_length_exceeded',
    ],
  ])('keeps the code that agents act on: %j', (body, upstreamCode) => {
    expect(refused(400, body)).toMatchObject({ code: 'invalid_parameter', upstreamCode });
    expect(reportedFailure(body.error)).toMatchObject({ code: 'invalid_parameter' });
  });

  it.each([
    ['invalid_parameter_error', 'No.'],
    ['string_too_long', 'Your input exceeds the context window.'],
  ])("keeps the upstream's own code where its sentence says no more: %s", (upstreamCode, message) => {
    expect(refused(400, { error: { code: upstreamCode, message } })).toMatchObject({ upstreamCode });
  });

  it.each(ELSEWHERE)("is reported in the upstream's words wherever they are: %j", (body) => {
    expect(refused(422, body)).toMatchObject({ code: 'invalid_parameter', publicMessage: 'The field is wrong.' });
  });

  it.each<[number, string]>([
    [400, 'You have reached your specified API usage limits. You will regain access on 2999-12-01 at 00:00 UTC.'],
    [429, 'Weekly limit reached. It resets in 3 days.'],
  ])('%i names the time at which the account serves again: %s', (status, message) => {
    const soon = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
    const error = refused(status, { error: { message: message.replace('2999-12-01', soon) } });
    expect(error.retryAfterMs).toBeGreaterThan(86_400_000);
    expect(error.code).toBe(status === 429 ? 'upstream_rate_limited' : 'upstream_error');
  });

  it.each([400, 500])('%i names no time where its sentence is about the request', (status) => {
    const message = 'The tool "until" failed: it will reset in 3 days.';
    expect(refused(status, { error: { message } }).retryAfterMs).toBeUndefined();
  });

  it('by a limit that the request alone exceeds has no code that clients retry', () => {
    const message = 'Request too large for m: Limit 1, Requested 2.';
    const error = refused(429, { error: { message, code: 'rate_limit_exceeded' } });
    expect(error).toMatchObject({ code: 'request_too_large', publicMessage: message });
    expect(error.upstreamCode).toBeUndefined();
  });

  it.each([
    ['0.04s', 40],
    ['37s', 37_000],
    ['37.2s', 37_200],
    ['soon', undefined],
    ['-3s', undefined],
    ['99999s', 99_999_000],
    ['99999999s', undefined],
  ])('waits as long as its body says: %s', (retryDelay, waitMs) => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay }];
    const message = 'You exceeded your current quota, please check your plan.';
    const error = refused(429, { error: { code: 429, status: 'RESOURCE_EXHAUSTED', message, details } });
    expect([error.code, error.retryAfterMs]).toEqual(['upstream_rate_limited', waitMs]);
  });

  it.each<[object, number | undefined]>([
    [{ resets_in_seconds: 3_600 }, 3_600_000],
    [{ retry_after: '37' }, 37_000],
    [{ retry_after_seconds: 0.5 }, 500],
    [{ resets_at: Math.floor(Date.now() / 1_000) + 3_600 }, 3_600_000],
    [{ reset_at: new Date(Date.now() + 3_600_000).toISOString() }, 3_600_000],
    [{ resets_in_seconds: null, resets_at: 'soon', retry_after: -1 }, undefined],
  ])('waits as long as a field of its error says: %j', (fields, waitMs) => {
    const { retryAfterMs } = refused(429, { error: { type: 'usage_limit_reached', message: 'No.', ...fields } });
    // A moment is some milliseconds nearer when it is read.
    const inTens = (ms: number | undefined) => ms && Math.round(ms / 10_000);
    expect(inTens(retryAfterMs)).toBe(inTens(waitMs));
  });

  it('by a server without capacity is an overload', () => {
    expect(refused(498, { error: { message: 'Flex tier capacity exceeded.' } }).code).toBe('overloaded');
  });

  it.each([
    [400, 'invalid_parameter'],
    [401, 'upstream_error'],
    [402, 'upstream_error'],
    [404, 'not_found'],
    [408, 'upstream_timeout'],
    [413, 'request_too_large'],
    [429, 'upstream_rate_limited'],
    [500, 'upstream_error'],
    [503, 'overloaded'],
    [504, 'upstream_timeout'],
    [529, 'overloaded'],
    [200, 'upstream_error'],
  ])('that is reported by a number inside a reply equals the same status: %d', (number, code) => {
    expect(reportedFailure({ code: number, message: 'No.' }).code).toBe(code);
    expect(reportedFailure({ code: String(number), message: 'No.' }).code).toBe(code);
  });

  it('reveals neither the key nor the account nor the address of the operator', () => {
    const secrets = ['sk-operator', 'models.internal:8000'];
    const message =
      'Key sk-operator of org-AbCdEf0123456789 at http://models.internal:8000/v1, sk-proj-****************abcd';
    expect(withoutSecrets(new GatewayError('not_found', message), secrets).publicMessage).toBe(
      'Key [hidden] of [hidden] at http://[hidden]/v1, [hidden]',
    );
  });
});
