import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import { type Field, fieldsOf } from './field.js';

/** A URL of a submission, and where in its body it stands: `image_with_roles[1].url`. */
export interface FileUrl {
  readonly param: string;
  readonly url: string;
}

/**
 * Every URL that a checked request points at a file with, in the order of the table. Also those that its model leaves
 * unread, such as the second of a list whose first is used; inline files are left out.
 *
 * @param fields the table of the family.
 * @param parameters of a request that the family accepted.
 */
export function fileUrls(fields: readonly Field[], parameters: JsonObject): FileUrl[] {
  return urlsIn(fields, parameters, '');
}

function urlsIn(fields: readonly Field[], values: JsonObject, prefix: string): FileUrl[] {
  return fields.flatMap((field) => {
    const value = values[field.name];
    return value === undefined || value === null ? [] : urlsAt(field, value, prefix + field.name);
  });
}

function urlsAt(field: Field, value: JsonValue, param: string): FileUrl[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => urlsAt(field, item, `${param}[${index}]`));
  if (field.kind === 'object' || field.kind === 'objects')
    return isJsonObject(value) ? urlsIn(fieldsOf(field.item), value, `${param}.`) : [];
  const pointsAtFile = field.kind === 'file' || field.kind === 'files';
  return pointsAtFile && typeof value === 'string' && !value.startsWith('data:') ? [{ param, url: value }] : [];
}
