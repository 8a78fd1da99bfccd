import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError } from '../../api/api-error';
import { useChange } from '../../api/queries';
import type { JsonObject } from '../../api/types';
import { FormDialog } from '../../components/confirm-dialog';
import { Choice, Segments, TextArea, TextField } from '../../components/fields';
import { useMessages } from '../../messages/language';
import { readObject } from './json-field';

const PROTOCOLS = ['chat', 'responses', 'messages', 'gemini'] as const;

/** Where vendors answer, and how; what a reply says of its cost, where it does. */
const VENDORS = [
  ['openai', 'OpenAI', 'responses', 'https://api.openai.com/v1'],
  ['anthropic', 'Anthropic', 'messages', 'https://api.anthropic.com/v1'],
  ['gemini', 'Google Gemini', 'gemini', 'https://generativelanguage.googleapis.com/v1beta'],
  ['xai', 'xAI', 'chat', 'https://api.x.ai/v1'],
  ['deepseek', 'DeepSeek', 'chat', 'https://api.deepseek.com/v1'],
  ['mistral', 'Mistral', 'chat', 'https://api.mistral.ai/v1'],
  ['moonshot', 'Moonshot', 'chat', 'https://api.moonshot.ai/v1'],
  ['qwen', 'Qwen', 'chat', 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1'],
  ['zai', 'Z.ai', 'chat', 'https://api.z.ai/api/paas/v4'],
  ['openrouter', 'OpenRouter', 'chat', 'https://openrouter.ai/api/v1'],
] as const;
const REPORTS: Readonly<Record<string, string | undefined>> = { openrouter: 'openrouter', xai: 'xai' };

interface Draft {
  readonly vendor: string;
  readonly id: string;
  readonly protocol: string;
  readonly url: string;
  readonly key: string;
  /** One a line: our name, and after `=` that of the vendor where it is another. */
  readonly models: string;
}

const EMPTY: Draft = { vendor: '', id: '', protocol: 'chat', url: '', key: '', models: '' };

/** The models of a text, ours and theirs. */
function modelsOf(text: string): Record<string, string> {
  const pairs = text.split('\n').flatMap((line) => {
    const [ours = '', theirs = ours] = line.split('=').map((each) => each.trim());
    return ours === '' ? [] : [[ours, theirs || ours] as const];
  });
  return Object.fromEntries(pairs);
}

const bodyOf = ({ vendor, id, protocol, url, key, models }: Draft): JsonObject => ({
  kind: 'text',
  id: id.trim(),
  protocol,
  base_url: url.trim(),
  ...(key.trim() !== '' && { key: key.trim() }),
  models: modelsOf(models),
  // Another server at another address says nothing of its costs in these words.
  ...(VENDORS.some(([known, , , address]) => known === vendor && address === url.trim()) &&
    REPORTS[vendor] !== undefined && { reports_cost: REPORTS[vendor] }),
});

/** A new upstream: of text by its fields, of any kind as JSON. */
export function AddUpstreamDialog({ onClose }: { readonly onClose: () => void }) {
  const { upstreams: words } = useMessages().admin;
  const [form, setForm] = useState('fields');
  const [draft, setDraft] = useState(EMPTY);
  const [text, setText] = useState('{\n  "id": "",\n  "kind": "media",\n  "enabled": true\n}');
  const navigate = useNavigate();
  const create = useChange('POST /admin/upstreams', ['GET /admin/upstreams', 'GET /models', 'GET /admin/audit']);
  const isJson = form === 'json';
  const body = isJson ? readObject(text) : bodyOf(draft);
  const isFull = [draft.id, draft.url, draft.models].every((each) => each.trim() !== '');
  return (
    <FormDialog
      title={words.add}
      submit={words.add}
      isReady={isJson ? body !== null : isFull}
      change={create}
      onClose={onClose}
      onSubmit={() =>
        body &&
        create.mutate(
          { body },
          { onSuccess: ({ id }) => void navigate({ to: '/admin/upstreams/$upstreamId', params: { upstreamId: id } }) },
        )
      }
    >
      <Segments
        label={words.form}
        choices={(['fields', 'json'] as const).map((value) => ({ value, label: words.forms[value] }))}
        value={form}
        onChoose={setForm}
      />
      {isJson ? (
        <TextArea
          label={words.settings}
          hint={words.addHint}
          error={body ? undefined : words.wrongJson}
          rows={10}
          spellCheck={false}
          className="code-area"
          value={text}
          onType={setText}
        />
      ) : (
        <Fields draft={draft} failure={create.error} onChange={(part) => setDraft({ ...draft, ...part })} />
      )}
    </FormDialog>
  );
}

function Fields({
  draft,
  failure,
  onChange,
}: {
  readonly draft: Draft;
  readonly failure: Error | null;
  readonly onChange: (part: Partial<Draft>) => void;
}) {
  const { admin, common } = useMessages();
  const { upstreams: words } = admin;
  const about = (field: string) => (failure instanceof ApiError ? failure.about(field) : undefined);
  const choose = (vendor: string) => {
    const known = VENDORS.find(([id]) => id === vendor);
    const isTyped = draft.id !== '' && VENDORS.every(([id]) => id !== draft.id);
    onChange({ vendor, ...(known && { id: isTyped ? draft.id : known[0], protocol: known[2], url: known[3] }) });
  };
  return (
    <>
      <Choice
        label={words.vendor}
        value={draft.vendor}
        onChoose={choose}
        none={words.otherVendor}
        choices={VENDORS.map(([id, name]) => [id, name])}
      />
      <TextField
        label={common.name}
        hint={words.nameHint}
        error={about('id')}
        value={draft.id}
        onType={(value) => onChange({ id: value })}
      />
      <Choice
        label={words.protocol}
        error={about('protocol')}
        value={draft.protocol}
        onChoose={(value) => onChange({ protocol: value })}
        choices={PROTOCOLS.map((protocol) => [protocol, protocol])}
      />
      <TextField
        label={words.address}
        error={about('base_url')}
        type="url"
        placeholder="https://api.vendor.example/v1"
        value={draft.url}
        onType={(value) => onChange({ url: value })}
      />
      <TextField
        label={words.key}
        hint={words.keyHint}
        error={about('key')}
        type="password"
        autoComplete="off"
        value={draft.key}
        onType={(value) => onChange({ key: value })}
      />
      <TextArea
        label={words.models}
        hint={words.modelsHint}
        error={about('models')}
        rows={4}
        spellCheck={false}
        className="code-area"
        value={draft.models}
        onType={(value) => onChange({ models: value })}
      />
    </>
  );
}
