import type { JsonValue } from '#contracts';

/** Longer than any vendor's; what is longer is no name of anything. */
const MAX_ID = 512;
/** Printed characters of ASCII: ids stand in paths, where one or two dots would name another place. */
const ID = /^(?!\.{1,2}$)[\x21-\x7e]+$/;

/** The vendor's name of something, which may come as a text or as a number. Undefined: it is none that can be asked for. */
export function vendorId(value: JsonValue | undefined): string | undefined {
  const id = typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? String(value) : value;
  return typeof id === 'string' && id.length <= MAX_ID && ID.test(id) ? id : undefined;
}
