import { camelCaseGemini } from './gemini-spelling.js';

describe('camelCaseGemini', () => {
  it('reads snake_case field names and leaves the names inside a schema or arguments alone', () => {
    expect(
      camelCaseGemini({
        system_instruction: { parts: [{ text: 'x' }] },
        contents: [
          {
            parts: [
              { inline_data: { mime_type: 'image/png', data: 'AA' } },
              { function_call: { name: 'f', args: { my_arg: 1 } } },
            ],
          },
        ],
        generation_config: { max_output_tokens: 5, response_json_schema: { properties: { my_field: {} } } },
      }),
    ).toEqual({
      isRenamed: true,
      body: {
        systemInstruction: { parts: [{ text: 'x' }] },
        contents: [
          {
            parts: [
              { inlineData: { mimeType: 'image/png', data: 'AA' } },
              { functionCall: { name: 'f', args: { my_arg: 1 } } },
            ],
          },
        ],
        generationConfig: { maxOutputTokens: 5, responseJsonSchema: { properties: { my_field: {} } } },
      },
    });
  });

  it('says when nothing had to be renamed, as the name of the conversation is', () => {
    const body = { contents: [], generationConfig: { maxOutputTokens: 5 }, session_id: 's' };
    expect(camelCaseGemini(body)).toEqual({ body, isRenamed: false });
  });

  it.each<[object, string, string]>([
    [{ generationConfig: {}, generation_config: {} }, 'generation_config', 'generationConfig'],
    [{ generation_config: {}, generationConfig: {} }, 'generation_config', 'generationConfig'],
    [
      { generationConfig: { maxOutputTokens: 9, max_output_tokens: 1 } },
      'generationConfig.max_output_tokens',
      'maxOutputTokens',
    ],
    [{ a: [{ candidate_count: 1, candidateCount: 1 }] }, 'a[0].candidate_count', 'candidateCount'],
    [{ max_outputTokens: 1, max_output_tokens: 2 }, 'max_output_tokens', 'maxOutputTokens'],
  ])('refuses both spellings of a field at once: %j', (body, param, name) => {
    expect(() => camelCaseGemini(body)).toThrow(
      expect.objectContaining({ code: 'invalid_parameter', param, publicMessage: expect.stringContaining(name) }),
    );
  });

  it('refuses a body with more different names in snake_case than any request has, and none that repeats its names', () => {
    const named = (count: number): object =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`a_b${at}`, 1]));
    expect(camelCaseGemini(named(1_000)).isRenamed).toBe(true);
    const parts = Array.from({ length: 5_000 }, () => ({ inline_data: { mime_type: 'image/png' } }));
    expect(camelCaseGemini({ contents: [{ parts }] }).isRenamed).toBe(true);
    expect(() => camelCaseGemini({ contents: [named(1_001)] })).toThrow(
      expect.objectContaining({
        code: 'invalid_parameter',
        param: 'contents[0].a_b1000',
        message: 'At most 1000 different names may be in snake_case in one request.',
      }),
    );
  });

  it('does not repeat a long name whole in its refusal', () => {
    const long = 'a'.repeat(10_000);
    const refused = (): unknown => camelCaseGemini({ [`${long}_b`]: 1, [`${long}B`]: 2 });
    expect(refused).toThrow(/^a{200} and a{200} are two spellings/);
  });
});
