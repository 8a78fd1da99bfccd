import { type ImagePart, isJsonObject, type TextPart } from '#contracts';
import { notOfProtocol, wordsOfServer } from './mcp-failure.js';

export interface McpResult {
  readonly content: readonly (TextPart | ImagePart)[];
  readonly isError: boolean;
}

/** How much of a tool's output is passed on to the model, in characters. */
const MAX_CHARACTERS = 100_000;
const MAX_IMAGES = 8;
const MAX_PARTS = 256;

/** The images that every vendor reads, by how they begin. */
const IMAGES = [
  ['image/png', 'iVBORw0KGgo'],
  ['image/jpeg', '/9j/'],
  ['image/gif', 'R0lGODdh'],
  ['image/gif', 'R0lGODlh'],
  ['image/webp', 'UklGR'],
] as const;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** A part of a result, of which nothing is checked yet. */
interface McpContent {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly data?: unknown;
  readonly mimeType?: unknown;
  readonly uri?: unknown;
  readonly name?: unknown;
  readonly resource?: { readonly uri?: unknown; readonly text?: unknown; readonly mimeType?: unknown };
}

/** A result, of which nothing is checked yet. */
interface SentResult {
  readonly content?: unknown;
  readonly structuredContent?: unknown;
  readonly isError?: unknown;
}

/**
 * The result of `tools/call`, texts cut to what a model can be given and images kept that it can see.
 *
 * @param secrets what a server may echo, and must not appear in an answer.
 * @throws McpFailure for content that is no list of objects.
 */
export function readMcpResult(sent: SentResult, secrets: readonly string[]): McpResult {
  const open = (text: string): string => wordsOfServer(text, secrets);
  const content = partsOf(sent.content ?? [], open);
  if (content.length === 0 && sent.structuredContent !== undefined)
    content.push({ type: 'text', text: cut(open(JSON.stringify(sent.structuredContent)), MAX_CHARACTERS) });
  return { content, isError: sent.isError === true };
}

function partsOf(sent: unknown, open: (text: string) => string): (TextPart | ImagePart)[] {
  if (!Array.isArray(sent)) throw notOfProtocol();
  const content: (TextPart | ImagePart)[] = [];
  let left = MAX_CHARACTERS;
  let images = 0;
  for (const part of sent as readonly unknown[]) {
    if (!isJsonObject(part)) throw notOfProtocol();
    const image = images < MAX_IMAGES ? imageOf(part) : undefined;
    const text = image ? '' : open(wordsOf(part));
    if (image) {
      images += 1;
      content.push(image);
    } else if (text !== '' && content.length >= MAX_PARTS) {
      content.push({ type: 'text', text: LEFT_OUT });
      break;
    } else if (text !== '') {
      content.push({ type: 'text', text: cut(text, left) });
      left -= text.length;
      if (left <= 0) break;
    }
  }
  return content;
}

const LEFT_OUT = '[The rest is left out: the tool returned more than is read.]';

const cut = (text: string, left: number): string =>
  text.length <= left ? text : `${text.slice(0, left)}\n${LEFT_OUT}`;

/** What is not an image, whatever it is called, would have a vendor refuse the whole request. */
function imageOf({ type, data }: McpContent): ImagePart | undefined {
  if (type !== 'image' || typeof data !== 'string') return undefined;
  const mediaType = IMAGES.find(([, beginning]) => data.startsWith(beginning))?.[0];
  if (mediaType === undefined || data.length % 4 !== 0 || !BASE64.test(data)) return undefined;
  return { type: 'image', source: { kind: 'inline', mediaType, base64: data } };
}

const named = (value: unknown): string => (typeof value === 'string' ? value : 'unknown');

function wordsOf(part: McpContent): string {
  if (part.type === 'text') return typeof part.text === 'string' ? part.text : '';
  if (part.type === 'resource_link') return `[${named(part.name)}](${named(part.uri)})`;
  const { text, uri, mimeType } = part.resource ?? {};
  if (part.type === 'resource' && typeof text === 'string') return text;
  if (part.type === 'resource') return `[A file of type ${named(mimeType)} at ${named(uri)}]`;
  return `[Content of type ${named(part.type)}, ${named(part.mimeType)}, which is not shown]`;
}
