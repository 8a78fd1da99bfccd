import type { FinishReason, TextEvent } from '#contracts';
import { ReplyCollector } from './collect-reply.js';
import { chatStyle } from './chat/chat-style.js';
import { chatAnswer } from './chat/write-chat-answer.js';
import { geminiEventStyle } from './gemini/gemini-style.js';
import { geminiAnswer } from './gemini/write-gemini-answer.js';
import { messagesStyle } from './messages/messages-style.js';
import { messagesAnswer } from './messages/write-messages-answer.js';
import { responsesStyle } from './responses/responses-style.js';
import { responsesAnswer } from './responses/write-responses-answer.js';
import { parsedStream, rebuiltItems } from './testing/rebuilt.js';
import type { TextStreamEncoder } from './text-style-codec.js';

const context = <Body extends object>(body: Body) => ({
  requestId: 'req_1',
  model: 'm',
  body,
  createdSeconds: 1_795_190_389,
  estimatedInputTokens: 1,
  onAnswer: () => {},
});

const collected = (events: readonly TextEvent[]) => {
  const collector = new ReplyCollector();
  for (const event of events) collector.add(event);
  return collector.reply();
};
const written = (encoder: TextStreamEncoder, events: readonly TextEvent[]) =>
  parsedStream(events.map((event) => encoder.write(event)).join(''));

describe('A call with incomplete arguments', () => {
  const broken = (reason: FinishReason): TextEvent[] => [
    { type: 'text', text: 'So' },
    { type: 'call', id: 'c', name: 'rm' },
    { type: 'arguments', json: '{"path": "/tmp/x", "confirm' },
    { type: 'finish', reason },
  ];

  it('is left out where the output limit cut it, so that no client runs a changed call', () => {
    const events = broken('length');
    expect(messagesAnswer(collected(events), 'm')).toMatchObject({
      content: [{ type: 'text', text: 'So' }],
      stop_reason: 'max_tokens',
    });
    const whole = geminiAnswer(collected(events), 'm', 'r');
    expect(whole).toMatchObject({ candidates: [{ finishReason: 'MAX_TOKENS' }] });
    const streamed = written(geminiEventStyle.stream(context({ contents: [] })), events);
    for (const answer of [whole, streamed]) expect(JSON.stringify(answer)).not.toContain('functionCall');
  });

  it('fails a reply that calls itself complete', () => {
    const events = broken('tool-calls');
    const failure = expect.objectContaining({ code: 'upstream_error' }) as Error;
    expect(() => messagesAnswer(collected(events), 'm')).toThrow(failure);
    expect(() => geminiAnswer(collected(events), 'm', 'r')).toThrow(failure);
    expect(() => written(geminiEventStyle.stream(context({ contents: [] })), events)).toThrow(failure);
  });
});

describe('A call of a free-form tool over a protocol that has only functions', () => {
  const tool = { name: 'apply_patch' };
  const responses = context({ model: 'm', input: 'x', tools: [{ type: 'custom' as const, ...tool }] });
  const chat = context({ model: 'm', messages: [], tools: [{ type: 'custom' as const, custom: tool }] });
  const calling = (json: string, reason: FinishReason): TextEvent[] => [
    { type: 'text', text: 'So' },
    { type: 'call', id: 'c', name: 'apply_patch' },
    { type: 'arguments', json: json.slice(0, 8) },
    { type: 'arguments', json: json.slice(8) },
    { type: 'finish', reason },
  ];
  const answers = (events: readonly TextEvent[]) => [
    responsesAnswer(collected(events), responses),
    rebuiltItems(written(responsesStyle.stream(responses), events)),
    chatAnswer(collected(events), chat),
    written(chatStyle.stream(chat), events),
  ];

  it('comes back with its text, whole and streamed', () => {
    const [whole, items, completion, chunks] = answers(calling('{"input":"*** Begin\\n"}', 'tool-calls'));
    const item = { type: 'custom_tool_call', call_id: 'c', name: 'apply_patch', input: '*** Begin\n' };
    expect(whole).toMatchObject({ output: [{ type: 'message' }, item] });
    expect(items).toMatchObject([{ type: 'message' }, item]);
    const call = { id: 'c', type: 'custom', custom: { name: 'apply_patch', input: '*** Begin\n' } };
    expect(completion).toMatchObject({ choices: [{ message: { tool_calls: [call] }, finish_reason: 'tool_calls' }] });
    expect(chunks).toContainEqual(
      expect.objectContaining({
        choices: [expect.objectContaining({ delta: { tool_calls: [{ index: 0, ...call }] } })],
      }),
    );
  });

  it('is left out where the output limit cut it, so that no client runs half a text', () => {
    const [whole, items, completion, chunks] = answers(calling('{"input":"rm -rf /tmp', 'length'));
    expect(whole).toMatchObject({ output: [{ type: 'message' }], status: 'incomplete' });
    expect(items).toHaveLength(1);
    for (const answer of [completion, chunks]) expect(JSON.stringify(answer)).not.toContain('tool_calls');
  });
});

