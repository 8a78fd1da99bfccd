import { startTestGateway, TEST_KEY, type TestGateway } from '../harness/test-gateway.js';

const BOUNDARY = 'b';
const EMPTY_PART = `\r\n--${BOUNDARY}\r\n\r\n`;
const FILE_PART = `\r\n--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\nwords`;
const END = `\r\n--${BOUNDARY}--\r\n`;
const field = (name: string, value: string): string =>
  `\r\n--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}`;

/** Each costs a reader some microseconds, where it looks into them. */
const MANY_PARTS = 2_000_000;

describe('A form that is much work to read', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ workers: false });
  });
  afterAll(() => gateway.stop());

  async function upload(form: string): Promise<{ status: number; text: string }> {
    const answer = await fetch(`${gateway.baseUrl}/v1/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
      body: form,
    });
    return { status: answer.status, text: await answer.text() };
  }

  const good = field('purpose', 'assistants') + FILE_PART;

  it.each([
    ['before its file', EMPTY_PART.repeat(MANY_PARTS) + good],
    ['behind its file', good + EMPTY_PART.repeat(MANY_PARTS)],
  ])('is refused for its two million parts %s, of which only the first are looked into', async (_where, form) => {
    const { status, text } = await upload(form + END);
    expect([status, text]).toEqual([400, expect.stringContaining('form may have at most 22 parts')]);
  });

  it('takes as many fields as it may have beside its file', async () => {
    const fields = Array.from({ length: 19 }, (_, index) => field(`f${index}`, 'x')).join('');
    const { status, text } = await upload(fields + good + END);
    expect([status, text]).toEqual([400, expect.not.stringContaining('parts')]);
    expect((await upload(good + END)).status).toBe(200);
  });
});
