import { TRAIT_LIMITS, TRAITS } from '#contracts';
import { type AskedProtocol, KNOWN_TRAITS, type TraitRow, USUAL_TRAITS } from '../traits/known-traits.js';
import type { Generation } from '../traits/model-names.js';

const PROTOCOLS = Object.keys(USUAL_TRAITS) as AskedProtocol[];

const rendered = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const code = (value: unknown): string => `\`${Array.isArray(value) ? value.join(', ') : String(value)}\``;

/** Every trait with its values and what it is where nothing more is known, as a page of the documentation shows them. */
export function renderTraits(): string {
  const usual = (name: keyof typeof TRAITS | 'efforts'): string => {
    const values = PROTOCOLS.map((protocol) => code(USUAL_TRAITS[protocol][name]));
    if (new Set(values).size === 1) return values[0] ?? '';
    return PROTOCOLS.map((protocol, place) => `${protocol} ${values[place]}`).join(', ');
  };
  const efforts = [
    '`efforts`',
    'the efforts that it takes; another is sent as the next weaker one',
    'a list',
    usual('efforts'),
  ];
  return rendered(
    ['Trait', 'What it is about', 'Values', 'Where nothing is known'],
    [
      ...(Object.keys(TRAITS) as (keyof typeof TRAITS)[]).map((name) => [
        code(name),
        TRAITS[name].about,
        TRAITS[name].values.map(code).join(', '),
        usual(name),
      ]),
      efforts,
      ...Object.entries(TRAIT_LIMITS).map(([name, about]) => [code(name), `${about}, in tokens`, 'a number', '']),
    ],
  );
}

/** What is known of models by their names, with source and day. */
export const renderKnownTraits = (): string =>
  rendered(
    ['Models', 'Traits', 'Read at', 'On'],
    KNOWN_TRAITS.map((row) => [
      modelsOf(row),
      Object.entries(row.traits)
        .map(([name, value]) => `${name}: ${code(value)}`)
        .join(', '),
      `[${new URL(row.source).hostname}](${row.source})`,
      row.asOf,
    ]),
  );

const numbered = (generation: Generation): string => generation.join('.');

function modelsOf({ family, from, before, lines, except, protocols, servers }: TraitRow): string {
  return [
    family,
    ...(lines ? [lines.join(' and ')] : []),
    ...(from ? [`from ${numbered(from)}`] : []),
    ...(before ? [`before ${numbered(before)}`] : []),
    ...(except ? [`without ${except.join(', ')}`] : []),
    ...(protocols ? [`over ${protocols.join(', ')}`] : []),
    ...(servers ? [`at ${servers.join(', ')}`] : []),
  ].join(' ');
}
