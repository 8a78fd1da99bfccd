import { getRouteApi } from '@tanstack/react-router';
import { useRead } from '../../api/queries';
import type { ConsoleTask } from '../../api/types';
import { Page } from '../../components/page';
import { Loaded } from '../../components/states';
import { Status } from '../../components/status';
import { useMessages } from '../../messages/language';
import { TaskDetails } from './task-details';

const route = getRouteApi('/shell/tasks/$taskId');
const TITLE_LENGTH = 40;

/** The title of a background tab: the progress of the task and its name. */
export function tabTitleOf(task: Pick<ConsoleTask, 'progress' | 'is_final' | 'prompt' | 'model' | 'status'>): string {
  const name = (task.prompt ?? task.model).slice(0, TITLE_LENGTH);
  if (!task.is_final) return `${task.progress} % · ${name}`;
  return `${task.status === 'completed' ? '✓' : '✕'} ${name}`;
}

export function TaskPage() {
  const { shell } = useMessages();
  const { taskId } = route.useParams();
  const task = useRead('GET /tasks/:task_id', { params: { task_id: taskId } });
  return (
    <Page
      title={task.data?.model ?? shell.pages.tasks}
      {...(task.data && { tabTitle: tabTitleOf(task.data) })}
      actions={task.data && <Status of={task.data.status} />}
    >
      <Loaded query={task} height={640}>
        {(data) => <TaskDetails task={data} />}
      </Loaded>
    </Page>
  );
}
