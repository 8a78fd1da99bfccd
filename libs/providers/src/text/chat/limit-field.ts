import type { NativeBody } from '#contracts';
import { renameTopLevelField } from '../upstream/top-level-field.js';

type LimitField = 'max_tokens' | 'max_completion_tokens';

/**
 * A body with its output limit under the name that the vendor has for it: the two names mean one limit, and many vendors
 * know only one of them. Every other byte stays as it is.
 */
export function withLimitField(native: NativeBody, field: LimitField): NativeBody {
  const other = field === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
  const body = native.kind === 'rewritten' ? native.body : native.parsed();
  if (body[other] == null) return native;
  if (native.kind === 'bytes') {
    const { [other]: added, ...front } = native.front ?? {};
    if (added !== undefined) return { ...native, front: { ...front, [field]: added } };
    const { buffer, byteOffset, byteLength } = native.bytes;
    const bytes = renameTopLevelField(Buffer.from(buffer, byteOffset, byteLength), other, field);
    if (bytes) return { ...native, bytes };
  }
  const { [other]: limit = null, ...rest } = body;
  return { kind: 'rewritten', body: { ...rest, [field]: limit } };
}
