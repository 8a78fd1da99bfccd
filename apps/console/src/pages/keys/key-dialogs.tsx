import { useState } from 'react';
import type { ConsoleKey } from '../../api/types';
import type { ReadRoute } from '../../api/call';
import { changesOf } from '../../api/changes';
import { useChange } from '../../api/queries';
import { CodeBlock } from '../../components/code-block';
import { FormDialog } from '../../components/confirm-dialog';
import { Choice, TextField } from '../../components/fields';
import { SecretDialog } from '../../components/secret-dialog';
import { Time } from '../../components/values';
import { useMessages } from '../../messages/language';
import { KeyFields, settingsOf, useKeyInputs } from './key-form';

const TOUCHED: readonly ReadRoute[] = ['GET /keys', 'GET /keys/:key_id', 'GET /overview'];
const OVERLAPS = { none: 0, hour: 3_600, day: 86_400, week: 604_800 } as const;

/** Creates a key, then shows its secret once. */
export function CreateKeyDialog({ onClose }: { readonly onClose: () => void }) {
  const { keys, common } = useMessages();
  const create = useChange('POST /keys', TOUCHED);
  const form = useKeyInputs(create.error);
  if (create.data) return <KeySecret keyName={create.data.key.name} secret={create.data.secret} onClose={onClose} />;
  return (
    <FormDialog
      title={keys.create}
      submit={common.create}
      isReady={form.values.name.trim() !== ''}
      change={create}
      onClose={onClose}
      onSubmit={() => create.mutate({ body: settingsOf(form.values) })}
    >
      <KeyFields form={form} isNew />
    </FormDialog>
  );
}

/** Changes the limits of a key. */
export function EditKeyDialog({ of: key, onClose }: { readonly of: ConsoleKey; readonly onClose: () => void }) {
  const { common } = useMessages();
  const change = useChange('POST /keys/:key_id', TOUCHED);
  const form = useKeyInputs(change.error, key);
  const [before] = useState(form.values);
  return (
    <FormDialog
      title={common.edit}
      submit={common.save}
      change={change}
      onClose={onClose}
      send={{ params: { key_id: key.id }, body: changesOf(settingsOf(before), settingsOf(form.values)) }}
    >
      <KeyFields form={form} isNew={false} />
    </FormDialog>
  );
}

interface KeySecretProps {
  readonly keyName: string;
  readonly secret: string;
  readonly onClose: () => void;
}

/** The secret, with a line that works as it is. */
function KeySecret({ keyName, secret, onClose }: KeySecretProps) {
  const { keys } = useMessages();
  return (
    <SecretDialog title={`${keys.secretTitle}: ${keyName}`} secret={secret} fileName="gateway.env" onClose={onClose}>
      <h3>{keys.curlTitle}</h3>
      <CodeBlock
        name={keys.curlTitle}
        code={`curl -s ${location.origin}/v1/models -H "Authorization: Bearer ${secret}"`}
      />
    </SecretDialog>
  );
}

export function RotateKeyDialog({ of: key, onClose }: { readonly of: ConsoleKey; readonly onClose: () => void }) {
  const { keys } = useMessages();
  const [overlap, setOverlap] = useState<keyof typeof OVERLAPS>('day');
  const rotate = useChange('POST /keys/:key_id/rotate', TOUCHED);
  if (rotate.data) return <KeySecret keyName={key.name} secret={rotate.data.secret} onClose={onClose} />;
  return (
    <FormDialog
      title={keys.rotate}
      change={rotate}
      onClose={onClose}
      onSubmit={() => rotate.mutate({ params: { key_id: key.id }, body: { overlap_seconds: OVERLAPS[overlap] } })}
    >
      <p>{keys.rotateText}</p>
      <Choice
        label={keys.overlap}
        value={overlap}
        onChoose={(value) => setOverlap(value as keyof typeof OVERLAPS)}
        choices={(Object.keys(OVERLAPS) as (keyof typeof OVERLAPS)[]).map((each) => [each, keys.overlaps[each]])}
      />
    </FormDialog>
  );
}

/** Revokes a key; what cannot be undone asks for its name. */
export function RevokeKeyDialog({ of: key, onClose }: { readonly of: ConsoleKey; readonly onClose: () => void }) {
  const { keys } = useMessages();
  const [typed, setTyped] = useState('');
  const revoke = useChange('POST /keys/:key_id/revoke', TOUCHED);
  return (
    <FormDialog
      title={keys.revokeTitle(key.name)}
      submit={keys.revoke}
      isReady={typed === key.name}
      isDangerous
      change={revoke}
      onClose={onClose}
      send={{ params: { key_id: key.id }, body: {} }}
    >
      <p>{keys.revokeText}</p>
      <p className="strong">
        {key.last_used_at === null ? (
          keys.neverUsed
        ) : (
          <>
            {keys.seen} <Time at={key.last_used_at} />
          </>
        )}
      </p>
      <TextField label={keys.typeName(key.name)} autoComplete="off" autoFocus value={typed} onType={setTyped} />
    </FormDialog>
  );
}
