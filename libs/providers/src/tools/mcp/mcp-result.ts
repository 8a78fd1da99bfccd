import type { ImagePart, TextPart } from '#contracts';
import { textWithoutSecrets } from './mcp-secrets.js';

/** What a tool returned. */
export interface McpResult {
  readonly content: readonly (TextPart | ImagePart)[];
  readonly isError: boolean;
}

/** How much of a tool's output is passed on to the model, in characters. */
const MAX_CHARACTERS = 100_000;
const MAX_IMAGES = 8;
const MAX_PARTS = 256;

/** The images that every vendor reads. */
const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** A part of a result as the protocol has it; the client library has checked its shape. */
interface McpContent {
  readonly type: string;
  readonly text?: unknown;
  readonly data?: unknown;
  readonly mimeType?: unknown;
  readonly uri?: unknown;
  readonly name?: unknown;
  readonly resource?: { readonly uri?: unknown; readonly text?: unknown; readonly mimeType?: unknown };
}

/** A result as the client library has checked it. */
interface SentResult {
  readonly content?: readonly McpContent[] | undefined;
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
}

/**
 * The result of `tools/call`, texts cut to what a model can be given and images kept that it can see.
 *
 * @param secrets what a server may echo, and must not appear in an answer.
 */
export function readMcpResult(sent: SentResult, secrets: readonly string[]): McpResult {
  const open = (text: string): string => textWithoutSecrets(text, secrets);
  const content: (TextPart | ImagePart)[] = [];
  let left = MAX_CHARACTERS;
  let images = 0;
  for (const part of sent.content ?? []) {
    const image = images < MAX_IMAGES ? imageOf(part) : undefined;
    if (image) {
      images += 1;
      content.push(image);
      continue;
    }
    const text = open(wordsOf(part));
    if (text === '') continue;
    if (content.length >= MAX_PARTS) {
      content.push({ type: 'text', text: LEFT_OUT });
      break;
    }
    content.push({ type: 'text', text: cut(text, left) });
    left -= text.length;
    if (left <= 0) break;
  }
  if (content.length === 0 && sent.structuredContent !== undefined)
    content.push({ type: 'text', text: cut(open(JSON.stringify(sent.structuredContent)), left) });
  return { content, isError: sent.isError === true };
}

const LEFT_OUT = '[The rest is left out: the tool returned more than is read.]';

const cut = (text: string, left: number): string =>
  text.length <= left ? text : `${text.slice(0, left)}\n${LEFT_OUT}`;

function imageOf({ type, data, mimeType }: McpContent): ImagePart | undefined {
  if (type !== 'image' || typeof data !== 'string' || typeof mimeType !== 'string') return undefined;
  if (!IMAGES.has(mimeType) || data.length % 4 !== 0 || !BASE64.test(data)) return undefined;
  return { type: 'image', source: { kind: 'inline', mediaType: mimeType, base64: data } };
}

const named = (value: unknown): string => (typeof value === 'string' ? value : 'unknown');

function wordsOf(part: McpContent): string {
  if (part.type === 'text') return typeof part.text === 'string' ? part.text : '';
  if (part.type === 'resource_link') return `[${named(part.name)}](${named(part.uri)})`;
  const { text, uri, mimeType } = part.resource ?? {};
  if (part.type === 'resource' && typeof text === 'string') return text;
  if (part.type === 'resource') return `[A file of type ${named(mimeType)} at ${named(uri)}]`;
  return `[Content of type ${part.type}, ${named(part.mimeType)}, which is not shown]`;
}
