import type { TextStyle } from '#contracts';
import { chatHosted } from './chat-hosted.js';
import { geminiHosted } from './gemini-hosted.js';
import type { HostedStyle } from './requested-tools.js';
import { messagesHosted } from './messages-hosted.js';
import { responsesHosted } from './responses-hosted.js';

const HOSTED_STYLES = {
  responses: responsesHosted,
  messages: messagesHosted,
  gemini: geminiHosted,
  chat: chatHosted,
} as const;

/** How a style names the tools that the gateway can run. The body is one of that style. */
export const hostedStyle = <Body>(style: TextStyle): HostedStyle<Body> =>
  HOSTED_STYLES[style] as unknown as HostedStyle<Body>;
