import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError } from '../../api/api-error';
import { useChange, useRead, useSession } from '../../api/queries';
import type { AdminNewPriceProposal } from '../../api/types';
import { FormDialog } from '../../components/confirm-dialog';
import { Choice, Field, Segments, TextArea, TextField } from '../../components/fields';
import { useMessages } from '../../messages/language';

/** Where the lists of each form are published. */
const ADDRESSES = {
  litellm: 'https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json',
  'models.dev': 'https://models.dev/api.json',
  openrouter: 'https://openrouter.ai/api/v1/models',
} as const;

type Source = keyof typeof ADDRESSES | 'upstream';
type Place = 'url' | 'file' | 'text';

/** The texts that proposals of this tab were read from, so that they can be read again. */
const texts = new Map<string, string>();
export const textOf = (proposalId: string): string | undefined => texts.get(proposalId);
export const keepText = (proposalId: string, text: string | undefined): void => {
  if (text !== undefined) texts.set(proposalId, text);
};

interface Draft {
  readonly source: Source;
  readonly place: Place;
  readonly url: string;
  readonly text: string;
  readonly upstream: string;
  readonly factor: string;
  readonly rounding: string;
  /** Local time of the reader, as the field gives it; empty: when it is applied. */
  readonly from: string;
}

function bodyOf({ source, place, url, text, upstream, factor, rounding, from }: Draft): AdminNewPriceProposal {
  const where = source === 'upstream' ? { upstream } : place === 'url' ? { url: url.trim() } : { file: text };
  return {
    source,
    ...where,
    ...(factor.trim() !== '' && { factor: factor.trim() }),
    ...(rounding !== 'none' && { rounding: rounding === 'cent' ? 'cent' : Number(rounding) }),
    ...(from !== '' && { effective_from: new Date(from).toISOString() }),
  };
}

/** Asks where a list of prices is and how its prices become ours, and reads it. */
export function ReadListDialog({
  upstream = '',
  onClose,
}: {
  /** Whose own list is to be read. */
  readonly upstream?: string;
  readonly onClose: () => void;
}) {
  const { proposals: words } = useMessages().selling;
  const { currency } = useSession();
  const [draft, setDraft] = useState<Draft>({
    source: upstream === '' ? 'litellm' : 'upstream',
    place: 'url',
    url: ADDRESSES.litellm,
    text: '',
    upstream,
    factor: '',
    rounding: 'none',
    from: '',
  });
  const navigate = useNavigate();
  const read = useChange('POST /admin/price-proposals', ['GET /admin/price-proposals', 'GET /admin/audit']);
  const change = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  const body = bodyOf(draft);
  const about = (field: string) => (read.error instanceof ApiError ? read.error.about(field) : undefined);
  return (
    <FormDialog
      title={words.add}
      submit={read.isPending ? words.reading : words.read}
      isReady={Boolean(body.url ?? body.file ?? body.upstream) && (currency === 'USD' || draft.factor !== '')}
      change={read}
      onClose={onClose}
      onSubmit={() =>
        read.mutate(
          { body },
          {
            onSuccess: ({ id }) => {
              keepText(id, body.file);
              void navigate({ to: '/admin/prices/proposals/$proposalId', params: { proposalId: id } });
            },
          },
        )
      }
    >
      <Segments
        label={words.source}
        choices={(['litellm', 'models.dev', 'openrouter', 'upstream'] as const).map((value) => ({
          value,
          label: words.sources[value],
        }))}
        value={draft.source}
        onChoose={(value) => {
          const source = value as Source;
          change({ source, ...(source !== 'upstream' && { url: ADDRESSES[source] }) });
        }}
      />
      <Place of={draft} onChange={change} about={about} />
      <TextField
        label={words.factor}
        hint={currency === 'USD' ? words.factorHint : words.factorRate(currency)}
        error={about('factor')}
        inputMode="decimal"
        placeholder="1"
        value={draft.factor}
        onType={(value) => change({ factor: value })}
      />
      <Choice
        label={words.rounding}
        error={about('rounding')}
        value={draft.rounding}
        onChoose={(value) => change({ rounding: value })}
        choices={(['none', 'cent', '2', '3'] as const).map((value) => [value, words.roundings[value]])}
      />
      <TextField
        label={words.from}
        error={about('effective_from')}
        type="datetime-local"
        value={draft.from}
        onType={(value) => change({ from: value })}
      />
    </FormDialog>
  );
}

function Place({
  of: draft,
  onChange,
  about,
}: {
  readonly of: Draft;
  readonly onChange: (part: Partial<Draft>) => void;
  readonly about: (field: string) => string | undefined;
}) {
  const { proposals: words } = useMessages().selling;
  if (draft.source === 'upstream')
    return (
      <UpstreamField value={draft.upstream} error={about('upstream')} onChoose={(upstream) => onChange({ upstream })} />
    );
  return (
    <>
      <Segments
        label={words.place}
        choices={(['url', 'file', 'text'] as const).map((value) => ({ value, label: words.places[value] }))}
        value={draft.place}
        onChoose={(place) => onChange({ place: place as Place, text: '' })}
      />
      {draft.place === 'url' && (
        <TextField
          label={words.url}
          hint={words.urlHint}
          error={about('url')}
          type="url"
          value={draft.url}
          onType={(value) => onChange({ url: value })}
        />
      )}
      {draft.place === 'file' && (
        <Field label={words.file} hint={words.fileHint} error={about('file')}>
          {(control) => (
            <input
              {...control}
              type="file"
              accept=".json,application/json"
              onChange={(event) => void event.target.files?.[0]?.text().then((text) => onChange({ text }))}
            />
          )}
        </Field>
      )}
      {draft.place === 'text' && (
        <TextArea
          label={words.text}
          hint={words.fileHint}
          error={about('file')}
          rows={6}
          spellCheck={false}
          className="code-area"
          value={draft.text}
          onType={(value) => onChange({ text: value })}
        />
      )}
    </>
  );
}

/** Chooses one of the text upstreams. */
export function UpstreamField({
  value,
  error,
  hint,
  isEditable = false,
  onChoose,
}: {
  readonly value: string;
  readonly error?: string | undefined;
  readonly hint?: string;
  /** Only those that can be changed here. */
  readonly isEditable?: boolean;
  readonly onChoose: (upstream: string) => void;
}) {
  const { proposals: words } = useMessages().selling;
  const { data } = useRead('GET /admin/upstreams', {});
  const upstreams = (data?.items ?? []).filter(
    ({ kind, source }) => kind === 'text' && (!isEditable || source === 'database'),
  );
  return (
    <Choice
      label={words.upstream}
      hint={data && upstreams.length === 0 ? words.noUpstream : (hint ?? words.upstreamHint)}
      error={error}
      value={value}
      onChoose={onChoose}
      none=""
      choices={upstreams.map(({ id }) => [id, id])}
    />
  );
}
