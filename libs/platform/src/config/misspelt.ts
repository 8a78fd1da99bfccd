import { distance } from 'fastest-levenshtein';
import type { Environment } from './load-config.js';
import { configClasses, variablesOf } from './variable.js';

/** A variable under a name that is not ours, or no more, and the one of ours that was probably meant. */
export interface MisspeltVariable {
  readonly name: string;
  readonly meant: string;
  /** It is the name of a release before, under which it is still read. */
  readonly isFormer?: true;
}

/** Names that shells, systems and other programs set, however similar to one of ours. */
const OF_OTHERS = new Set(
  'PATH PWD HOME HOSTNAME HOSTTYPE LANG TERM USER MAIL POST COST PORTS HOSTS APP_PORT API_PORT DB_PORT DATABASE_URI REDIS_URI REDIS_HOST'.split(
    ' ',
  ),
);

/** Variables of the environment that look like a slip in the name of one of ours. */
export function misspeltVariables(environment: Environment = process.env): MisspeltVariable[] {
  const variables = configClasses().flatMap((configClass) => [...variablesOf(configClass)]);
  const known = variables.map(([name]) => name);
  const ours = new Set(known);
  const former = new Map(variables.map(([name, { formerly = '' }]) => [formerly, name]));
  return Object.keys(environment)
    .filter((name) => environment[name] && !ours.has(name) && !OF_OTHERS.has(name))
    .flatMap((name) => {
      const renamed = former.get(name);
      if (renamed !== undefined) return [{ name, meant: renamed, isFormer: true as const }];
      const meant = nearest(name, known);
      return meant === undefined ? [] : [{ name, meant }];
    });
}

export const explainMisspelt = ({ name, meant, isFormer }: MisspeltVariable): string =>
  isFormer
    ? `${name} is now ${meant}; the old name is read in this release for the last time.`
    : `${name} is set, but the gateway has no such variable; did you mean ${meant}?`;

function nearest(name: string, candidates: readonly string[]): string | undefined {
  const written = plain(name);
  const near = candidates
    .map((candidate) => ({ candidate, slips: slipsBetween(written, plain(candidate)) }))
    .filter(({ candidate, slips }) => slips <= slipsAllowed(candidate));
  return near.toSorted((one, other) => one.slips - other.slips)[0]?.candidate ?? candidates.find(isCutShort(name));
}

/** Its last words are missing: DATABASE_POOL for DATABASE_POOL_SIZE. One word alone is many programs'. */
const isCutShort =
  (name: string) =>
  (candidate: string): boolean =>
    name.includes('_') && candidate.startsWith(`${name.toUpperCase()}_`);

/** Short names lie near many words. */
const slipsAllowed = ({ length }: string): number => (length <= 8 ? 1 : length <= 14 ? 2 : 3);

/** Letter case, hyphens and underscores are the most common mistake, and count for nothing. */
const plain = (name: string): string => name.toUpperCase().replaceAll(/[-_]/g, '');

/** Letters that are missing, extra or wrong; two neighbours that changed places are one slip. */
function slipsBetween(written: string, meant: string): number {
  const slips = distance(written, meant);
  return slips === 2 && isSwapped(written, meant) ? 1 : slips;
}

function isSwapped(written: string, meant: string): boolean {
  if (written.length !== meant.length) return false;
  const at = Array.from(written).findIndex((letter, index) => letter !== meant[index]);
  return written[at] === meant[at + 1] && written[at + 1] === meant[at];
}
