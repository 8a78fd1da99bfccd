import type { MediaFailure } from '#contracts';
import { MEDIA_CODECS, type VendorProtocol } from '../media-protocols.js';
import { refusedBy } from './call-failures.js';
import type { MediaCodec } from './media-codec.js';

type ErrorOf = (code: string, message: string) => object;

/** How each vendor writes an error of its own code and sentence: a protocol that is missing here is an error of types. */
const ERRORS_OF: Readonly<Record<VendorProtocol, ErrorOf>> = {
  'ark-image': (code, message) => ({ error: { code, message } }),
  'ark-video': (code, message) => ({ error: { code, message } }),
  'dashscope-image': (code, message) => ({ code, message }),
  'dashscope-video': (code, message) => ({ code, message }),
  fal: (type, msg) => ({ detail: [{ loc: ['body'], msg, type }] }),
  gateway: (code, message) => ({ error: { code, message } }),
  kling: (code, message) => ({ code, message }),
  minimax: (code, message) => ({ type: 'error', error: { code, message } }),
  'vertex-veo': (status, message) => ({ error: { code: 400, status, message } }),
  vidu: (reason, message) => ({ reason, message }),
  'xai-image': (code, error) => ({ code, error }),
};
const VENDORS = Object.entries(ERRORS_OF).map(([protocol, errorOf]): readonly [MediaCodec, ErrorOf] => [
  MEDIA_CODECS[protocol as VendorProtocol],
  errorOf,
]);
const CODES: Readonly<Record<string, string>> = { kling: '1201', minimax: '2013' };

const failureOf = (codec: MediaCodec, status: number, body: object): MediaFailure =>
  codec.readFailure({ status, headers: {}, body: body as never }, 'start');

const DEAD_LINKS = [
  'Failed to download image from url',
  'Unable to fetch the file at [link]',
  'The image could not be downloaded',
  'image url is not accessible',
  'Cannot load video: 404',
  'first_frame_image: invalid image format',
  'File is not in a valid base64 format',
  'Image pixel is invalid',
];

const NO_FILES = [
  'duration must be 5 or 10',
  'unsupported value for video duration',
  'image_urls takes no more than 4',
];

describe('Too many requests', () => {
  it.each([
    'Daily quota exceeded',
    'per-day limit reached',
    'You have exceeded the 5-hour usage quota',
    'Limit reached on requests per day (RPD): Limit 200',
    'Quota exceeded for metric: generate_requests_per_model_per_day',
    'usage limit reached for this month',
    'limit of today is used up',
  ])('of a period are no matter of waiting a moment: %s', (message) => {
    for (const [codec, errorOf] of VENDORS)
      expect(failureOf(codec, 429, errorOf('x', message))).toMatchObject({ kind: 'unfit', reason: 'not_paid' });
  });

  it.each(['Rate limit reached: 5 requests per minute', 'Too many requests today in line', 'operator limit reached'])(
    'of a moment are: %s',
    (message) => {
      for (const [codec, errorOf] of VENDORS) expect(failureOf(codec, 429, errorOf('x', message)).kind).toBe('busy');
    },
  );
});

describe('Work that is not there any more', () => {
  it.each(
    VENDORS.filter(([codec]) => codec.traits.style === 'task').map(
      ([codec, errorOf]) => [codec.protocol, codec, errorOf] as const,
    ),
  )('has ended whatever the sentence of the 404 is: %s', (_, codec, errorOf) => {
    const body = errorOf('job_not_found', 'nothing here') as never;
    expect(codec.readFailure({ status: 404, headers: {}, body }, 'check').reason).toBe('work_lost');
  });
});

describe.each(VENDORS.map(([codec, errorOf]) => [codec.protocol, codec, errorOf] as const))(
  'A refusal of %s',
  (protocol, codec, errorOf) => {
    const code = CODES[protocol] ?? 'invalid_parameter_error';

    it.each(DEAD_LINKS)('that names a file blames the file and nothing else: %s', (message) => {
      // Another gateway says it by a code of its own.
      const own = protocol === 'gateway' ? 'invalid_media' : code;
      expect(failureOf(codec, 400, errorOf(own, message))).toMatchObject({ kind: 'refused', code: 'invalid_media' });
    });

    it.each(NO_FILES)('that names another field does not blame a file: %s', (message) => {
      expect(failureOf(codec, 400, errorOf(code, message)).code).not.toBe('invalid_media');
    });

    it.each(['insufficient_user_quota', 'insufficient_balance', 'InsufficientBalance', 'credits_exhausted'])(
      'that a reseller in between explains by its own money (%s) is never the fault of an order',
      (own) => {
        for (const status of [400, 403, 429])
          expect(failureOf(codec, status, errorOf(own, 'x'))).toMatchObject({ kind: 'unfit', reason: 'not_paid' });
      },
    );

    it.each(['invalid_api_key', 'InvalidApiKey', 'authentication_error'])(
      'that names the key (%s) is never the fault of an order',
      (own) => expect(failureOf(codec, 400, errorOf(own, 'x'))).toMatchObject({ kind: 'unfit', reason: 'wrong_key' }),
    );

    it.each(['model_not_found', 'ModelNotFound', 'model_not_available'])(
      'that names the model (%s) closes that model here',
      (own) => expect(failureOf(codec, 400, errorOf(own, 'x'))).toMatchObject({ kind: 'unfit', scope: 'model' }),
    );
  },
);

