const BASE = '/console';

/** An object that an identifier names, and the page that shows it. */
export interface EntityLink {
  readonly kind: 'task' | 'request' | 'key';
  readonly id: string;
  readonly href: string;
}

/** What a pasted text names, if it is an identifier. */
export function entityLink(text: string): EntityLink | null {
  if (/^task_\w{10,60}$/.test(text)) return { kind: 'task', id: text, href: `${BASE}/tasks/${text}` };
  if (/^req_\w{6,60}$/.test(text)) return { kind: 'request', id: text, href: `${BASE}/billing?request_id=${text}` };
  if (/^key_\w{6,60}$/.test(text)) return { kind: 'key', id: text, href: `${BASE}/keys/${text}` };
  return null;
}
