import { useMessages } from '../messages/language';

type Tone = 'good' | 'bad' | 'warn' | 'info' | 'plain';

/** Shape and tone of every status. The word is always shown too, so that colour is never the only sign. */
const LOOKS = {
  completed: ['✓', 'good'],
  delivered: ['✓', 'good'],
  serving: ['✓', 'good'],
  active: ['●', 'good'],
  live: ['●', 'good'],
  stopping: ['◐', 'warn'],
  paused: ['!', 'warn'],
  silent: ['✕', 'bad'],
  balanced: ['✓', 'good'],
  failed: ['✕', 'bad'],
  problem: ['✕', 'bad'],
  broken: ['✕', 'bad'],
  revoked: ['✕', 'bad'],
  disabled: ['✕', 'bad'],
  in_progress: ['◐', 'info'],
  pending: ['◐', 'info'],
  rotating: ['◐', 'warn'],
  cooling_down: ['◐', 'warn'],
  parked: ['!', 'warn'],
  submitted: ['○', 'plain'],
  future: ['○', 'info'],
  past: ['–', 'plain'],
  proposed: ['○', 'info'],
  applied: ['✓', 'good'],
  undone: ['–', 'plain'],
  unpriced: ['!', 'warn'],
  withdrawn: ['✕', 'plain'],
  cancelled: ['–', 'plain'],
  expired: ['–', 'plain'],
  off: ['–', 'plain'],
} as const satisfies Readonly<Record<string, readonly [shape: string, tone: Tone]>>;

export type StatusName = keyof typeof LOOKS;

const isKnown = (name: string): name is StatusName => Object.hasOwn(LOOKS, name);

/** A status as shape and word. One that these pages do not know is shown as the server calls it. */
export function Status({ of: name }: { readonly of: string }) {
  const words = useMessages().status;
  const [shape, tone] = isKnown(name) ? LOOKS[name] : (['○', 'plain'] as const);
  return (
    <span className={`status ${tone}`} data-status={name}>
      <span aria-hidden="true">{shape}</span>
      {isKnown(name) ? words[name] : name}
    </span>
  );
}
