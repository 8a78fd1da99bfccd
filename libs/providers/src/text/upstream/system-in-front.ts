import type { TextRequest, Turn } from '#contracts';

/** What a vendor is told that takes what the system says only in front of the conversation. */
interface SystemInFront {
  readonly system: readonly string[];
  readonly turns: readonly Exclude<Turn, { role: 'system' }>[];
}

/** The request with all that the system says in front of the conversation. */
export function withSystemInFront({ system, turns }: TextRequest): SystemInFront {
  const others = turns.filter((turn) => turn.role !== 'system');
  const said = turns.flatMap((turn) => (turn.role === 'system' ? turn.parts.map(({ text }) => text) : []));
  return { system: [...system, ...said], turns: others };
}
