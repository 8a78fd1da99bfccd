import type { JsonObject } from '#contracts';
import { startTracing, TracingConfig } from '#platform';
import { eventually, startTraceCollector } from '#testing';
import type { FakeTextVendor } from '../harness/text-vendor/fake-text-vendor.js';
import { type McpProgram, startMcpProgram } from '../harness/tools/mcp-program.js';
import { MODEL_OVER, startTextGateway, type TextGateway } from '../harness/text-vendor/text-gateway.js';
import type { VendorFault } from '../harness/text-vendor/vendor-faults.js';
import { type Style, STYLES, textRequest } from '../harness/text-vendor/text-requests.js';

/** The status of a span of something that failed, as OTLP numbers it. */
const SPAN_ERROR = 2;

describe('Traces of text requests', () => {
  let gateway: TextGateway;
  let everything: McpProgram;
  beforeAll(async () => {
    everything = await startMcpProgram('everything');
    gateway = await startTextGateway({ MEDIA_FETCH_ALLOW: everything.address, DISCONNECT_DRAIN_SECONDS: '0' });
    await gateway.database.query({
      text: `insert into price (id, model, unit, amount_micros, per_quantity, effective_from, created_by)
        values ('price_e', 'text-embedding', 'input_token', 1, 1, '2026-01-01', 'test')`,
      values: [],
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await everything.stop();
  });

  it.each([
    ['http/protobuf', 'application/x-protobuf'],
    ['http/json', 'application/json'],
  ] as const)(
    'have a span of each call of a vendor and a part in the metrics, by the conventions for generative AI, and no word of prompt or answer: %s',
    async (protocol, type) => {
      const collector = await startTraceCollector();
      const config = Object.assign(new TracingConfig(), {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      });
      const tracing = await startTracing(config, 'test');
      for (const style of STYLES)
        for (const stream of [false, true]) {
          const request = textRequest(style, {
            key: gateway.key,
            model: MODEL_OVER[style],
            stream,
            text: 'secret words',
          });
          const response = await fetch(`${gateway.baseUrl}${request.path}`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', 'x-session-id': 'a-session', ...request.headers },
            body: JSON.stringify(request.body),
          });
          expect(response.status).toBe(200);
          await response.text();
          await gateway.settled();
        }
      const embedded = await fetch(`${gateway.baseUrl}/v1/embeddings`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}` },
        body: JSON.stringify({ model: 'text-embedding', input: 'secret words' }),
      });
      expect(embedded.status).toBe(200);
      await gateway.settled();
      await tracing.stop(5_000);
      collector.close();
      expect(new Set(collector.types)).toEqual(new Set([type]));
      const calls = collector.spans.flatMap(({ name, attributes }) => {
        const values = Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
        return values['gen_ai.operation.name'] === undefined ? [] : [{ name, values }];
      });
      const [embeddings] = calls.splice(
        calls.findIndex(({ values }) => values['gen_ai.operation.name'] === 'embeddings'),
        1,
      );
      expect(embeddings).toMatchObject({
        name: 'embeddings vendor-embedding',
        values: { 'gen_ai.provider.name': 'openai', 'gen_ai.usage.input_tokens': expect.any(Number) },
      });
      expect(calls).toHaveLength(2 * STYLES.length);
      for (const { name, values } of calls) {
        expect(name).toBe([values['gen_ai.operation.name'], values['gen_ai.request.model']].join(' '));
        expect(values).toMatchObject({
          'gen_ai.provider.name': expect.stringMatching(/^(openai|anthropic|gcp\.gemini)$/),
          'gen_ai.conversation.id': 'a-session',
          'gen_ai.request.stream': expect.any(Boolean),
          'gen_ai.response.time_to_first_chunk': expect.any(Number),
          'gen_ai.usage.input_tokens': expect.any(Number),
          'gen_ai.usage.output_tokens': expect.any(Number),
          'gen_ai.usage.cache_read.input_tokens': expect.any(Number),
          'gen_ai.request.max_tokens': expect.anything(),
          'gen_ai.response.model': expect.stringMatching(/^vendor-/),
          'gen_ai.response.id': expect.stringMatching(/^(resp|chatcmpl|msg|r)/),
          'gen_ai.response.finish_reasons': expect.objectContaining({ values: [{ stringValue: 'stop' }] }),
        });
      }
      const counted = (name: string, key?: string, value?: string): number => {
        const latest = collector.metrics.findLast((metric) => metric.name === name);
        const points = latest?.histogram?.dataPoints ?? [];
        return points
          .filter(({ attributes }) =>
            attributes.some((each) => each.key === key && each.value['stringValue'] === value),
          )
          .reduce((sum, { count }) => sum + count, 0);
      };
      expect(new Set(collector.metrics.map(({ name, unit }) => `${name} ${unit}`))).toEqual(
        new Set([
          'gen_ai.client.operation.duration s',
          'gen_ai.client.operation.time_to_first_chunk s',
          'gen_ai.client.token.usage {token}',
        ]),
      );
      const [duration, firstChunk, tokens] = ['operation.duration', 'operation.time_to_first_chunk', 'token.usage'].map(
        (name) => `gen_ai.client.${name}`,
      ) as [string, string, string];
      expect(counted(duration, 'gen_ai.operation.name', 'embeddings')).toBe(1);
      expect(counted(duration, 'gen_ai.provider.name', 'anthropic')).toBe(2);
      expect(counted(firstChunk, 'gen_ai.provider.name', 'anthropic')).toBe(1);
      expect(counted(tokens, 'gen_ai.token.type', 'output')).toBe(2 * STYLES.length);
      expect(counted(tokens, 'gen_ai.token.type', 'input')).toBe(2 * STYLES.length + 1);
      expect(collector.sent.join('')).not.toContain('secret words');
    },
  );

  /** Asks once without a fault, so that no upstream rests for those before. */
  async function well(style: Style): Promise<void> {
    const { path, headers, body } = textRequest(style, { key: gateway.key, model: MODEL_OVER[style], stream: false });
    expect((await gateway.send('POST', path, body, { ...headers })).status).toBe(200);
  }

  it.each<[fault: VendorFault, stream: boolean, error: RegExp]>([
    ['error-500', false, /^upstream_/],
    ['error-500', true, /^upstream_/],
    ['refusal-400', false, /^invalid_/],
    ['refusal-400', true, /^invalid_/],
    ['cut-after-headers', false, /^upstream_/],
    ['error-in-stream', true, /^failed$/],
    ['cut-mid-event', true, /^failed$/],
    ['stall', true, /^aborted$/],
    ['stall', false, /^aborted$/],
  ])('mark each call that fails, by %s, streamed %s, in every style', async (fault, stream, error) => {
    const collector = await startTraceCollector();
    const config = Object.assign(new TracingConfig(), {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    });
    const tracing = await startTracing(config, 'test');
    gateway.vendor.fault = fault;
    for (const style of STYLES) {
      const { path, headers, body } = textRequest(style, { key: gateway.key, model: MODEL_OVER[style], stream });
      const leaving = new AbortController();
      const asks = gateway.vendor.seen.length;
      const asked = fetch(gateway.baseUrl + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
        signal: leaving.signal,
      });
      const read = asked.then(async (answer) => {
        const reader = answer.body?.getReader();
        while ((await reader?.read())?.done === false);
      });
      if (fault === 'stall') {
        await eventually(() => gateway.vendor.seen.length > asks);
        leaving.abort();
      }
      await read.catch(() => undefined);
      await gateway.untilAnswered();
      await gateway.settled();
    }
    gateway.vendor.fault = 'none';
    await tracing.stop(5_000);
    collector.close();
    await Promise.all(STYLES.map(well));
    const calls = collector.spans.flatMap(({ attributes, status }) => {
      const values = Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
      return values['gen_ai.operation.name'] === undefined ? [] : [{ values, status }];
    });
    expect(new Set(calls.map(({ values }) => values['gen_ai.request.model'])).size).toBe(STYLES.length);
    for (const { values, status } of calls)
      expect({ values, status }).toMatchObject({
        values: { 'error.type': expect.stringMatching(error) as string },
        status: { code: SPAN_ERROR },
      });
    const requests = collector.spans.filter(({ name }) => name.startsWith('POST '));
    expect(requests).toHaveLength(STYLES.length);
    for (const { attributes, status } of requests) {
      const valueOf = (name: string): string =>
        String(Object.values(attributes.find(({ key }) => key === name)?.value ?? {})[0]);
      const code = valueOf('http.response.status_code');
      // What a caller did wrong, and that it left, is no error of ours.
      expect([status?.code ?? 0, valueOf('error.type')]).toEqual(
        Number(code) < 500 ? [0, 'undefined'] : [SPAN_ERROR, code],
      );
    }
    const durations = collector.metrics.findLast(({ name }) => name === 'gen_ai.client.operation.duration');
    const failed = (durations?.histogram?.dataPoints ?? []).filter(({ attributes }) =>
      attributes.some(({ key }) => key === 'error.type'),
    );
    expect(failed.reduce((sum, { count }) => sum + count, 0)).toBe(calls.length);
  });

  it('have a span of each call of a tool that the gateway runs, between those of the calls of its vendor, and no word of it', async () => {
    const collector = await startTraceCollector();
    const config = Object.assign(new TracingConfig(), { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    const tracing = await startTracing(config, 'test');
    const server = { type: 'remote_mcp', remote_mcp: { url: `http://${everything.address}/mcp` } };
    const call = (name: string, args: JsonObject): FakeTextVendor['script'] => {
      return ({ result }) =>
        result === undefined ? { reasoning: undefined, text: '', call: { id: `call_${name}`, name, args } } : undefined;
    };
    const scripts = [
      call('file_search', { query: 'secret words' }),
      call('echo', { message: 'secret words' }),
      call('get-sum', { a: 'secret words' }),
    ];
    for (const script of scripts) {
      gateway.vendor.script = script;
      const body = { model: MODEL_OVER.chat, input: 'secret words', tools: [{ type: 'file_search' }, server] };
      const { status } = await gateway.send('POST', '/v1/responses', body, { authorization: `Bearer ${gateway.key}` });
      expect(status).toBe(200);
    }
    gateway.vendor.script = () => undefined;
    await gateway.settled();
    await tracing.stop(5_000);
    collector.close();
    const tools = collector.spans.flatMap(({ name, attributes, status, kind }) => {
      const values = Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
      return values['gen_ai.operation.name'] === 'execute_tool'
        ? [{ name, kind, values, code: status?.code ?? 0 }]
        : [];
    });
    const toolCall = (name: string, type: string): object => ({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': name,
      'gen_ai.tool.type': type,
      'gen_ai.tool.call.id': `call_${name}`,
    });
    expect(tools).toEqual([
      { name: 'execute_tool file_search', kind: 1, code: 0, values: toolCall('file_search', 'datastore') },
      { name: 'execute_tool echo', kind: 1, code: 0, values: toolCall('echo', 'extension') },
      {
        name: 'execute_tool get-sum',
        kind: 1,
        code: 2,
        values: { ...toolCall('get-sum', 'extension'), 'error.type': 'tool_error' },
      },
    ]);
    const asked = collector.spans.filter(({ name }) => name.startsWith('chat '));
    expect(asked).toHaveLength(2 * scripts.length);
    expect(collector.sent.join('')).not.toContain('secret words');
  });
});
