import { mock, type Mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { eventually } from '#testing';
import { MODEL_OVER, startTextGateway, type TextGateway, type Upstream } from '../harness/text-vendor/text-gateway.js';
import { TEXT_LIBRARIES } from '../harness/text-vendor/text-libraries.js';
import { STYLES, textRequest, type Style } from '../harness/text-vendor/text-requests.js';

/** How long nothing may be heard on an open stream, in milliseconds. */
const SILENCE_MS = 15_000;
const HELLO = ['Hello there'] as const;
/** Far more turns of the event loop than words take from the vendor to the client. */
const TURNS = 100;

/** What keeps the connection alive, in each style. */
const HEARTBEAT: Record<Style, RegExp> = {
  responses: /: keepalive\n\n/g,
  chat: /: keepalive\n\n/g,
  messages: /event: ping\ndata: \{"type":"ping"\}\n\n/g,
  gemini: /data: \{"usageMetadata":[^\n]*"responseId":"req_[0-9a-f]+"\}\r\n\r\n/g,
};

/** One upstream whose replies pass through, one whose replies are translated. */
const OVER = (style: Style): Upstream[] => [style, style === 'chat' ? 'responses' : 'chat'];

/** A gate that the vendor's reply waits at. */
function closedGate(at: 'start' | 'middle'): { at: 'start' | 'middle'; opened: Promise<void>; open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { at, opened, open };
}

describe('A stream that falls silent', () => {
  let gateway: TextGateway;
  let elapsed: Mock<() => number>;
  beforeAll(async () => {
    gateway = await startTextGateway({}, { idleSeconds: 5 });
    // Only what measures silence is turned by hand; the network goes by the real time.
    mock.timers.enable({ apis: ['setInterval', 'Date'], now: Date.now() });
    elapsed = mock.method(performance, 'now', () => Date.now());
  });
  afterAll(async () => {
    elapsed.mock.restore();
    mock.timers.reset();
    await gateway.stop();
  });

  /** Closes the vendor's gate, asks, lets a minute pass once the vendor has been asked, and opens it again. */
  async function throughSilence<T>(at: 'start' | 'middle', ask: () => Promise<T>): Promise<T> {
    const { vendor } = gateway;
    const asked = vendor.seen.length;
    const gate = closedGate(at);
    vendor.gate = gate;
    const answer = ask();
    await eventually(() => vendor.seen.length > asked);
    // What came before the silence passes through this process, where each turn carries it on, however slow the machine is.
    for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
    for (let beats = 0; beats < 4; beats += 1) mock.timers.tick(SILENCE_MS);
    gate.open();
    vendor.gate = undefined;
    return answer;
  }

  async function read(style: Style, upstream: Upstream) {
    const { path, headers, body } = textRequest(style, { key: gateway.key, model: MODEL_OVER[upstream], stream: true });
    const answer = await fetch(gateway.baseUrl + path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() };
  }

  describe.each(TEXT_LIBRARIES)('is read to its end by $name', (library) => {
    it.each(OVER(library.style))('over %s, silent before the first word and between words', async (upstream) => {
      const textOf = async (): Promise<string> => {
        let text = '';
        for await (const piece of library.connect(gateway, 0).stream(MODEL_OVER[upstream], HELLO)) text += piece;
        return text;
      };
      expect(await throughSilence('middle', textOf)).toBe('Vendor heard: Hello there');
      expect(await throughSilence('start', textOf)).toBe('Vendor heard: Hello there');
    });
  });

  describe.each(STYLES)('in the %s style', (style) => {
    it.each(OVER(style))('beats every 15 seconds over %s and changes nothing else', async (upstream) => {
      const silent = await throughSilence('middle', () => read(style, upstream));
      const plain = await read(style, upstream);
      const beats = silent.text.match(HEARTBEAT[style])?.length ?? 0;
      expect(beats - (plain.text.match(HEARTBEAT[style])?.length ?? 0)).toBeGreaterThanOrEqual(3);
      expect(silent.text.replaceAll(HEARTBEAT[style], '').length).toBe(
        plain.text.replaceAll(HEARTBEAT[style], '').length,
      );
      expect([silent.status, silent.type]).toEqual([plain.status, plain.type]);
    });

    it.each(OVER(style))('reports a failure of %s inside the response that a heartbeat began', async (upstream) => {
      gateway.vendor.fault = 'error-in-stream';
      const { status, text } = await throughSilence('start', () => read(style, upstream));
      gateway.vendor.fault = 'none';
      expect(status).toBe(200);
      expect(text).toMatch(HEARTBEAT[style]);
      expect(text).toMatch(/"(message|error)":/);
    });
  });
});
