import type { TextRequest, Turn } from '#contracts';

/** The conversation for a vendor that takes system messages only in front of it. */
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
