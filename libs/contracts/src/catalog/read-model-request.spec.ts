import { atBest } from '#testing';
import type { GatewayError } from '../errors.js';
import { readModelRequest } from './read-model-request.js';

const VIDEOS = '/v1/videos/generations';
const IMAGES = '/v1/images/generations';

function refusal(body: unknown, path: Parameters<typeof readModelRequest>[0] = VIDEOS): GatewayError {
  try {
    readModelRequest(path, body);
  } catch (error) {
    return error as GatewayError;
  }
  throw new Error('the body was accepted');
}

describe('readModelRequest', () => {
  it.each([[undefined], [null], [[]], ['{}'], [5], [true]])('refuses %j, which is no JSON object', (body) => {
    expect(refusal(body)).toMatchObject({ status: 400, publicMessage: 'The body must be a JSON object.' });
  });

  it.each([
    ['a missing model', {}, 'missing_parameter', 400],
    ['a null model', { model: null }, 'missing_parameter', 400],
    ['a number as model', { model: 7 }, 'invalid_parameter', 400],
    ['an empty model', { model: '' }, 'model_not_found', 404],
    ['a model of an object member', { model: 'constructor' }, 'model_not_found', 404],
    ['other letter case', { model: 'ALPHA-2.0' }, 'model_not_found', 404],
    ['the model of another path', { model: 'eta-image-2.0', prompt: 'x' }, 'invalid_parameter', 400],
  ])('refuses %s', (_case, body, code, status) => {
    expect(refusal(body)).toMatchObject({ code, status, param: 'model' });
  });

  it('suggests the models that were probably meant', () => {
    expect(refusal({ model: 'Alpha 2.0 fast' }).publicMessage).toMatch(/Did you mean alpha-2\.0-fast/);
    expect(refusal({ model: 'kappa-b-40' }, IMAGES).publicMessage).toMatch(/kappa-b-4\.0/);
  });

  it('lists the models of the path when none is near', () => {
    expect(refusal({ model: 'x'.repeat(10_000) }).publicMessage).toMatch(
      /^model "x{60}…" does not exist\. .*zeta-q3-mix/,
    );
  });

  it('says which path serves the model', () => {
    expect(refusal({ model: 'kappa-a-4-0' }).publicMessage).toBe(
      'model kappa-a-4-0 is not served by /v1/videos/generations: send it to POST /v1/images/generations.',
    );
    expect(refusal({ model: 'iota-1.0-edit-reseller' }, IMAGES).publicMessage).toMatch(/POST \/v1\/images\/edits/);
  });

  it('requires a model where the path serves several families', () => {
    expect(refusal({ prompt: 'x' }, IMAGES)).toMatchObject({ code: 'missing_parameter', param: 'model' });
  });

  it('reads -0 as 0, which it is once stored', () => {
    const body = { model: 'beta-2.7-r2v', prompt: 'x', image_with_roles: [{ url: 'https://a.test/b.png' }], seed: -0 };
    expect(readModelRequest(VIDEOS, body).parameters).toMatchObject({ seed: 0 });
  });

  it('lists every wrong field, and speaks of the first', () => {
    const error = refusal({ model: 'beta-2.7', promt: 'x', duration: '5', seed: -1, watermark: 'no' });
    expect(error.details?.map(({ param, code }) => [param, code])).toEqual([
      ['promt', 'unknown_parameter'],
      ['duration', 'invalid_parameter'],
      ['watermark', 'invalid_parameter'],
      ['seed', 'invalid_parameter'],
      ['prompt', 'missing_parameter'],
    ]);
    expect(error.publicMessage).toBe('promt is not a field of this model. Did you mean prompt?');
  });

  it.each([
    [{ model: 'zeta-q3', duration: 0 }, 'duration of zeta-q3 must be a whole number from 3 to 16, not 0.'],
    [{ model: 'zeta-q3', duration: 2 }, 'duration of zeta-q3 must be a whole number from 3 to 16, not 2.'],
    [{ model: 'zeta-q3-mix', duration: 0 }, 'duration must be a whole number from 1 to 16, not 0.'],
    [{ model: 'zeta-q3-mix', resolution: '540p' }, 'resolution of zeta-q3-mix must be 720p or 1080p, not "540p".'],
    [{ model: 'alpha-2.0-fast', resolution: '4K' }, 'resolution of alpha-2.0-fast must be 480p or 720p, not "4K".'],
  ])('says what the model takes where its family takes more: %j', (change, message) => {
    const error = refusal({
      prompt: 'x',
      ...(change.model.startsWith('zeta') && { image_urls: ['https://a.b/c'] }),
      ...change,
    });
    expect(error.details).toEqual([expect.objectContaining({ message })]);
  });

  it('does not judge a rule by a field that was wrong itself', () => {
    const error = refusal({ model: 'beta-2.7', image_urls: ['no url'] });
    expect(error.details?.map(({ param }) => param)).toEqual(['image_urls[0]']);
  });

  it('suggests no field that is sent already', () => {
    const error = refusal({ model: 'beta-2.7', prompt: 'x', mode: 'pro' });
    expect(error.publicMessage).toMatch(/^mode is not a field of this model\. Known fields: model, prompt/);
  });

  it('names the known fields when an unknown one resembles none', () => {
    expect(refusal({ model: 'zeta-q3', prompt: 'x', image_urls: ['https://a.b/c'], stylus: 1 }).publicMessage).toMatch(
      /^stylus is not a field of this model\. Known fields: model, prompt, image_urls.*, webhook_url\.$/,
    );
  });

  it('names the address of webhooks, which every model takes', () => {
    expect(refusal({ model: 'zeta-q3', prompt: 'x', image_urls: ['https://a.b/c'], webhook: 1 }).publicMessage).toBe(
      'webhook is not a field of this model. Did you mean webhook_url?',
    );
  });

  it('treats members named like object internals as unknown fields', () => {
    const body: unknown = JSON.parse('{"model":"alpha-2.0","prompt":"x","__proto__":{"n":1},"constructor":1}');
    expect(refusal(body).details?.map(({ param }) => param)).toEqual(['__proto__', 'constructor']);
  });

  it('answers ten thousand unknown fields quickly and with a bounded list', async () => {
    const junk = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`field_${index}`, index]));
    const body = { model: 'alpha-2.0', prompt: 'x', ...junk };
    expect(refusal(body).details).toHaveLength(50);
    expect(await atBest(3_000, () => refusal(body))).toBeLessThan(3_000);
  });

  it('leaves the body unchanged', () => {
    const body = Object.freeze({ model: 'alpha-2.0', prompt: 'x', seed: null });
    expect(readModelRequest(VIDEOS, body).parameters).not.toBe(body);
    expect(body).toEqual({ model: 'alpha-2.0', prompt: 'x', seed: null });
  });
});
