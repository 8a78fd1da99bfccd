import { eventText } from './text-event.js';

describe('The counted text of a reply', () => {
  it('consists of its text, its reasoning and the arguments of its calls, and nothing else', () => {
    const events = [
      { type: 'start' },
      { type: 'reasoning', text: 'Hm. ' },
      { type: 'text', text: 'Hello ' },
      { type: 'call', id: 'call_1', name: 'weather' },
      { type: 'arguments', json: '{"city":"Bern"}' },
      { type: 'finish', reason: 'tool-calls' },
    ] as const;
    expect(events.map(eventText).join('')).toBe('Hm. Hello {"city":"Bern"}');
  });
});
