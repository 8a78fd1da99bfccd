import { atBest } from '#testing';
import { chatStyle } from './chat/chat-style.js';
import { geminiEventStyle } from './gemini/gemini-style.js';
import { responsesStyle } from './responses/responses-style.js';

/** What reading one request may take, in milliseconds of the processor. */
const ENOUGH_MS = 300;

const list = <One>(count: number, one: (index: number) => One): One[] =>
  Array.from({ length: count }, (_, nth) => one(nth));

/** As it comes: names that were parsed apart are not the very same strings. */
const parsed = (body: object): never => JSON.parse(JSON.stringify(body)) as never;

const FLAT = list(9_000, (nth) => ({ type: 'function', name: `n${nth}` }));
const NESTED = list(7_000, (nth) => ({ type: 'function', function: { name: `n${nth}` } }));
const messages = [{ role: 'user', content: 'x' }];

/** Requests that offer about as many tools as a body may, and name as many of them. */
const READS: Readonly<Record<string, () => { readonly tools: readonly object[] }>> = {
  'by a list in chat': () =>
    chatStyle.read(
      parsed({
        model: 'm',
        messages,
        tools: NESTED,
        tool_choice: {
          type: 'allowed_tools',
          allowed_tools: { mode: 'auto', tools: NESTED.slice(-2_900).toReversed() },
        },
      }),
      'm',
      false,
    ),
  'by a list in responses': () =>
    responsesStyle.read(
      parsed({
        model: 'm',
        input: 'x',
        tools: FLAT,
        tool_choice: { type: 'allowed_tools', mode: 'auto', tools: FLAT.slice(-5_900).toReversed() },
      }),
      'm',
      false,
    ),
  'by one namespace again and again': () =>
    responsesStyle.read(
      parsed({
        model: 'm',
        input: 'x',
        tools: [{ type: 'namespace', name: 'all', tools: FLAT.slice(0, 5_900) }],
        tool_choice: {
          type: 'allowed_tools',
          mode: 'auto',
          tools: list(5_900, () => ({ type: 'namespace', name: 'all' })),
        },
      }),
      'm',
      false,
    ),
  'by names in gemini': () =>
    geminiEventStyle.read(
      parsed({
        contents: [{ parts: [{ text: 'x' }] }],
        tools: [{ functionDeclarations: list(25_000, (nth) => ({ name: `n${nth}` })) }],
        toolConfig: {
          functionCallingConfig: { mode: 'VALIDATED', allowedFunctionNames: list(60_000, (nth) => `n${60_000 - nth}`) },
        },
      }),
      'm',
      false,
    ),
};

describe('Thousands of tools that a request names', () => {
  it.each(Object.entries(READS))('are found in a moment %s', async (_how, read) => {
    expect(read().tools.length).toBeGreaterThan(2_000);
    expect(await atBest(ENOUGH_MS, read)).toBeLessThan(ENOUGH_MS);
  });
});
