import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { ApiError } from '../../api/api-error';
import { call } from '../../api/call';
import { useLiveTasks } from '../../api/live-tasks';
import { queryClient, useRead, useSession } from '../../api/queries';
import type { ConsoleModel, ConsoleProblem, JsonObject, QuoteAnswer } from '../../api/types';
import { Button } from '../../components/button';
import { Card, Notice } from '../../components/page';
import { Failure, Loaded } from '../../components/states';
import { Money, Time } from '../../components/values';
import { useMessages } from '../../messages/language';
import { UnitText } from '../models/price-text';
import { CancelButton, Outcome } from '../tasks/task-details';
import { Code } from './code';
import { endsRun, forgetRun, runKeyFor } from './draft';
import { FormField, useFieldLabel } from './form-field';
import { bodyOf, fits, type FormValues, isDecision, topFields } from './form-values';
import { useForm } from './use-form';

const route = getRouteApi('/shell/playground');
/** Groups in the order of decisions; reference files are optional. */
const FIRST_GROUPS = ['prompt', 'output', 'inputs'] as const;

/** A form of a model's fields with the price on its button, and beside it what comes out. */
export function MediaPlayground({ model, select }: { readonly model: ConsoleModel; readonly select: ReactNode }) {
  const { playground, shell, modelRules } = useMessages();
  const { sandbox } = useSession();
  const form = useForm(model);
  const label = useFieldLabel();
  const body = bodyOf(model, form.values);
  const quote = useQuote(body);
  const run = useRun();
  const isWrong = topFields(model).some((field) => {
    const value = form.values[field.name];
    return typeof value === 'number' && !fits(field, value);
  });
  const problems = (quote.data?.problems ?? []).map((problem) => ({
    ...problem,
    message: modelRules[problem.message] ?? problem.message,
  }));
  return (
    <div className="columns">
      <form
        className="stack"
        noValidate
        aria-label={shell.pages.playground}
        onSubmit={(event) => {
          event.preventDefault();
          if (quote.data?.quote && !quote.isOld && !run.isPending && !isWrong) run.mutate(body);
        }}
      >
        {select}
        {sandbox && <Notice tone="info">{shell.sandbox}</Notice>}
        {form.dropped.length > 0 && (
          <Notice tone="warn">{playground.dropped(form.dropped.map(label).join(', '))}</Notice>
        )}
        <Fields model={model} values={form.values} onChange={form.set} problems={problems} />
        <RunRow quote={quote} isRunning={run.isPending} isWrong={isWrong} onReset={form.reset} />
        {run.error && (
          <Failure
            of={run.error}
            money={run.error instanceof ApiError && run.error.status === null ? 'unknown' : 'still'}
          />
        )}
      </form>
      <div className="stack">
        <Result />
        {model.paths[0] !== undefined && <Code path={model.paths[0]} body={body} />}
      </div>
    </div>
  );
}

/** Runs the request; a double click, a second try after a lost answer and a reload in between are one task. */
function useRun() {
  const navigate = route.useNavigate();
  return useMutation({
    mutationFn: (body: JsonObject) => call('POST /runs', { body }, { idempotencyKey: runKeyFor(JSON.stringify(body)) }),
    onSuccess: ({ task_id: task }) => {
      forgetRun();
      for (const name of ['GET /tasks', 'GET /billing', 'GET /overview'])
        void queryClient.invalidateQueries({ queryKey: [name] });
      return navigate({ search: (before) => ({ ...before, task }), replace: true });
    },
    onError: (failure) => {
      if (endsRun(failure)) forgetRun();
    },
  });
}

interface FieldsProps {
  readonly model: ConsoleModel;
  readonly values: FormValues;
  readonly onChange: ReturnType<typeof useForm>['set'];
  readonly problems: readonly ConsoleProblem[];
}

