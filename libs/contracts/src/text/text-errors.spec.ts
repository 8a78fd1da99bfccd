import { GatewayError } from '../errors.js';
import { errorInStyle } from './text-errors.js';

describe('A conversation that is too long', () => {
  const told = (message: string, upstreamCode = 'context_length_exceeded'): unknown => {
    const error = new GatewayError('invalid_parameter', message, { upstreamCode });
    return errorInStyle('messages', error, 'req_1');
  };

  it('is told in the messages style with the words that its agents shorten it on, which read no code', () => {
    const message = 'prompt is too long: Your input exceeds the context window.';
    expect(told('Your input exceeds the context window.')).toMatchObject({
      error: { type: 'invalid_request_error', message },
      message,
    });
  });

  it.each([
    ['prompt is too long: 2 tokens > 1 maximum', 'context_length_exceeded'],
    ['Prompt is too long', 'context_length_exceeded'],
    ['input length and `max_tokens` exceed context limit: 1 + 1 > 1', 'context_length_exceeded'],
    ['Your prompt is no good.', 'invalid_prompt'],
  ])('is told in the words of its vendor where they are these, and nothing else is: %s', (message, code) => {
    expect(told(message, code)).toMatchObject({ error: { message }, message });
  });
});
