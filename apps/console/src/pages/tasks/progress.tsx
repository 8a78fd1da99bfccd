import type { ConsoleTask } from '../../api/types';
import { formatShare } from '../../format/number';
import { useLanguage } from '../../messages/language';

export function Progress({ task }: { readonly task: Pick<ConsoleTask, 'progress' | 'queue_position'> }) {
  const { messages, language } = useLanguage();
  const words =
    task.queue_position === null
      ? formatShare(task.progress / 100, language)
      : messages.tasks.queuePosition(task.queue_position);
  return (
    <div className="progress-line">
      <div
        className="progress"
        role="progressbar"
        aria-label={messages.tasks.progress}
        aria-valuenow={task.progress}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuetext={words}
      >
        <span style={{ width: `${Math.max(3, task.progress)}%` }} />
      </div>
      <span className="small-text muted">{words}</span>
    </div>
  );
}
