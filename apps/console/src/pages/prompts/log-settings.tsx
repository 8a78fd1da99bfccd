import { useState } from 'react';
import type { ConsolePromptLog } from '../../api/types';
import { Button } from '../../components/button';
import { FormDialog } from '../../components/confirm-dialog';
import { Check, TextArea, TextField, useInputs } from '../../components/fields';
import { Card, Facts } from '../../components/page';
import { Loaded } from '../../components/states';
import { Status } from '../../components/status';
import { formatBytes } from '../../format/number';
import { useLanguage, useMessages } from '../../messages/language';

const KNOWN = ['email', 'phone', 'card_number', 'iban', 'ip_address', 'secret'] as const;
const isKnown = (name: string): name is (typeof KNOWN)[number] => (KNOWN as readonly string[]).includes(name);

type Settings = Pick<ConsolePromptLog, 'enabled' | 'retention_days' | 'redactions'>;

/** A change under way. */
interface Saving {
  readonly isPending: boolean;
  readonly error: Error | null;
}

interface LogSettingsProps {
  readonly query: Parameters<typeof Loaded<ConsolePromptLog>>[0]['query'];
  readonly mayChange: boolean;
  readonly change: Saving & { readonly save: (settings: Settings, onSuccess: () => void) => void };
  readonly clear: Saving & { readonly save: (onSuccess: () => void) => void };
}

/** What is logged of an account, and the way to change it. */
export function LogSettings({ query, mayChange, change, clear }: LogSettingsProps) {
  const { prompts: words, common } = useMessages();
  const [doing, setDoing] = useState<'change' | 'clear' | null>(null);
  const close = () => setDoing(null);
  return (
    <Card
      title={words.settings}
      actions={
        mayChange &&
        query.data && (
          <>
            {query.data.bytes > 0 && <Button look="small" label={words.clear} onClick={() => setDoing('clear')} />}
            {query.data.bytes_max > 0 && (
              <Button look="small" label={common.change} onClick={() => setDoing('change')} />
            )}
          </>
        )
      }
    >
      <Loaded query={query} height={130}>
        {(log) => <State of={log} />}
      </Loaded>
      {doing === 'change' && query.data && <ChangeDialog before={query.data} change={change} onClose={close} />}
      {doing === 'clear' && (
        <FormDialog
          title={words.clearTitle}
          submit={words.clear}
          isDangerous
          change={clear}
          onClose={close}
          onSubmit={() => clear.save(close)}
        >
          <p>{words.clearText}</p>
        </FormDialog>
      )}
    </Card>
  );
}

function State({ of: log }: { readonly of: ConsolePromptLog }) {
  const { messages, language } = useLanguage();
  const { prompts: words, common } = messages;
  if (log.bytes_max === 0) return <p className="muted">{words.unavailable}</p>;
  const { known } = words;
  return (
    <Facts
      of={[
        [
          common.state,
          <span key="state" className="row">
            <Status of={log.enabled ? 'active' : 'off'} />
            {!log.enabled && words.isOff}
          </span>,
        ],
        [words.retention, words.retentionDays(log.retention_days)],
        [words.redactions, log.redactions.map((name) => (isKnown(name) ? known[name] : name)).join(', ')],
        [words.size, words.sizeOf(formatBytes(log.bytes, language), formatBytes(log.bytes_max, language))],
      ]}
    />
  );
}

interface ChangeDialogProps {
  readonly before: ConsolePromptLog;
  readonly change: Parameters<typeof LogSettings>[0]['change'];
  readonly onClose: () => void;
}

function ChangeDialog({ before, change, onClose }: ChangeDialogProps) {
  const { prompts: words, common } = useMessages();
  const form = useInputs(
    {
      enabled: before.enabled,
      retention_days: String(before.retention_days),
      patterns: before.redactions.filter((name) => !isKnown(name)).join('\n'),
    },
    change.error,
  );
  const { enabled, retention_days: days, patterns } = form.values;
  const [known, setKnown] = useState<ReadonlySet<string>>(new Set(before.redactions.filter(isKnown)));
  const own = patterns.split('\n').map((line) => line.trim());
  const toggle = (name: string) =>
    setKnown(known.has(name) ? new Set([...known].filter((each) => each !== name)) : new Set([...known, name]));
  return (
    <FormDialog
      title={words.settings}
      submit={common.save}
      change={change}
      onClose={onClose}
      onSubmit={() =>
        change.save({ enabled, retention_days: Number(days), redactions: [...known, ...own.filter(Boolean)] }, onClose)
      }
    >
      <Check {...form.check('enabled')} kind="switch" label={words.log} />
      <TextField {...form.text('retention_days')} label={words.retention} type="number" min={1} max={90} />
      <fieldset className="field">
        <legend>{words.redactions}</legend>
        {KNOWN.map((name) => (
          <label key={name} className="check">
            <input type="checkbox" checked={known.has(name)} onChange={() => toggle(name)} />
            <span>{words.known[name]}</span>
          </label>
        ))}
      </fieldset>
      <TextArea
        {...form.text('patterns', 'redactions')}
        label={words.patterns}
        hint={words.patternsHint}
        rows={3}
        spellCheck={false}
      />
    </FormDialog>
  );
}
