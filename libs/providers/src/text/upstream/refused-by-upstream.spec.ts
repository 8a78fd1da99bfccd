import { Readable } from 'node:stream';
import { GatewayError } from '#contracts';
import { parseReply, reportedFailure } from './codec-failures.js';
import { refusedByUpstream } from './refused-by-upstream.js';
import type { UpstreamReply } from './upstream-http.js';

const refused = (status: number, body: unknown): GatewayError =>
  refusedByUpstream(
    { status, headers: {}, body: Readable.from([]) as UpstreamReply['body'] },
    typeof body === 'string' ? body : JSON.stringify(body),
  );

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

describe('A refusal by an upstream', () => {
  it.each(OPERATORS)('is a failure of the upstream, told without its words, when the cause is %s', (_cause, body) => {
    const error = refused(400, body);
    expect(error).toMatchObject({ code: 'upstream_error', publicMessage: 'The upstream failed.' });
  });

  it("is told in the upstream's words when the request is the cause", () => {
    const body = {
      error: { message: 'temperature: must be below 1', type: 'invalid_request_error', param: 'temperature' },
    };
    expect(refused(400, body)).toMatchObject({
      code: 'invalid_parameter',
      publicMessage: 'temperature: must be below 1',
      param: 'temperature',
    });
  });

  it("is not blamed on the operator because of the caller's own words in it", () => {
    const body = { error: { message: 'stop: "API key not valid" is too long' } };
    expect(refused(400, body).code).toBe('invalid_parameter');
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
});
