import type { Turn } from '#contracts';
import { atBest } from '#testing';
import { TurnList } from './turn-list.js';

const call = (id: string, name = 'f') => ({ type: 'call' as const, id, name, arguments: '{}' });
const text = (said: string) => [{ type: 'text' as const, text: said }];

/** The ids of all calls and results, in order. */
const idsIn = (turns: readonly Turn[]): string[] =>
  turns
    .flatMap<Turn['parts'][number]>(({ parts }) => [...parts])
    .flatMap((part) => (part.type === 'call' ? [part.id] : part.type === 'result' ? [`=${part.callId}`] : []));

describe('Calls of earlier turns', () => {
  it('are refused by name where their arguments together have more structure than is parsed, however many they are', () => {
    const turns = new TurnList('messages');
    const json = `{"a":[${'{},'.repeat(20_000)}1]}`;
    const parts = Array.from({ length: 30 }, (_, place) => ({ ...call(`call_${place}`), arguments: json }));
    expect(() => turns.assistant(parts)).toThrow(
      expect.objectContaining({
        code: 'invalid_parameter',
        param: 'messages',
        message: 'messages: The arguments of all calls in it together may hold at most 100000 values.',
      }),
    );
  });

  it('have unique ids where a vendor restarts its count in every turn, and results stay with their calls', () => {
    const turns = new TurnList('messages');
    for (const round of ['one', 'two']) {
      turns.user(text(round));
      turns.assistant([call('call_0'), call('call_1')]);
      turns.result({ callId: 'call_1', content: text(`${round} b`), isError: false }, 'r');
      turns.result({ callId: 'call_0', content: text(`${round} a`), isError: false }, 'r');
    }
    const ids = idsIn(turns.conversation().turns);
    const [a, b, , , c, d] = ids;
    expect(ids).toEqual(['call_0', 'call_1', '=call_1', '=call_0', c, d, `=${d}`, `=${c}`]);
    expect(new Set([a, b, c, d]).size).toBe(4);
  });

  it('of one turn with the same id are answered in order', () => {
    const turns = new TurnList('messages');
    turns.assistant([call('same'), call('same')]);
    for (const said of ['first', 'second']) turns.result({ callId: 'same', content: text(said), isError: false }, 'r');
    const [one, two, ...answered] = idsIn(turns.conversation().turns);
    expect([one === two, answered]).toEqual([false, [`=${one}`, `=${two}`]]);
  });

  it('are answered by their names where no call has the id of a result', () => {
    const turns = new TurnList('messages');
    turns.assistant([call('a', 'f'), call('b', 'g'), call('c', 'f')]);
    for (const name of ['f', 'g', 'f'])
      turns.result({ callId: 'unknown', name, content: text(name), isError: false }, 'r');
    expect(idsIn(turns.conversation().turns).slice(3)).toEqual(['=a', '=b', '=c']);
  });

  it('are answered once by their names', () => {
    const turns = new TurnList('messages');
    turns.assistant([call('a')]);
    const answer = (): void => turns.result({ callId: '', name: 'f', content: [], isError: false }, 'r');
    answer();
    expect(answer).toThrow(expect.objectContaining({ code: 'invalid_parameter', param: 'r' }));
  });

  it('without ids get the same ones in every request', () => {
    const ids = () => {
      const turns = new TurnList('messages');
      for (const _turn of ['one', 'two']) turns.assistant([call(turns.nextCallId())]);
      return idsIn(turns.conversation().turns);
    };
    expect(ids()).toEqual(ids());
    expect(new Set(ids()).size).toBe(2);
  });

  it('are paired quickly in a long session', async () => {
    const busyMs = await atBest(5_000, () => {
      const turns = new TurnList('messages');
      for (let round = 0; round < 20_000; round += 1) {
        turns.assistant([call(turns.nextCallId())]);
        turns.result({ callId: '', name: 'f', content: [], isError: false }, 'r');
      }
    });
    expect(busyMs).toBeLessThan(5_000);
  });
});

it('A message without parts is one without words, so that every vendor has a turn to answer', () => {
  const turns = new TurnList('messages');
  turns.user([]);
  expect(turns.conversation()).toEqual({ system: [], turns: [{ role: 'user', parts: text('') }] });
});

describe('The system message', () => {
  it('becomes the turn to answer when there is no other turn', () => {
    const turns = new TurnList('messages');
    turns.system('Be brief.');
    turns.system('Say hello.');
    expect(turns.conversation()).toEqual({
      system: ['Be brief.'],
      turns: [{ role: 'system', parts: text('Say hello.') }],
    });
  });
});

it('Two messages of one turn of the assistant are told apart from the pieces of one', () => {
  const turns = new TurnList('messages');
  turns.assistant([...text('It is '), ...text('here.')]);
  turns.assistant(text('Done.'));
  const [turn] = turns.conversation().turns;
  expect(turn?.parts).toEqual([...text('It is '), ...text('here.'), { type: 'text', text: 'Done.', isApart: true }]);
});
