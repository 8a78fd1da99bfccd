/** A vector for each input, whatever it says. */
export function wholeEmbeddings({ input, model }: { readonly input: unknown; readonly model: string }): object {
  const inputs = Array.isArray(input) && typeof input[0] !== 'number' ? (input as unknown[]) : [input];
  const data = inputs.map((_, index) => ({ object: 'embedding', index, embedding: [0.5, -0.25, index] }));
  const tokens = 4 * inputs.length;
  return { object: 'list', data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } };
}
