/** The request styles: each named after the interface each follows. */
export const TEXT_STYLES = ['responses', 'gemini', 'messages', 'chat'] as const;
export type TextStyle = (typeof TEXT_STYLES)[number];

/**
 * What an upstream speaks. A request of the same style passes through byte for byte; `sandbox` is the built-in writer, the
 * others are the styles themselves.
 */
export const TEXT_PROTOCOLS = [...TEXT_STYLES, 'sandbox'] as const;
export type TextProtocol = (typeof TEXT_PROTOCOLS)[number];

/**
 * Stands behind the protocol in a proof that holds the reasoning itself, where a vendor tells that from a proof beside words,
 * of which there may be none as well: each goes back in the form in which it came.
 */
export const REDACTED = 'redacted:';
