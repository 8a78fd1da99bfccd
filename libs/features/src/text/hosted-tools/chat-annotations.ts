import type { Citation, JsonObject, ReplyBlock } from '#contracts';
import { JoinedTexts } from '../reply-parts.js';
import { writeAnnotation } from './responses-steps.js';

/** A citation as the chat style has it: its fields stand in an object of their own. `offset`: of its block in the content. */
export function chatAnnotation(citation: Citation, offset: number): JsonObject {
  const { type, ...fields } = writeAnnotation({
    ...citation,
    start: citation.start + offset,
    end: citation.end + offset,
  }) as JsonObject & { readonly type: string };
  return { type, [type]: fields };
}

/** What ends a text, though the next one stands in the same content. */
const endsText = (block: ReplyBlock): boolean =>
  block.type === 'call' || block.type === 'step' || (block.type === 'reasoning' && block.text !== '');

/** The content of a whole reply, in which all its texts stand, and their citations. */
export function chatContent(blocks: readonly ReplyBlock[]): {
  readonly text: string;
  readonly annotations: readonly JsonObject[];
} {
  const content = new JoinedTexts();
  const annotations: JsonObject[] = [];
  const texts = blocks.map((block) => {
    if (endsText(block) || (block.type === 'text' && block.isApart)) content.cut();
    if (block.type !== 'text') return '';
    const placed = content.add(block.text);
    const before = content.length - block.text.length;
    annotations.push(...(block.citations ?? []).map((citation) => chatAnnotation(citation, before)));
    return placed;
  });
  return { text: texts.join(''), annotations };
}
