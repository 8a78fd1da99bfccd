import { CATALOG, type ModelFamily } from '#contracts';
import type { MediaCodec } from '../http/media-codec.js';
import { MEDIA_CODECS } from '../media-protocols.js';
import { fieldEffects } from './field-effects.js';

const HEAD = `# Which field reaches which upstream

What each protocol of \`media_upstreams\` does with every field of every media model. **sent**: every value reaches the vendor.
**sent; else**: the same, but some requests are refused for the stated reason before money is held; another upstream
may accept them. **one value**: there is nothing to choose. \`npm run media-fields\` finds this out by trying: it makes requests for each model,
changes one field, and compares what would be sent.
`;

/** The page docs/media-fields.md: every model, field and protocol. */
export function mediaFieldsPage(): string {
  return [HEAD, ...(CATALOG as readonly ModelFamily[]).map(familySection)].join('\n');
}

function familySection(family: ModelFamily): string {
  const groups = new Map<string, { models: string[]; codecs: readonly MediaCodec[] }>();
  for (const model of family.models) {
    const codecs = Object.values(MEDIA_CODECS).filter((codec) => codec.models.has(model));
    const key = codecs.map(({ protocol }) => protocol).join();
    const group = groups.get(key) ?? { models: [], codecs };
    group.models.push(model);
    groups.set(key, group);
  }
  const tables = [...groups.values()].map(({ models, codecs }) => groupTable(family, models, codecs));
  return [`## ${family.id}`, '', ...tables].join('\n');
}

function groupTable(family: ModelFamily, models: readonly string[], codecs: readonly MediaCodec[]): string {
  const names = family.fields.map(({ name }) => name).filter((name) => name !== 'model');
  const effects = codecs.map((codec) => models.map((model) => fieldEffects(codec, model)));
  const rows = names.map((name) => {
    const cells = effects.map((ofModels) => cellOf(ofModels.map((effect) => effect.get(name))));
    return `| \`${name}\` | ${cells.join(' | ')} |`;
  });
  const heads = codecs.map(({ protocol }) => protocol);
  return [
    models.map((model) => `\`${model}\``).join(', '),
    '',
    `| Field | ${heads.join(' | ')} |`,
    `|---|${heads.map(() => '---').join('|')}|`,
    ...rows,
    '',
  ].join('\n');
}

function cellOf(effects: readonly (ReturnType<ReturnType<typeof fieldEffects>['get']> | undefined)[]): string {
  const known = effects.filter((effect) => effect !== undefined);
  if (known.length === 0) return 'one value';
  const refusals = [...new Set(known.flatMap(({ refused }) => refused))];
  if (known.every(({ sent }) => sent)) return refusals.length === 0 ? 'sent' : `sent; else: ${refusals.join(' ')}`;
  return refusals.length === 0 ? '**lost**' : `refused: ${refusals.join(' ')}`;
}
