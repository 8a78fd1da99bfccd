import type { ReasoningPart, TextProtocol } from '#contracts';

/** Marks a vendor's proof with its protocol, so that a conversation that changes upstream sends it to no other vendor. */
export const markSignature = (protocol: TextProtocol, signature: string): string => `${protocol}:${signature}`;

/** The proof as the vendor gave it; undefined when another vendor did. */
export function ownSignature(protocol: TextProtocol, part: ReasoningPart): string | undefined {
  const mark = `${protocol}:`;
  return part.signature?.startsWith(mark) ? part.signature.slice(mark.length) : undefined;
}
