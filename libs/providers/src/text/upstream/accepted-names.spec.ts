import type { TextEvent, TextRequest } from '#contracts';
import { PLAIN } from '../testing/text-requests.js';
import { PROTOCOL_CODECS } from '../open-text-upstreams.js';
import { inOwnNames, withAcceptedNames } from './accepted-names.js';

const PROTOCOLS = Object.keys(PROTOCOL_CODECS) as (keyof typeof PROTOCOL_CODECS)[];

/** What vendors publish of the names that they take. */
const PUBLISHED = {
  chat: /^[a-zA-Z0-9_-]{1,64}$/,
  responses: /^[a-zA-Z0-9_-]{1,64}$/,
  messages: /^[a-zA-Z0-9_-]{1,128}$/,
  gemini: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/,
};

const NAMES = [
  'mcp.read',
  'fs/read',
  'a:b',
  'my tool',
  '-start',
  '1st',
  'größe',
  '工具',
  'n'.repeat(100),
  'n'.repeat(300),
];

const called = (name: string): TextRequest => ({
  ...PLAIN,
  tools: [{ name }, { name: 'plain_one' }],
  toolChoice: { mode: 'required', names: [name] },
  turns: [
    { role: 'assistant', parts: [{ type: 'call', id: 'c', name, arguments: '{}' }] },
    { role: 'user', parts: [{ type: 'result', callId: 'c', name, content: [], isError: false }] },
  ],
});

describe.each(PROTOCOLS)('The name of a function over %s', (protocol) => {
  it.each(NAMES)('is valid for the vendor, and is restored for the caller: %s', (name) => {
    const { request, ownNames } = withAcceptedNames(called(name), protocol);
    const accepted = request.tools[0]?.name ?? '';
    expect(accepted).toMatch(PUBLISHED[protocol]);
    const json = JSON.stringify(PROTOCOL_CODECS[protocol].write(request, 'm', {}));
    expect(accepted === name || !json.includes(JSON.stringify(name))).toBe(true);
    expect(request.toolChoice).toEqual({ mode: 'required', names: [accepted] });
    const events: TextEvent[] = [
      { type: 'call', id: 'c', name: accepted },
      { type: 'call', id: 'd', name: 'plain_one' },
    ];
    expect(inOwnNames(events, ownNames)).toEqual([
      { type: 'call', id: 'c', name },
      { type: 'call', id: 'd', name: 'plain_one' },
    ]);
  });

  it('is the same in every turn, and another for every function', () => {
    const acceptedAs = (name: string) => withAcceptedNames(called(name), protocol).request.tools[0]?.name;
    expect(acceptedAs('a/b c')).toBe(acceptedAs('a/b c'));
    expect(new Set(['a/b c', 'a b/c', 'a_b_c'].map(acceptedAs)).size).toBe(3);
  });
});
