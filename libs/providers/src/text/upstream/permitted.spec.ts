import {
  type JsonObject,
  type NativeBody,
  REFUSE_UNPRICED,
  requestUses,
  type TextStyle,
  type UpstreamPolicy,
} from '#contracts';
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
