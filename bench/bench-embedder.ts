import type { TextEmbedder } from '#features';

const DIMENSIONS = 1_536;
const GRAM = 3;

/**
 * What makes vectors for the bench: a server that speaks `POST /embeddings` (EMBEDDINGS_URL, EMBEDDINGS_KEY,
 * EMBEDDINGS_MODEL), or, without one, sums of hashed runs of three characters, which know spellings and no meanings.
 */
export function benchEmbedder(): TextEmbedder & { readonly model: string } {
  const { EMBEDDINGS_URL: url, EMBEDDINGS_KEY: key = '', EMBEDDINGS_MODEL: model = 'embeddings' } = process.env;
  if (url === undefined)
    return { model: 'hashed runs of characters', embed: ({ texts }) => Promise.resolve(texts.map(hashedRuns)) };
  return {
    model,
    embed: async ({ texts }) => {
      const answer = await fetch(`${url}/embeddings`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify({ model, input: texts, encoding_format: 'float' }),
      });
      if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
      const { data } = (await answer.json()) as { data: { embedding: number[] }[] };
      return data.map(({ embedding }) => ofLengthOne(Float32Array.from(embedding)));
    },
  };
}

function hashedRuns(text: string): Float32Array {
  const vector = new Float32Array(DIMENSIONS);
  const characters = Array.from(` ${text.toLowerCase()} `);
  for (let from = 0; from < characters.length; from += 1)
    // Of Chinese a single character is as much as a run.
    for (const run of [characters[from] ?? '', characters.slice(from, from + GRAM).join('')]) {
      if (run.length === 1 && run.charCodeAt(0) < 0x2e80) continue;
      const hash = hashOf(run);
      const place = hash % DIMENSIONS;
      vector[place] = (vector[place] ?? 0) + ((hash >>> 16) % 2 === 0 ? 1 : -1);
    }
  return ofLengthOne(vector);
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

function ofLengthOne(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}
