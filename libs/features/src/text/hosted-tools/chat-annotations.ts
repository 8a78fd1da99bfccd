import type { Citation, JsonObject, ReplyBlock } from '#contracts';
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

/** The citations of a whole reply, whose texts stand in one content. */
export function chatAnnotations(blocks: readonly ReplyBlock[]): readonly JsonObject[] {
  let offset = 0;
  return blocks.flatMap((block) => {
    if (block.type !== 'text') return [];
    const before = offset;
    offset += block.text.length;
    return (block.citations ?? []).map((citation) => chatAnnotation(citation, before));
  });
}
