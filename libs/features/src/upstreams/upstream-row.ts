import type { SecretSealer } from '#platform';

/** A row of `upstream`, as far as every kind of upstream has it. */
export interface ManagedRow {
  readonly id: string;
  readonly api_key_sealed: Buffer | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** What changes when anything in a row of `upstream` does. */
export const REVISION = 'left(md5(upstream::text), 12)';

/** A sealed key opens for the upstream it was sealed for and no other. */
const ownerOf = (id: string): string => `upstream ${id}`;

export const sealUpstreamKey = (sealer: SecretSealer, id: string, key: string): Buffer => sealer.seal(key, ownerOf(id));

/** The key of an upstream, undefined when it has none. @throws Error when it was sealed under another KEY_PEPPER. */
export const openUpstreamKey = (
  sealer: SecretSealer,
  { id, api_key_sealed: sealed }: Pick<ManagedRow, 'id' | 'api_key_sealed'>,
): string | undefined => (sealed === null ? undefined : sealer.open(sealed, ownerOf(id)));
