import { useRead } from '../../api/queries';
import type { ConsoleTaskDetails, JsonValue } from '../../api/types';
import { Dialog } from '../../components/dialog';
import { Loaded } from '../../components/states';
import { Money } from '../../components/values';
import { useMessages } from '../../messages/language';
import { Outcome } from './task-details';

const shown = (value: JsonValue | undefined): string =>
  value === undefined ? '–' : typeof value === 'string' ? value : JSON.stringify(value);

/** Two tasks side by side, and in which fields they differ, their price among them. */
export function Compare({ ids, onClose }: { readonly ids: readonly [string, string]; readonly onClose: () => void }) {
  const { tasks } = useMessages();
  const first = useRead('GET /tasks/:task_id', { params: { task_id: ids[0] } });
  const second = useRead('GET /tasks/:task_id', { params: { task_id: ids[1] } });
  return (
    <Dialog kind="drawer" title={tasks.compareTitle} onClose={onClose}>
      <div className="stack">
        <div className="side-by-side">
          {[first, second].map((query, index) => (
            <Loaded key={ids[index]} query={query} height={200}>
              {(task) => <Outcome task={task} />}
            </Loaded>
          ))}
        </div>
        {first.data && second.data && <Differences one={first.data} other={second.data} />}
      </div>
    </Dialog>
  );
}

function Differences({ one, other }: { readonly one: ConsoleTaskDetails; readonly other: ConsoleTaskDetails }) {
  const { tasks, common } = useMessages();
  const names = [...new Set([...Object.keys(one.request ?? {}), ...Object.keys(other.request ?? {})])];
  return (
    <div className="table-region" role="region" tabIndex={0} aria-label={tasks.compareTitle}>
      <table>
        <tbody>
          {names.map((name) => {
            const [left, right] = [shown(one.request?.[name]), shown(other.request?.[name])];
            return (
              <tr key={name}>
                <th scope="row">
                  <code>{name}</code>
                  {left !== right && <span className="status warn">{tasks.differs}</span>}
                </th>
                <td className="break">{left}</td>
                <td className="break">{right}</td>
              </tr>
            );
          })}
          <tr>
            <th scope="row">{common.amount}</th>
            <td>
              <Money amount={one.amount} form="full" />
            </td>
            <td>
              <Money amount={other.amount} form="full" />
            </td>
          </tr>
        </tbody>
      </table>
    </div>
  );
}
