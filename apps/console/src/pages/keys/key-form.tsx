import { useState } from 'react';
import type { ConsoleKey, ConsoleKeySettings } from '../../api/types';
import { ApiError } from '../../api/api-error';
import { useRead } from '../../api/queries';
import { Check, Choice, Segments, TextArea, TextField } from '../../components/fields';
import { useMessages } from '../../messages/language';

const DAY_MS = 86_400_000;
const LIFETIMES = { never: null, day: 1, month: 30, quarter: 90 } as const;
type Lifetime = keyof typeof LIFETIMES | 'keep';

/** What the form holds, as its fields show it. */
export interface KeyDraft {
  readonly name: string;
  readonly lifetime: Lifetime;
  readonly models: readonly string[];
  readonly addresses: string;
  readonly tags: string;
  readonly quota: string;
  readonly dailyLimit: string;
  readonly monthlyLimit: string;
  readonly requestsPerMinute: string;
  readonly tokensPerMinute: string;
  readonly maxRunningTasks: string;
}

const EMPTY: KeyDraft = {
  name: '',
  lifetime: 'never',
  models: [],
  addresses: '',
  tags: '',
  quota: '',
  dailyLimit: '',
  monthlyLimit: '',
  requestsPerMinute: '',
  tokensPerMinute: '',
  maxRunningTasks: '',
};

const PRESETS = {
  production: { lifetime: 'never' },
  ci: { lifetime: 'quarter', quota: '10', maxRunningTasks: '2' },
  oneDay: { lifetime: 'day', quota: '1' },
} as const satisfies Readonly<Record<string, Partial<KeyDraft>>>;

const text = (value: string | number | null): string => (value === null ? '' : String(value));

const limitOf = (key: ConsoleKey, wanted: 'day' | 'month'): string =>
  key.limits.find(({ period }) => period === wanted)?.limit ?? '';

/** The form values of an existing key. */
export const draftOf = (key: ConsoleKey): KeyDraft => ({
  name: key.name,
  lifetime: 'keep',
  models: key.allowed_models,
  addresses: key.allowed_addresses.join('\n'),
  tags: key.tags.join(', '),
  quota: text(key.quota),
  dailyLimit: limitOf(key, 'day'),
  monthlyLimit: limitOf(key, 'month'),
  requestsPerMinute: text(key.requests_per_minute),
  tokensPerMinute: text(key.tokens_per_minute),
  maxRunningTasks: text(key.max_running_tasks),
});

const numberOrNull = (value: string): number | null => (value.trim() === '' ? null : Number(value));

const amountOrNull = (value: string): string | null => (value.trim() === '' ? null : value.trim());

/** The request body for the server. */
export const settingsOf = (draft: KeyDraft): ConsoleKeySettings & { name: string } => ({
  name: draft.name.trim(),
  quota: amountOrNull(draft.quota),
  daily_limit: amountOrNull(draft.dailyLimit),
  monthly_limit: amountOrNull(draft.monthlyLimit),
  allowed_models: draft.models,
  allowed_addresses: draft.addresses.split(/[\s,]+/).filter((each) => each !== ''),
  tags: draft.tags.split(/[\s,]+/).filter((each) => each !== ''),
  requests_per_minute: numberOrNull(draft.requestsPerMinute),
  tokens_per_minute: numberOrNull(draft.tokensPerMinute),
  max_running_tasks: numberOrNull(draft.maxRunningTasks),
  ...(draft.lifetime !== 'keep' && { expires_at: endOf(draft.lifetime) }),
});

function endOf(lifetime: keyof typeof LIFETIMES): string | null {
  const days = LIFETIMES[lifetime];
  return days === null ? null : new Date(Date.now() + days * DAY_MS).toISOString();
}

export const useKeyDraft = (key?: ConsoleKey) => useState<KeyDraft>(() => (key ? draftOf(key) : EMPTY));

