import { isJsonObject, type ModelTraits, REASONING_EFFORTS, TRAIT_LIMITS, TRAITS } from '#contracts';
import { unknownFieldRule } from '#platform';
import { isLike } from '../../check-fields.js';
import { type AskedProtocol, KNOWN_TRAITS, type TraitRow, USUAL_TRAITS } from './known-traits.js';
import { isFrom, type NamedModel, namedModel } from './model-names.js';

interface AskedPlace {
  readonly protocol: AskedProtocol;
  /** The name of the server; undefined: one that no row is about. */
  readonly server?: string | undefined;
}

/** The rows of the table that hold for a model, in their order. */
export function rowsFor(name: string, { protocol, server = '' }: AskedPlace): readonly TraitRow[] {
  const model = namedModel(name);
  return model ? KNOWN_TRAITS.filter((row) => isAbout(row, model) && holdsAt(row, protocol, server)) : [];
}

function isAbout(
  { family, from, before, lines, except }: TraitRow,
  { generation, words, ...model }: NamedModel,
): boolean {
  if (family !== model.family) return false;
  if ((from && !isFrom(generation, from)) || (before && isFrom(generation, before))) return false;
  return (!lines || lines.some((line) => words.includes(line))) && !except?.some((word) => words.includes(word));
}

const holdsAt = ({ protocols, servers }: TraitRow, protocol: AskedProtocol, server: string): boolean =>
  (!protocols || protocols.includes(protocol)) &&
  (!servers || servers.some((name) => server === name || server.endsWith(`.${name}`)));

/** What the table says of a model by its upstream's name of it. */
const knownTraits = (name: string, place: AskedPlace): ModelTraits =>
  Object.assign({}, USUAL_TRAITS[place.protocol], ...rowsFor(name, place).map(({ traits }) => traits)) as ModelTraits;

export type TraitLookup = (upstreamModel: string) => ModelTraits;

/** A lookup that finds each name once. */
function remembered(find: TraitLookup, most: number): TraitLookup {
  const found = new Map<string, ModelTraits>();
  return (name) => {
    let traits = found.get(name);
    if (!traits) {
      traits = find(name);
      if (found.size < most) found.set(name, traits);
    }
    return traits;
  };
}

const MOST_NAMES = 1_000;

/** What the table alone says, for each protocol. */
const TABLE_LOOKUPS: Readonly<Record<AskedProtocol, TraitLookup>> = {
  chat: remembered((name) => knownTraits(name, { protocol: 'chat' }), MOST_NAMES),
  responses: remembered((name) => knownTraits(name, { protocol: 'responses' }), MOST_NAMES),
  messages: remembered((name) => knownTraits(name, { protocol: 'messages' }), MOST_NAMES),
  gemini: remembered((name) => knownTraits(name, { protocol: 'gemini' }), MOST_NAMES),
};

/** What holds for a model, by what is said of an upstream, or else by the table alone. */
export const traitsOf = (
  { traits }: { readonly traits?: TraitLookup | undefined },
  protocol: AskedProtocol,
  upstreamModel: string,
): ModelTraits => (traits ?? TABLE_LOOKUPS[protocol])(upstreamModel);

/** What an operator says of models, by their names or patterns of names. */
type SaidTraits = Readonly<Record<string, Partial<ModelTraits>>>;

/** An upstream, as far as it decides what holds for its models. */
interface TraitPlace extends AskedPlace {
  /** Public model name to the upstream's own. */
  readonly models: Readonly<Record<string, string>>;
  /** What its settings say of all its models. */
  readonly ofAll: (known: ModelTraits) => Partial<ModelTraits>;
  readonly said: SaidTraits;
}

/** The traits of the models of an upstream: what the table says, then its settings, then what its operator says of the model. */
export function upstreamTraits({ models, ofAll, said, ...place }: TraitPlace): TraitLookup {
  // Names come before patterns, whatever their order.
  const rules = Object.entries(said).toSorted(([one], [other]) => Number(isName(one)) - Number(isName(other)));
  return remembered((upstreamModel) => {
    const known = knownTraits(upstreamModel, place);
    const names = [upstreamModel, ...Object.keys(models).filter((name) => models[name] === upstreamModel)];
    const own = rules.flatMap(([pattern, traits]) => (names.some((name) => fits(pattern, name)) ? [traits] : []));
    return Object.assign({}, known, ofAll(known), ...own) as ModelTraits;
  }, MOST_NAMES);
}

const isName = (pattern: string): boolean => !pattern.includes('*');

/** Case does not matter. */
const fits = (pattern: string, name: string): boolean => isLike(pattern.toLowerCase(), name.toLowerCase());

/** What a field of traits breaks. */
interface TraitMistake {
  readonly path: readonly string[];
  readonly rule: string;
  readonly isUnknown?: boolean;
}

const MOST_TOKENS = 10_000_000;
const MOST_PATTERNS = 200;
const PATTERN = /^[\w.*:@/ -]{1,128}$/;

const NAMES: readonly string[] = [...Object.keys(TRAITS), 'efforts', ...Object.keys(TRAIT_LIMITS)];

/** What is wrong with what an operator says of models; `names` are those that the upstream knows. */
export function mistakesInTraits(said: Readonly<Record<string, unknown>>, names: readonly string[]): TraitMistake[] {
  const rules = Object.entries(said);
  if (rules.length > MOST_PATTERNS) return [{ path: [], rule: `must have at most ${MOST_PATTERNS} names` }];
  return rules.flatMap(([pattern, traits]) => {
    const path = [pattern];
    if (!PATTERN.test(pattern))
      return [{ path, rule: 'must be the name of a model, or a pattern of names with * for any letters' }];
    if (isName(pattern) && !names.some((name) => fits(pattern, name)))
      return [
        { path, rule: 'must be one of the models of this upstream, or a pattern of names with * for any letters' },
      ];
    if (!isJsonObject(traits)) return [{ path, rule: 'must be an object' }];
    return Object.entries(traits).flatMap(([name, value]) => {
      const rule = NAMES.includes(name) ? brokenBy(name, value) : undefined;
      if (!NAMES.includes(name))
        return [{ path: [...path, name], rule: unknownFieldRule(name, NAMES), isUnknown: true }];
      return rule === undefined ? [] : [{ path: [...path, name], rule }];
    });
  });
}

function brokenBy(name: string, value: unknown): string | undefined {
  if (name === 'efforts') {
    const efforts: readonly unknown[] = REASONING_EFFORTS;
    const isList = Array.isArray(value) && value.length > 0 && value.every((effort) => efforts.includes(effort));
    return isList ? undefined : `must be a list of some of: ${REASONING_EFFORTS.join(', ')}`;
  }
  if (Object.hasOwn(TRAIT_LIMITS, name)) {
    const isCount = Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MOST_TOKENS;
    return isCount ? undefined : `must be a whole number from 1 to ${MOST_TOKENS}`;
  }
  const values: readonly unknown[] = TRAITS[name as keyof typeof TRAITS].values;
  return values.includes(value) ? undefined : `must be one of: ${values.join(', ')}`;
}
