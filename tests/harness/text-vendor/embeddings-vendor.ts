/** A vector for each input: the same for every text, unless a script says otherwise. */
export function wholeEmbeddings(
  { input, model }: { readonly input: unknown; readonly model: string },
  vectorOf?: (text: string) => readonly number[],
): object {
  const inputs = Array.isArray(input) && typeof input[0] !== 'number' ? (input as unknown[]) : [input];
  const data = inputs.map((text, index) => ({
    object: 'embedding',
    index,
    embedding: vectorOf ? vectorOf(String(text)) : [0.5, -0.25, index],
  }));
  const tokens = 4 * inputs.length;
  return { object: 'list', data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } };
}

/** Words that mean the same, in two languages; each group is a direction of its own. */
const MEANINGS = [
  ['lighthouse', 'beacon', 'lamp', 'seamark', '灯塔'],
  ['bread', 'loaf', 'dough', 'bake', '面包'],
  ['dog', 'hound', 'puppy', 'vaccine', 'shot', '狗'],
  ['invoice', 'bill', 'payment', 'pay', '发票'],
];

/** A vector by what a text means: near that of a text with other words for the same. */
export function vectorByMeaning(text: string): readonly number[] {
  const lower = text.toLowerCase();
  const counts = MEANINGS.map((words) => words.filter((word) => lower.includes(word)).length);
  // Every text has something in common with every other, as with real models.
  return [...counts.map((count) => (count > 0 ? 1 : -0.05)), 0.3];
}