/** The fields of a key; what the server refuses is under the field that it names. */
export function KeyFields({
  draft,
  onChange,
  failure,
  isNew,
}: {
  readonly draft: KeyDraft;
  readonly onChange: (draft: KeyDraft) => void;
  readonly failure: Error | null;
  readonly isNew: boolean;
}) {
  const { keys } = useMessages();
  const change = (part: Partial<KeyDraft>) => onChange({ ...draft, ...part });
  const about = (field: string) => (failure instanceof ApiError ? failure.about(field) : undefined);
  const lifetimes: readonly Lifetime[] = isNew
    ? ['never', 'day', 'month', 'quarter']
    : ['keep', 'never', 'day', 'month', 'quarter'];
  return (
    <div className="stack">
      <TextField
        label={keys.name}
        hint={keys.nameHint}
        error={about('name')}
        value={draft.name}
        autoFocus
        autoComplete="off"
        maxLength={100}
        onType={(value) => change({ name: value })}
      />
      {isNew && <Presets draft={draft} onChange={onChange} />}
      <Choice
        label={keys.lifetime}
        error={about('expires_at')}
        value={draft.lifetime}
        onChoose={(value) => change({ lifetime: value as Lifetime })}
        choices={lifetimes.map((each) => [each, keys.lifetimes[each]])}
      />
      <TextField
        label={keys.quota}
        hint={keys.quotaHint}
        error={about('quota')}
        inputMode="decimal"
        value={draft.quota}
        onType={(value) => change({ quota: value })}
      />
      <Limits draft={draft} change={change} about={about} />
    </div>
  );
}

function Presets({ draft, onChange }: { readonly draft: KeyDraft; readonly onChange: (draft: KeyDraft) => void }) {
  const { keys } = useMessages();
  const [chosen, setChosen] = useState<string>();
  return (
    <Segments
      label={keys.preset}
      choices={(Object.keys(PRESETS) as (keyof typeof PRESETS)[]).map((value) => ({
        value,
        label: keys.presets[value],
      }))}
      value={chosen}
      onChoose={(value) => {
        setChosen(value);
        onChange({ ...EMPTY, name: draft.name, ...PRESETS[value as keyof typeof PRESETS] });
      }}
    />
  );
}

function Limits({
  draft,
  change,
  about,
}: {
  readonly draft: KeyDraft;
  readonly change: (part: Partial<KeyDraft>) => void;
  readonly about: (field: string) => string | undefined;
}) {
  const { keys } = useMessages();
  const amounts = [
    ['dailyLimit', 'daily_limit', keys.dailyLimit],
    ['monthlyLimit', 'monthly_limit', keys.monthlyLimit],
  ] as const;
  const numbers = [
    ['requestsPerMinute', 'requests_per_minute', keys.requestsPerMinute],
    ['tokensPerMinute', 'tokens_per_minute', keys.tokensPerMinute],
    ['maxRunningTasks', 'max_running_tasks', keys.maxRunningTasks],
  ] as const;
  const isRefused = [...amounts, ...numbers, ['', 'allowed_addresses'], ['', 'tags']].some(
    ([, wire = '']) => about(wire) !== undefined,
  );
  return (
    <details {...(isRefused && { open: true })}>
      <summary>{keys.limits}</summary>
      <div className="stack folded-body">
        {amounts.map(([field, wire, label]) => (
          <TextField
            key={field}
            label={label}
            hint={keys.spendLimitHint}
            error={about(wire)}
            inputMode="decimal"
            value={draft[field]}
            onType={(value) => change({ [field]: value })}
          />
        ))}
        {numbers.map(([field, wire, label]) => (
          <TextField
            key={field}
            label={label}
            hint={keys.emptyIsAccount}
            error={about(wire)}
            type="number"
            min={1}
            value={draft[field]}
            onType={(value) => change({ [field]: value })}
          />
        ))}
        <TextArea
          label={keys.addresses}
          hint={keys.addressesHint}
          error={about('allowed_addresses')}
          rows={2}
          value={draft.addresses}
          onType={(value) => change({ addresses: value })}
        />
        <TextField
          label={keys.tags}
          hint={keys.tagsHint}
          error={about('tags')}
          value={draft.tags}
          onType={(value) => change({ tags: value })}
        />
        <ModelChecks chosen={draft.models} onChange={(models) => change({ models })} />
      </div>
    </details>
  );
}

function ModelChecks({
  chosen,
  onChange,
}: {
  readonly chosen: readonly string[];
  readonly onChange: (models: string[]) => void;
}) {
  const { keys } = useMessages();
  const models = useRead('GET /models', {});
  const ids = [...new Set([...chosen, ...(models.data?.items ?? []).map(({ id }) => id)])];
  return (
    <fieldset className="field">
      <legend>{keys.models}</legend>
      <p className="hint">{keys.modelsHint}</p>
      <div className="check-list" tabIndex={0}>
        {ids.map((id) => (
          <Check
            key={id}
            label={id}
            checked={chosen.includes(id)}
            onChange={(event) =>
              onChange(event.target.checked ? [...chosen, id] : chosen.filter((each) => each !== id))
            }
          />
        ))}
      </div>
    </fieldset>
  );
}
