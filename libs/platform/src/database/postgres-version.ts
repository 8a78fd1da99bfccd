/** The oldest major version that every statement was run on. */
const OLDEST = 15;
/** Of a number such as 150020, which stands for 15.20. */
const PER_MAJOR = 10_000;

/**
 * Why a server is too old, in one line; null when it is not.
 *
 * @param versionNumber `server_version_num` as Postgres answers it, such as `150020`.
 */
export function tooOldPostgres(versionNumber: string): string | null {
  const number = Number(versionNumber);
  const major = Math.floor(number / PER_MAJOR);
  return major >= OLDEST
    ? null
    : `The gateway needs Postgres ${OLDEST} or newer; DATABASE_URL leads to ${major}.${number % PER_MAJOR}.`;
}
