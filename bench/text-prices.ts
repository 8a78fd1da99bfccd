import { writeFileSync } from 'node:fs';

/** Writes prices for models that upstreams of a benchmark serve, and answers the file. */
export function writeTextPrices(file: string, models: readonly string[]): string {
  const prices = models.flatMap((model) => [
    `  - { model: ${model}, unit: input_token, amount: '1.25', per_quantity: 1000000 }`,
    `  - { model: ${model}, unit: output_token, amount: '10', per_quantity: 1000000 }`,
  ]);
  writeFileSync(file, ['effective_from: 2026-01-01', 'prices:', ...prices, ''].join('\n'));
  return file;
}
