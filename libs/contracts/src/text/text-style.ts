/** The three request styles of D1 4.1 to 4.3, named after the interface each follows. */
export const TEXT_STYLES = ['responses', 'gemini', 'messages'] as const;
export type TextStyle = (typeof TEXT_STYLES)[number];

/**
 * What an upstream speaks. Three are the styles themselves, so that a request of the same style passes through byte for
 * byte; `chat` is the chat completions interface of most vendors; `sandbox` is the built-in writer.
 */
export const TEXT_PROTOCOLS = [...TEXT_STYLES, 'chat', 'sandbox'] as const;
export type TextProtocol = (typeof TEXT_PROTOCOLS)[number];
