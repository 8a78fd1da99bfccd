import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { startTextGateway, type TextGateway } from '../harness/text-vendor/text-gateway.js';

const MODEL = 'vendor-2.5-flash';

describe('The list of models', () => {
  let gateway: TextGateway;
  beforeAll(async () => {
    gateway = await startTextGateway();
  });
  afterAll(() => gateway.stop());

  async function idsOf<Item>(pages: PromiseLike<AsyncIterable<Item>>, idOf: (item: Item) => string): Promise<string[]> {
    const ids: string[] = [];
    for await (const item of await pages) ids.push(idOf(item));
    return ids;
  }

  it('are listed and read one by one by the openai library', async () => {
    const { models } = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 });
    const ids = await idsOf(models.list(), ({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining([MODEL, 'eta-image-2.0']));
    expect(await models.retrieve(MODEL)).toMatchObject({ id: MODEL, object: 'model', owned_by: expect.any(String) });
    await expect(models.retrieve('no-such-model')).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  it('are listed and read one by one by the anthropic library', async () => {
    const { models } = new Anthropic({ apiKey: gateway.key, baseURL: gateway.baseUrl, maxRetries: 0 });
    expect(await idsOf(models.list({ limit: 5 }), ({ id }) => id)).toContain(MODEL);
    expect(await models.retrieve(MODEL)).toMatchObject({ id: MODEL, type: 'model', display_name: MODEL });
    await expect(models.retrieve('no-such-model')).rejects.toBeInstanceOf(Anthropic.NotFoundError);
  });

  it('are listed and read one by one by the genai library, where they write text', async () => {
    const { models } = new GoogleGenAI({ apiKey: gateway.key, httpOptions: { baseUrl: gateway.baseUrl } });
    const names = await idsOf(models.list(), ({ name }) => name ?? '');
    expect(names).toContain(`models/${MODEL}`);
    expect(names).not.toContain('models/eta-image-2.0');
    expect(await models.get({ model: MODEL })).toMatchObject({
      name: `models/${MODEL}`,
      displayName: MODEL,
      inputTokenLimit: 1_048_576,
      outputTokenLimit: 65_535,
      supportedActions: ['generateContent', 'streamGenerateContent', 'countTokens'],
    });
    await expect(models.get({ model: 'no-such-model' })).rejects.toMatchObject({ status: 404 });
  });
});
