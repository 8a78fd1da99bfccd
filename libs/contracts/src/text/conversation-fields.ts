/** The field that a conversation is in, and where it is taken. */
const CONVERSATION_FIELDS = {
  input: 'POST /v1/responses',
  messages: 'POST /v1/chat/completions and POST /v1/messages',
  contents: 'POST /v1beta/models/{model}:generateContent',
} as const;

/** Where another style's field was sent in the place of this one: which paths take it. Empty in all other cases. */
export function otherConversation(param: string, body: Readonly<Record<string, unknown>>): string {
  if (!Object.hasOwn(CONVERSATION_FIELDS, param)) return '';
  const sent = Object.entries(CONVERSATION_FIELDS).find(([field]) => field !== param && body[field] != null);
  return sent ? ` ${sent[0]} is the field of ${sent[1]}.` : '';
}
