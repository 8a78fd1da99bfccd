import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { isJsonObject } from '#contracts';
import { fieldsOf, inheritedNameIn, ruleOf, unknownFieldRule } from '#platform';

/** Where a field stands: `['upstreams', 1, 'base_url']`. */
export type FieldPath = readonly (string | number)[];

/** One mistake in the settings of upstreams. Never holds what was given, which may be a secret. */
export interface UpstreamMistake {
  readonly path: FieldPath;
  /** What the field breaks, to be read after its name: "must be at least 0". */
  readonly rule: string;
  /** True when there is no such field. */
  readonly isUnknown?: boolean;
}

/** `upstreams[1].base_url` */
export const fieldName = (path: FieldPath): string =>
  path.reduce<string>(
    (name, step) => (typeof step === 'number' ? `${name}[${step}]` : name ? `${name}.${step}` : step),
    '',
  );

/** Checked settings; of use only when there are no mistakes. */
export interface CheckedUpstreams<Checked> {
  readonly checked: Checked;
  readonly mistakes: readonly UpstreamMistake[];
}

/** Reads fields as the decorators of a class say. */
export function checkFields<Checked extends object>(
  checkedClass: new () => Checked,
  sent: unknown,
): CheckedUpstreams<Checked> {
  const inherited = inheritedNameIn(sent);
  if (inherited) {
    const mistake = { path: inherited.map(stepOf), rule: 'is not a name that a field may have', isUnknown: true };
    return { checked: new checkedClass(), mistakes: [mistake] };
  }
  const checked = plainToInstance(checkedClass, isJsonObject(sent) ? sent : {}, { exposeDefaultValues: true });
  const errors = validateSync(checked, { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: false });
  return { checked, mistakes: errors.flatMap((error) => mistakesOf(error, [])) };
}

function mistakesOf(error: ValidationError, above: FieldPath): UpstreamMistake[] {
  const { property, constraints, children } = error;
  const path = [...above, stepOf(property)];
  const isUnknown = constraints !== undefined && 'whitelistValidation' in constraints;
  const own =
    constraints === undefined ? [] : [{ path, rule: isUnknown ? unknownRule(error) : ruleOf(error), isUnknown }];
  return [...own, ...(children ?? []).flatMap((child) => mistakesOf(child, path))];
}

/** Places in a list are numbers. */
const stepOf = (property: string): string | number => (/^\d+$/.test(property) ? Number(property) : property);

const unknownRule = ({ target, property }: ValidationError): string =>
  unknownFieldRule(property, fieldsOf(target?.constructor as new () => object));

/** What only shows when the entries of a list are seen together, and what `inEntry` finds in each. */
export const mistakesInList = <Entry extends { readonly id: string }>(
  list: string,
  entries: readonly Entry[],
  inEntry: (entry: Entry, path: FieldPath) => UpstreamMistake[],
): UpstreamMistake[] =>
  entries.flatMap((entry, index) => {
    const path = [list, index];
    const twice = entries.findIndex(({ id }) => id === entry.id) < index;
    return [
      ...(twice ? [{ path: [...path, 'id'], rule: `"${entry.id}" is used twice` }] : []),
      ...inEntry(entry, path),
    ];
  });

/** Whether a name is one that a pattern means, in which `*` stands for anything. No pattern takes longer than its length times that of the name. */
export function isLike(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return pattern === name;
  if (!name.startsWith(first)) return false;
  let place = first.length;
  for (const piece of rest) {
    const found = name.indexOf(piece, place);
    if (found === -1) return false;
    place = found + piece.length;
  }
  return name.length - last.length >= place && name.endsWith(last);
}
