/** How the gateway marks a compaction of its own; what another vendor wrote has no such mark. */
const MARK = 'gateway:';
const INTRODUCTION = 'The conversation before this was shortened. What it came to:\n\n';

/** The `encrypted_content` of a compaction item: opaque to its reader, and nothing that its caller did not say. */
export const compactedContent = (summary: string): string => MARK + Buffer.from(summary, 'utf8').toString('base64url');

/** What a compaction item of the gateway's own stands for, as a message of the user; undefined for another vendor's. */
export function summaryOf({ encrypted_content: content }: { readonly encrypted_content: string }): string | undefined {
  if (!content.startsWith(MARK)) return undefined;
  return INTRODUCTION + Buffer.from(content.slice(MARK.length), 'base64url').toString('utf8');
}