function Fields({ model, values, onChange, problems }: FieldsProps) {
  const { playground } = useMessages();
  const fields = topFields(model).filter(isDecision);
  const more = fields.filter(({ group }) => group === 'more');
  const changed = more.filter(({ name }) => values[name] !== undefined).length;
  const problemOf = (name: string) =>
    problems.find(
      ({ field }) => field !== null && (field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`)),
    )?.message;
  const known = new Set(fields.map(({ name }) => name));
  const general = problems.filter(({ field }) => field === null || !known.has(field.replace(/[.[].*/, '')));
  const show = (shown: typeof fields) =>
    shown.map((field) => (
      <FormField
        key={field.name}
        model={model}
        field={field}
        value={values[field.name]}
        onChange={(value) => onChange(field.name, value)}
        error={problemOf(field.name)}
      />
    ));
  return (
    <>
      {FIRST_GROUPS.map((shown) => show(fields.filter(({ group }) => group === shown)))}
      {more.length > 0 && (
        <details open={more.some(({ name }) => problemOf(name) !== undefined) || undefined}>
          <summary>{playground.more(more.length, changed)}</summary>
          <div className="stack folded-body">{show(more)}</div>
        </details>
      )}
      {general.map((problem) => (
        <Notice key={problem.message} tone="bad">
          {problem.message}
        </Notice>
      ))}
    </>
  );
}

interface RunRowProps {
  readonly quote: {
    readonly data: QuoteAnswer | undefined;
    readonly error: Error | null;
    readonly isOld: boolean;
    readonly refetch: () => unknown;
  };
  readonly isRunning: boolean;
  /** A field holds what cannot be sent. */
  readonly isWrong: boolean;
  readonly onReset: () => void;
}

function RunRow({ quote, isRunning, isWrong, onReset }: RunRowProps) {
  const { playground } = useMessages();
  const price = isWrong ? undefined : quote.data?.quote;
  return (
    <div className="stack tight run-row">
      {quote.error && <Failure of={quote.error} onRetry={() => void quote.refetch()} />}
      <div className="row">
        <Button
          type="submit"
          look="primary run"
          label={
            isRunning ? (
              playground.running
            ) : price ? (
              <span className={quote.isOld ? 'dimmed' : undefined}>
                {playground.runFor} <Money amount={price.amount} />
              </span>
            ) : (
              playground.run
            )
          }
          aria-disabled={!price || quote.isOld || isRunning}
          aria-busy={quote.isOld || isRunning}
        />
        <Button look="quiet" label={playground.reset} onClick={onReset} />
      </div>
      {price && (
        <p className="muted small-text">
          <UnitText unit={price.per} perQuantity={price.quantity} /> × <Money amount={price.unit_price} />
          {price.valid_until !== null && (
            <>
              {'. '}
              {playground.validUntil} <Time at={price.valid_until} absolute />
            </>
          )}
        </p>
      )}
      {price?.notices.map((notice) => (
        <p key={notice} className="small-text">
          {notice}
        </p>
      ))}
    </div>
  );
}

function Result() {
  const { playground, common } = useMessages();
  const { task } = route.useSearch();
  return (
    <Card title={common.result}>
      {task === undefined ? <p className="muted">{playground.resultEmpty}</p> : <RunResult id={task} />}
    </Card>
  );
}

function RunResult({ id }: { readonly id: string }) {
  const { tasks, playground, money } = useMessages();
  const query = useRead('GET /tasks/:task_id', { params: { task_id: id } });
  useLiveTasks(query.data ? [query.data] : []);
  return (
    <Loaded query={query} height={240}>
      {(task) => (
        <div className="stack tight">
          <Outcome task={task} />
          <p className="row between">
            <span>{task.is_final ? money.charged : tasks.heldNow}</span>
            <strong className="strong" data-testid="charge">
              <Money amount={task.amount} />
            </strong>
          </p>
          <div className="row">
            <Link className="button small" to="/tasks/$taskId" params={{ taskId: task.id }}>
              {tasks.open}
            </Link>
            {task.entries[0] && (
              <Link
                className="button small quiet"
                to="/billing/entries/$entryId"
                params={{ entryId: task.entries.at(-1)!.id }}
              >
                {playground.explained}
              </Link>
            )}
            {!task.is_final && <CancelButton task={task} />}
          </div>
        </div>
      )}
    </Loaded>
  );
}

const SETTLED_MS = 250;

/** The cost of a request, asked for once the user pauses; the previous price stays visible meanwhile. */
function useQuote(body: JsonObject) {
  const text = JSON.stringify(body);
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const query = useQuery({
    queryKey: ['POST /quote', settled],
    queryFn: ({ signal }) => call('POST /quote', { body: JSON.parse(settled) as JsonObject }, { signal }),
    placeholderData: keepPreviousData,
  });
  return { ...query, isOld: query.isPlaceholderData || settled !== text };
}
