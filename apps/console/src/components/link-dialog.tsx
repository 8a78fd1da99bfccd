import { useMessages } from '../messages/language';
import { SecretDialog } from './secret-dialog';
import { Time } from './values';

interface LinkDialogProps {
  readonly link: string;
  readonly until: string;
  readonly onClose: () => void;
}

/** Shows the link of an invitation once. */
export function LinkDialog({ link, until, onClose }: LinkDialogProps) {
  const { account } = useMessages();
  return (
    <SecretDialog title={account.linkTitle} secret={link} onClose={onClose}>
      <p className="muted">
        {account.inviteHint} {account.expires} <Time at={until} absolute />
      </p>
    </SecretDialog>
  );
}
