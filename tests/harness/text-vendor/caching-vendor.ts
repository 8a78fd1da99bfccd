import type { FakeTextVendor, SeenRequest } from './fake-text-vendor.js';

const CHARACTERS_PER_TOKEN = 4;

function commonLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}

/** What vendors compare: tools, then the system prompt, then the conversation, wherever a body has them, and no marks of what to keep. */
const promptOf = ({ body }: SeenRequest): string =>
  JSON.stringify([
    body['tools'],
    body['system'] ?? body['systemInstruction'] ?? body['instructions'],
    body['messages'] ?? body['input'] ?? body['contents'],
  ]).replaceAll(/,?"cache_control":\{[^}]*\}/g, '');

/** Has a vendor account bill what it has read before as cached: the longest beginning that an earlier request had in common. */
export function billCached(vendor: FakeTextVendor): void {
  vendor.rewrite = (json) => {
    const text = promptOf(vendor.last);
    const known = Math.max(0, ...vendor.seen.slice(0, -1).map((earlier) => commonLength(text, promptOf(earlier))));
    const [input, cached] = [text.length, known].map((length) => Math.floor(length / CHARACTERS_PER_TOKEN)) as [
      number,
      number,
    ];
    return json
      .replace(/"(prompt_tokens|promptTokenCount)":\d+/, `"$1":${input}`)
      .replace(/"(cached_tokens|cachedContentTokenCount|cache_read_input_tokens)":\d+/, `"$1":${cached}`)
      .replace(
        /"input_tokens":\d+/,
        `"input_tokens":${json.includes('cache_read_input_tokens') ? input - cached : input}`,
      );
  };
}
