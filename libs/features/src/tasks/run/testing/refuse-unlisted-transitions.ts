import { TASK_TRANSITIONS } from '#contracts';
import type { Database } from '#platform';

const LISTED = Object.entries(TASK_TRANSITIONS).flatMap(([from, nexts]) => nexts.map((to) => `('${from}', '${to}')`));

/** From now on a statement that moves a task otherwise than `TASK_TRANSITIONS` says fails. */
export async function refuseUnlistedTransitions(database: Database): Promise<void> {
  await database.query({
    text: `
      create function refuse_unlisted_transition() returns trigger language plpgsql as $$
      begin
        raise exception 'a task may not go from % to %', old.state, new.state;
      end
      $$;
      create trigger task_transition before update on task for each row
        when (old.state <> new.state and (old.state, new.state) not in (${LISTED.join(', ')}))
        execute function refuse_unlisted_transition()`,
  });
}