/** Refusals that each vendor blames by a word of its own: its code and sentence, and what they are. */
const OWN_WORDS: Readonly<Record<VendorProtocol, readonly [code: string, message: string, reason: string]>> = {
  'ark-image': ['InputTextSensitiveContentDetected', 'The text may violate the rules.', 'prompt_refused'],
  'ark-video': ['InputTextSensitiveContentDetected', 'The text may violate the rules.', 'prompt_refused'],
  'dashscope-image': ['DataInspectionFailed', 'Input text may be inappropriate.', 'prompt_refused'],
  'dashscope-video': ['DataInspectionFailed', 'Input text may be inappropriate.', 'prompt_refused'],
  fal: ['content_policy_violation', 'Flagged by a content checker.', 'content_refused'],
  gateway: ['content_policy', 'It was refused.', 'content_refused'],
  kling: ['1301', 'The request triggered risk control.', 'content_refused'],
  minimax: ['1026', 'Sensitive input.', 'content_refused'],
  'vertex-veo': ['INVALID_ARGUMENT', 'The prompt violates our usage guidelines.', 'content_refused'],
  vidu: ['TaskPromptPolicyViolation', 'It was refused.', 'prompt_refused'],
  'xai-image': ['invalid-argument', 'Rejected by content moderation.', 'content_refused'],
};

/** How resellers and proxies hand on what their own upstream said. */
const ENVELOPES: Readonly<Record<string, (said: object) => unknown>> = {
  'as it is': (said) => said,
  'a text of JSON in a sentence': (said) => ({ code: 'fail_to_fetch_task', message: JSON.stringify(said), data: null }),
  'the same, behind words of its own': (said) => ({
    error: { message: `upstream error: status_code=400, ${JSON.stringify(said)}`, type: 'new_api_error' },
  }),
  data: (said) => ({ code: 400, message: 'upstream error', data: said }),
  'data, twice': (said) => ({ code: 400, data: { status: 400, response: said } }),
  'an error': (said) => ({ error: said }),
  'an error with what was said raw': (said) => ({
    error: {
      message: 'Provider returned error',
      code: 400,
      metadata: { raw: JSON.stringify(said), provider_name: 'x' },
    },
  }),
  'a detail': (said) => ({ detail: said }),
};

describe.each(VENDORS.map(([codec, errorOf]) => [codec.protocol, codec, errorOf] as const))(
  'A refusal of %s that a reseller hands on',
  (protocol, codec, errorOf) => {
    const [code, message, reason] = OWN_WORDS[protocol as VendorProtocol];
    const refused = (status: number, body: unknown): MediaFailure =>
      refusedBy(codec, { status, headers: {}, body: body as never }, 'start');

    it.each(Object.entries(ENVELOPES))('is blamed as it would be without the reseller: %s', (_, wrapped) => {
      expect(refused(400, wrapped(errorOf(code, message)))).toMatchObject({ reason });
      expect(refused(400, wrapped(errorOf('insufficient_balance', 'x')))).toMatchObject({ reason: 'not_paid' });
      expect(refused(429, wrapped(errorOf('x', 'Daily quota exceeded')))).toMatchObject({ reason: 'not_paid' });
    });

    it('says nothing by words of the order that stand in a sentence', () => {
      const prompt = JSON.stringify(errorOf('invalid_api_key', 'Daily quota exceeded'));
      const body = errorOf(CODES[protocol] ?? 'x', `the prompt is not understood: ${prompt}`);
      expect(refused(400, body)).not.toMatchObject({ kind: 'unfit' });
      expect(refused(400, ENVELOPES['data']?.(body))).not.toMatchObject({ kind: 'unfit' });
    });
  },
);
