import { useState } from 'react';
import { useChange, useRead } from '../../api/queries';
import type { AdminPriceProposalDetails, AdminProposalItem } from '../../api/types';
import { Button } from '../../components/button';
import { FormDialog } from '../../components/confirm-dialog';
import { Check, TextField, useInputs } from '../../components/fields';
import { ListCard } from '../../components/list';
import type { Column } from '../../components/table';
import { useMessages } from '../../messages/language';

interface OthersProps {
  readonly of: AdminPriceProposalDetails;
  readonly onRename: ((id: string) => void) | undefined;
}

/** The entries of a list that are of no model of ours, with the way to say which they are. */
export function Others({ of: proposal, onRename }: OthersProps) {
  const { common } = useMessages();
  const { proposals: words } = useMessages().selling;
  const [text, setText] = useState('');
  const columns: Column<AdminProposalItem>[] = [
    { id: 'entry', head: words.entry, cell: ({ id }) => id },
    { id: 'vendor', head: common.vendor, cell: ({ vendor }) => vendor },
    { id: 'suggestions', head: words.suggestions, cell: ({ suggestions }) => suggestions.join(', ') },
    {
      id: 'rename',
      head: words.rename,
      isActions: true,
      cell: ({ id }) =>
        onRename && (
          <Button look="small" label={words.rename} aria-label={`${words.rename} ${id}`} onClick={() => onRename(id)} />
        ),
    },
  ];
  return (
    <ListCard
      route="GET /admin/price-proposals/:proposal_id/others"
      input={{ params: { proposal_id: proposal.id }, query: { text: text.trim() || undefined } }}
      label={words.others}
      name="proposal-others"
      columns={columns}
      keyOf={({ id, vendor }) => `${vendor ?? ''} ${id}`}
      head={
        <>
          <h2>{words.others}</h2>
          <TextField label={words.othersSearch} type="search" maxLength={200} value={text} onType={setText} />
        </>
      }
      empty={words.noOthers}
    />
  );
}

interface RenameDialogProps {
  readonly source: string;
  readonly id: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Says which model an entry of lists is; kept for every later list. */
export function RenameDialog({ source, id, onClose, onDone }: RenameDialogProps) {
  const { proposals: words } = useMessages().selling;
  const { common } = useMessages();
  const models = useRead('GET /models', {});
  const save = useChange('POST /admin/price-names', ['GET /admin/price-names', 'GET /admin/audit']);
  const form = useInputs({ model: '', isNone: false }, save.error);
  const { model, isNone } = form.values;
  const names = (models.data?.items ?? []).filter(({ kind }) => kind === 'text' || kind === 'embedding');
  return (
    <FormDialog
      title={words.renameOf(id)}
      submit={common.save}
      isReady={isNone || model.trim() !== ''}
      change={save}
      onClose={onClose}
      onSubmit={() =>
        save.mutate(
          { body: { source, id, model: isNone ? null : model.trim() } },
          {
            onSuccess: () => {
              onDone();
              onClose();
            },
          },
        )
      }
    >
      <TextField
        {...form.text('model')}
        label={words.renameModel}
        hint={words.renameHint}
        list="models-of-ours"
        disabled={isNone}
        autoComplete="off"
      />
      <datalist id="models-of-ours">
        {names.map((each) => (
          <option key={each.id} value={each.id} />
        ))}
      </datalist>
      <Check {...form.check('isNone')} label={words.renameNone} />
    </FormDialog>
  );
}
