import { Injectable } from '@nestjs/common';
import { Database, signals } from '#platform';

const CACHED = `
select upstream, sum(input_tokens)::bigint as input_tokens, sum(cached_input_tokens)::bigint as cached_input_tokens
from usage_record where created_at > now() - interval '24 hours' and kind = 'text' and upstream is not null group by upstream`;

type Outcome = 'kept' | 'moved' | 'void' | 'new';
interface CachedRow {
  readonly upstream: string;
  readonly input_tokens: bigint;
  readonly cached_input_tokens: bigint;
}

/** Tells operators whether conversations stay at one upstream, what that saves, and why they move. */
@Injectable()
export class ConversationReport {
  constructor(private readonly database: Database) {}

  async read() {
    const query = { text: CACHED, limit: 'long' } as const;
    const [{ rows }, outcomes, moves] = await Promise.all([
      this.database.ofOperators().query<CachedRow>(query),
      signals.conversations.get(),
      signals.conversationMoves.get(),
    ]);
    const found = new Map<string, Record<Outcome, number> & Omit<CachedRow, 'upstream'>>();
    const at = (upstream: string) => {
      const known = found.get(upstream) ?? { ...NONE };
      found.set(upstream, known);
      return known;
    };
    for (const { upstream, input_tokens, cached_input_tokens } of rows)
      Object.assign(at(upstream), { input_tokens, cached_input_tokens });
    for (const { labels, value } of outcomes.values)
      if (labels.upstream !== undefined) at(String(labels.upstream))[labels.outcome as Outcome] = value;
    return {
      since: new Date(Date.now() - process.uptime() * 1_000),
      upstreams: [...found].map(([upstream, counts]) => ({ upstream, ...counts })),
      moves: moves.values
        .map(({ labels, value }) => ({ reason: String(labels.reason), count: value }))
        .toSorted((one, other) => other.count - one.count),
    };
  }
}

const NONE = { kept: 0, moved: 0, void: 0, new: 0, input_tokens: 0n, cached_input_tokens: 0n };