describe('A refusal by the model', () => {
  const events: TextEvent[] = [
    { type: 'refusal', text: 'I will ' },
    { type: 'refusal', text: 'not.' },
    { type: 'finish', reason: 'stop' },
  ];

  it('is a refusal in the responses style, whole and streamed', () => {
    const body = context({ model: 'm', input: 'x' });
    const items = [{ type: 'message', content: [{ type: 'refusal', refusal: 'I will not.' }] }];
    expect(responsesAnswer(collected(events), body).output).toMatchObject(items);
    const stream = written(responsesStyle.stream(body), events);
    expect(rebuiltItems(stream)).toMatchObject(items);
    expect(stream.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['response.refusal.delta', 'response.refusal.done', 'response.completed']),
    );
  });

  it('ends as a refusal in the messages style', () => {
    expect(messagesAnswer(collected(events), 'm')).toMatchObject({
      content: [{ text: 'I will not.' }],
      stop_reason: 'refusal',
    });
    const stream = written(messagesStyle.stream(context({ model: 'm', messages: [] })), events);
    expect(stream.at(-2)).toMatchObject({ delta: { stop_reason: 'refusal' } });
  });

  it('ends by the filter in the content-generation style', () => {
    expect(geminiAnswer(collected(events), 'm', 'r')).toMatchObject({
      candidates: [{ content: { parts: [{ text: 'I will not.' }] }, finishReason: 'SAFETY' }],
    });
    const stream = written(geminiEventStyle.stream(context({ contents: [] })), events);
    expect(stream.at(-1)).toMatchObject({ candidates: [{ finishReason: 'SAFETY' }] });
  });
});

describe('Reasoning of which a content-generation client keeps only the proof', () => {
  const thought: TextEvent[] = [
    { type: 'reasoning', text: 'Hm, ' },
    { type: 'reasoning', text: 'well' },
    { type: 'signature', signature: 'messages:proof' },
    { type: 'signature', signature: 'messages:sealed' },
    { type: 'call', id: 'c', name: 'f' },
    { type: 'finish', reason: 'tool-calls' },
  ];
  const reasoning = [
    { type: 'reasoning', text: 'Hm, well', signature: 'messages:proof' },
    { type: 'reasoning', text: '', signature: 'messages:sealed' },
  ];

  type Part = { thought?: boolean; text?: string; functionCall?: object; thoughtSignature?: string };
  const replayed = (parts: readonly Part[]) =>
    geminiEventStyle.read({ contents: [{ role: 'model', parts: parts as never }] }, 'm', false).turns[0]?.parts;
  const streamed = written(geminiEventStyle.stream(context({ contents: [] })), thought).flatMap(
    ({ candidates }) => (candidates?.[0]?.content.parts ?? []) as readonly Part[],
  );

  it.each<[string, readonly Part[]]>([
    ['streamed', streamed],
    ['whole', geminiAnswer(collected(thought), 'm', 'r').candidates[0]?.content.parts ?? []],
  ])('is restored whole, with its call: %s', (_form, parts) => {
    const kept = parts.filter((part) => !part.thought && part.text !== '');
    expect(kept).toHaveLength(1);
    expect(replayed(kept)).toMatchObject([...reasoning, { type: 'call', name: 'f' }]);
    // Another client keeps the thoughts as well.
    expect(replayed(parts)?.filter(({ type }) => type === 'reasoning')).toEqual(reasoning);
  });

  it('is not a proof of another vendor: what only resembles one stays as it is', () => {
    const kept = [{ functionCall: { name: 'f' }, thoughtSignature: 'messages:~not ours' }];
    expect(replayed(kept)?.[0]).toEqual({ type: 'reasoning', text: '', signature: 'messages:~not ours' });
  });
});
