import {
  type JsonObject,
  type NativeBody,
  REFUSE_UNPRICED,
  requestUses,
  type TextStyle,
  type UpstreamPolicy,
} from '#contracts';
import { atBest } from '#testing';
import { permittedBody } from './permitted.js';

function sent(style: TextStyle, body: JsonObject, policy: UpstreamPolicy = REFUSE_UNPRICED): JsonObject {
  const native: NativeBody = { kind: 'rewritten', body };
  const { unpriced } = requestUses(style, body);
  const permitted = permittedBody(native, { unpriced }, policy);
  return permitted.kind === 'rewritten' ? permitted.body : {};
}

describe('A body that passes through', () => {
  const FUNCTION = { type: 'function', name: 'f', parameters: {} };

  it('drops tools that are only offered and that the policy does not list', () => {
    const body = { tools: [{ type: 'web_search' }, FUNCTION, { type: 'code_interpreter' }], tool_choice: 'auto' };
    expect(sent('responses', body)).toEqual({ tools: [FUNCTION], tool_choice: 'auto' });
    expect(sent('responses', body, { ...REFUSE_UNPRICED, tools: ['web_search'] })).toEqual({
      tools: [{ type: 'web_search' }, FUNCTION],
      tool_choice: 'auto',
    });
  });

  it('drops thousands of them in a moment', async () => {
    const tools = Array.from({ length: 25_000 }, () => ({ type: 'web_search' }));
    const body = { tools: [...tools, FUNCTION] };
    const { unpriced } = requestUses('responses', body);
    const permitted = () => permittedBody({ kind: 'rewritten', body }, { unpriced }, REFUSE_UNPRICED);
    expect(permitted()).toMatchObject({ body: { tools: [FUNCTION] } });
    expect(await atBest(200, permitted)).toBeLessThan(200);
  });

  it('keeps the functions that stand in one object with such a tool', () => {
    const functions = { functionDeclarations: [{ name: 'f' }] };
    expect(sent('gemini', { tools: [{ ...functions, googleSearch: {} }, { urlContext: {} }] })).toEqual({
      tools: [functions],
    });
  });

  it('keeps what the request requires, and what is more than an optional tool', () => {
    for (const body of [
      { tools: [{ type: 'web_search' }], tool_choice: 'auto' },
      { tools: [{ type: 'web_search' }], tool_choice: 'required' },
      { tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } },
      { tools: [{ type: 'mcp', server_url: 'https://mcp.example' }] },
      { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'web_search' }] }] },
    ])
      expect(sent('responses', body)).toEqual(body);
  });
});
