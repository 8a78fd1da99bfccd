import { useState } from 'react';
import type { ConsoleKey, ConsoleKeySettings } from '../../api/types';
import { useRead } from '../../api/queries';
import {
  Check,
  Choice,
  type Inputs,
  numberOrNull,
  Segments,
  TextArea,
  TextField,
  textOrNull,
  typed,
  useInputs,
} from '../../components/fields';
import { useMessages } from '../../messages/language';

const DAY_MS = 86_400_000;
const LIFETIMES = { never: null, day: 1, month: 30, quarter: 90 } as const;
type Lifetime = keyof typeof LIFETIMES | 'keep';

/** What the form holds, as its fields show it. */
const EMPTY = {
  name: '',
  lifetime: 'never' as Lifetime,
  models: [] as readonly string[],
  addresses: '',
  tags: '',
  quota: '',
  dailyLimit: '',
  monthlyLimit: '',
  requestsPerMinute: '',
  tokensPerMinute: '',
  maxRunningTasks: '',
};
export type KeyDraft = typeof EMPTY;

const PRESETS = {
  production: { lifetime: 'never' },
  ci: { lifetime: 'quarter', quota: '10', maxRunningTasks: '2' },
  oneDay: { lifetime: 'day', quota: '1' },
} as const satisfies Readonly<Record<string, Partial<KeyDraft>>>;

const limitOf = (key: ConsoleKey, wanted: 'day' | 'month'): string =>
  key.limits.find(({ period }) => period === wanted)?.limit ?? '';

const draftOf = (key: ConsoleKey): KeyDraft => ({
  name: key.name,
  lifetime: 'keep',
  models: key.allowed_models,
  addresses: key.allowed_addresses.join('\n'),
  tags: key.tags.join(', '),
  quota: typed(key.quota),
  dailyLimit: limitOf(key, 'day'),
  monthlyLimit: limitOf(key, 'month'),
  requestsPerMinute: typed(key.requests_per_minute),
  tokensPerMinute: typed(key.tokens_per_minute),
  maxRunningTasks: typed(key.max_running_tasks),
});

/** The request body for the server. */
export const settingsOf = (draft: KeyDraft): ConsoleKeySettings & { name: string } => ({
  name: draft.name.trim(),
  quota: textOrNull(draft.quota),
  daily_limit: textOrNull(draft.dailyLimit),
  monthly_limit: textOrNull(draft.monthlyLimit),
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

/** @param failure what the server answered to the form, if it refused it. */
export const useKeyInputs = (failure: Error | null, key?: ConsoleKey): Inputs<KeyDraft> =>
  useInputs(() => (key ? draftOf(key) : EMPTY), failure);

/** The fields of a key; what the server refuses is under the field that it names. */
export function KeyFields({ form, isNew }: { readonly form: Inputs<KeyDraft>; readonly isNew: boolean }) {
  const { keys, common } = useMessages();
  const lifetimes: readonly Lifetime[] = [...(isNew ? [] : (['keep'] as const)), 'never', 'day', 'month', 'quarter'];
  return (
    <div className="stack">
      <TextField
        {...form.text('name')}
        label={common.name}
        hint={keys.nameHint}
        autoFocus
        autoComplete="off"
        maxLength={100}
      />
      {isNew && <Presets form={form} />}
      <Choice
        {...form.choice('lifetime', 'expires_at')}
        label={keys.lifetime}
        choices={lifetimes.map((each) => [each, keys.lifetimes[each]])}
      />
      <TextField {...form.text('quota')} label={keys.quota} hint={keys.quotaHint} inputMode="decimal" />
      <Limits form={form} />
    </div>
  );
}

function Presets({ form }: { readonly form: Inputs<KeyDraft> }) {
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
        form.set({ ...EMPTY, name: form.values.name, ...PRESETS[value as keyof typeof PRESETS] });
      }}
    />
  );
}

const LIMITS = [
  'daily_limit',
  'monthly_limit',
  'requests_per_minute',
  'tokens_per_minute',
  'max_running_tasks',
  'allowed_addresses',
  'tags',
];

function Limits({ form }: { readonly form: Inputs<KeyDraft> }) {
  const { keys } = useMessages();
  const isRefused = LIMITS.some((wire) => form.about(wire) !== undefined);
  const amount = { hint: keys.spendLimitHint, inputMode: 'decimal' } as const;
  const number = { hint: keys.emptyIsAccount, type: 'number', min: 1 } as const;
  return (
    <details {...(isRefused && { open: true })}>
      <summary>{keys.limits}</summary>
      <div className="stack folded-body">
        <TextField {...form.text('dailyLimit', 'daily_limit')} {...amount} label={keys.dailyLimit} />
        <TextField {...form.text('monthlyLimit', 'monthly_limit')} {...amount} label={keys.monthlyLimit} />
        <TextField
          {...form.text('requestsPerMinute', 'requests_per_minute')}
          {...number}
          label={keys.requestsPerMinute}
        />
        <TextField {...form.text('tokensPerMinute', 'tokens_per_minute')} {...number} label={keys.tokensPerMinute} />
        <TextField {...form.text('maxRunningTasks', 'max_running_tasks')} {...number} label={keys.maxRunningTasks} />
        <TextArea
          {...form.text('addresses', 'allowed_addresses')}
          label={keys.addresses}
          hint={keys.addressesHint}
          rows={2}
        />
        <TextField {...form.text('tags')} label={keys.tags} hint={keys.tagsHint} />
        <ModelChecks chosen={form.values.models} onChange={(models) => form.set({ models })} />
      </div>
    </details>
  );
}

interface ModelChecksProps {
  readonly chosen: readonly string[];
  readonly onChange: (models: string[]) => void;
}

function ModelChecks({ chosen, onChange }: ModelChecksProps) {
  const { keys, common } = useMessages();
  const models = useRead('GET /models', {});
  const ids = [...new Set([...chosen, ...(models.data?.items ?? []).map(({ id }) => id)])];
  return (
    <fieldset className="field">
      <legend>{common.models}</legend>
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
