import type { CallInput } from '../../api/call';
import { call } from '../../api/call';
import { Button } from '../../components/button';
import { useMessages } from '../../messages/language';

/** Leads to the identity provider, which leads back. */
export function SingleSignOn({
  name,
  ask,
  onFail,
}: {
  readonly name: string;
  readonly ask: CallInput<'POST /sign-in/oidc'>['body'];
  readonly onFail: (failure: Error) => void;
}) {
  const { signIn } = useMessages();
  const go = () => {
    call('POST /sign-in/oidc', { body: ask }).then(({ location: there }) => location.assign(there), onFail);
  };
  return <Button look="primary wide" label={signIn.oidc(name)} onClick={go} />;
}
