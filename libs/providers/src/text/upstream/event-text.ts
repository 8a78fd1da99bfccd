import type { TextEvent } from '#contracts';

/** What an event adds to the text that is counted when the upstream tells no usage: words, thoughts, arguments of calls. */
export function eventText(event: TextEvent): string {
  if (event.type === 'text' || event.type === 'reasoning') return event.text;
  return event.type === 'arguments' ? event.json : '';
}
