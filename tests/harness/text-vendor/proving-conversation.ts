import type { JsonObject } from '#contracts';
import { TEST_KEY, type TestGateway } from '../test-gateway.js';
import { MODEL_OVER } from './text-gateway.js';
import { type Style, textRequest } from './text-requests.js';

/** The replies of a vendor account, with proofs by which it knows them again. */
export const provingAs =
  (account: string) =>
  (json: string): string =>
    json
      .replaceAll(/"(proof|sealed)"/g, () => `"PROOF_OF_${account}${(proofs += 1)}"`)
      .replaceAll('"thought":true', () => `"thought":true,"thoughtSignature":"PROOF_OF_${account}${(proofs += 1)}"`)
      .replaceAll('"reasoning_content":"deep"', () => {
        const detail = { type: 'reasoning.encrypted', data: `PROOF_OF_${account}${(proofs += 1)}`, index: 0 };
        return `"reasoning_content":"deep","reasoning_details":[${JSON.stringify(detail)}]`;
      });
let proofs = 0;

/** How many proofs there are, which is the number of the last one. */
export const proofsWritten = (): number => proofs;

/** How an account refuses the proof of another. */
export const REFUSAL = {
  status: 400,
  body: { error: { type: 'invalid_request_error', message: 'Invalid `signature` in `thinking` block', code: null } },
};

/** What a reply adds to the history of its style, from the whole reply of an upstream of that style. */
function turnsOf(style: Style, body: JsonObject): JsonObject[] {
  if (style === 'responses') return body['output'] as JsonObject[];
  if (style === 'messages') return [{ role: 'assistant', content: body['content'] as JsonObject[] }];
  if (style === 'gemini') return [(body['candidates'] as { content: JsonObject }[])[0]!.content];
  return [(body['choices'] as { message: JsonObject }[])[0]!.message];
}

const FIELD: Readonly<Record<Style, string>> = {
  responses: 'input',
  messages: 'messages',
  gemini: 'contents',
  chat: 'messages',
};

const said = (style: Style, text: string): JsonObject =>
  style === 'gemini' ? { role: 'user', parts: [{ text }] } : { role: 'user', content: text };

/** A client that goes on with its conversation, all of it in every request. */
export class Conversation {
  readonly history: JsonObject[] = [];

  constructor(
    private readonly gateway: Pick<TestGateway, 'send'>,
    private readonly style: Style,
    private readonly headers: Readonly<Record<string, string>>,
    private readonly more: JsonObject = {},
    private readonly model: string = MODEL_OVER[style],
  ) {}

  /**
   * @param gateway of several processes the one that is asked.
   * @throws where a turn is not answered well.
   */
  async say(text: string, gateway: Pick<TestGateway, 'send'> = this.gateway): Promise<Headers> {
    const { style } = this;
    this.history.push(said(style, text));
    const { path, headers, body } = textRequest(style, { key: TEST_KEY, model: this.model, stream: false });
    const sent = { ...body, ...this.more, [FIELD[style]]: this.history };
    const answer = await gateway.send('POST', path, sent, { ...headers, ...this.headers });
    if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
    this.history.push(...turnsOf(style, answer.body));
    return answer.headers;
  }
}
