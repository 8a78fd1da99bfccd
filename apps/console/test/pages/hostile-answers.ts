/** The fields of answers that others than us write. */
const WRITTEN_BY_OTHERS =
  /^(name|account_name|prompt|message|last_error|error_message|last_failure|note|reference|email|agent|url|model|request_id|actor)$/;
/** What hostile people would write: a script, an unended turn of direction, no width at all, and one word without end. */
const ANYTHING = `"><img src=x onerror=alert(1)>\u202E\u200B😀${'Donaudampfschifffahrt'.repeat(500)}`;

/** An answer with anything in the fields that others write. */
export const hostile = (value: unknown, name = ''): unknown => {
  if (Array.isArray(value)) return value.map((each) => hostile(each));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, hostile(each, key)]));
  return typeof value === 'string' && WRITTEN_BY_OTHERS.test(name) && !value.includes('/files/') ? ANYTHING : value;
};
