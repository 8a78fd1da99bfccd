// A vendor that costs next to nothing: fixed replies of two protocols, whole or as a stream of STREAM_EVENTS deltas.
import { createServer, type ServerResponse } from 'node:http';

const { PORT = '0', STREAM_EVENTS = '500', EVENT_PAUSE_MS = '0' } = process.env;
const eventCount = Number(STREAM_EVENTS);
const pauseMs = Number(EVENT_PAUSE_MS);

const usage = {
  input_tokens: 11,
  output_tokens: 7,
  total_tokens: 18,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens_details: { reasoning_tokens: 0 },
};
const message = {
  id: 'msg_1',
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Hello from the vendor.', annotations: [] }],
};
const response = {
  id: 'resp_1',
  object: 'response',
  created_at: 1_795_190_389,
  model: 'vendor-5',
  status: 'completed',
  output: [message],
  usage,
};
const chat = {
  id: 'c1',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello from the vendor.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
};

const named = (event: { type: string } & Record<string, unknown>): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

const STREAMS: Record<string, { start: string; delta: string; end: string }> = {
  '/v1/responses': {
    start: named({
      type: 'response.created',
      sequence_number: 0,
      response: { ...response, status: 'in_progress', output: [] },
    }),
    delta: named({
      type: 'response.output_text.delta',
      sequence_number: 4,
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      delta: ' word',
      logprobs: [],
    }),
    end: named({ type: 'response.completed', sequence_number: 5, response }),
  },
  '/v1/chat/completions': {
    start: chunk({ role: 'assistant', content: '' }),
    delta: chunk({ content: ' word' }),
    end: `${chunk({}, 'stop')}data: ${JSON.stringify({ choices: [], usage: chat.usage })}\n\ndata: [DONE]\n\n`,
  },
};
const WHOLE: Record<string, string> = {
  '/v1/responses': JSON.stringify(response),
  '/v1/chat/completions': JSON.stringify(chat),
};

/** One event a turn of the loop, as tokens come: a vendor never sends a whole reply in one piece. */
async function stream(path: string, reply: ServerResponse): Promise<void> {
  const { start = '', delta = '', end = '' } = STREAMS[path] ?? {};
  reply.writeHead(200, { 'content-type': 'text/event-stream' });
  reply.write(start);
  for (let sent = 0; sent < eventCount && !reply.destroyed; sent += 1) {
    await new Promise((resolve) => (pauseMs > 0 ? setTimeout(resolve, pauseMs) : setImmediate(resolve)));
    reply.write(delta);
  }
  reply.end(end);
}

createServer((request, reply) => {
  const path = request.url ?? '';
  let isStream = false;
  request.on('data', (bytes: Buffer) => {
    isStream ||= bytes.includes('"stream":true');
  });
  request.on('end', () => {
    if (isStream) void stream(path, reply);
    else reply.writeHead(200, { 'content-type': 'application/json' }).end(WHOLE[path] ?? '{}');
  });
}).listen(Number(PORT), '127.0.0.1');
