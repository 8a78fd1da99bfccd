import { useNavigate } from '@tanstack/react-router';
import { ApiError } from '../api/api-error';
import { sendRaw } from '../api/call';
import { queryClient, sessionQuery, useChange, useSession } from '../api/queries';
import { Icon } from '../components/icons';
import { Menu, MenuChoice, MenuItem } from '../components/menu';
import { useLanguage } from '../messages/language';
import { LANGUAGES } from '../messages/words';
import { chooseTheme, THEMES, useTheme } from '../preferences/theme';
import { leave, tellOtherTabs } from './other-tabs';

/** Each language in its own words. */
const LANGUAGE_NAMES = { en: 'English', zh: '中文' } as const;

interface UserMenuProps {
  readonly onShortcuts: () => void;
  /** The person is still signed in. */
  readonly onFailure: (failure: Error) => void;
}

export function UserMenu({ onShortcuts, onFailure }: UserMenuProps) {
  const { messages, language, choose } = useLanguage();
  const session = useSession();
  const theme = useTheme();
  const words = messages.shell;
  return (
    <Menu label={words.you} button={<Icon name="account" size={18} />} buttonClass="icon-button">
      <p className="menu-note strong">{session.user?.name ?? session.account?.name ?? words.you}</p>
      <p className="menu-note">{session.roles.map((role) => messages.roles[role]).join(', ')}</p>
      <hr />
      <Accounts />
      <p className="menu-note">{words.theme}</p>
      {THEMES.map((each) => (
        <MenuChoice key={each} isChosen={theme === each} onChoose={() => chooseTheme(each)}>
          {words.themes[each]}
        </MenuChoice>
      ))}
      <hr />
      <p className="menu-note">{words.language}</p>
      {LANGUAGES.map((each) => (
        <MenuChoice key={each} isChosen={language === each} onChoose={() => choose(each)}>
          <span lang={each === 'zh' ? 'zh-CN' : each}>{LANGUAGE_NAMES[each]}</span>
        </MenuChoice>
      ))}
      <hr />
      <MenuItem onChoose={onShortcuts}>{words.shortcuts}</MenuItem>
      <SignOut onFailure={onFailure} />
    </Menu>
  );
}

/** The accounts of the person, where there are several. */
function Accounts() {
  const { memberships, account } = useSession();
  const change = useChange('POST /session/account');
  const navigate = useNavigate();
  if (memberships.length < 2) return null;
  const show = async (accountId: string) => {
    const session = await change.mutateAsync({ body: { account_id: accountId } });
    tellOtherTabs();
    queryClient.clear();
    queryClient.setQueryData(sessionQuery.queryKey, session);
    await navigate({ to: '/' });
  };
  return (
    <>
      {memberships.map((each) => (
        <MenuChoice
          key={each.account_id}
          isChosen={each.account_id === account?.id}
          onChoose={() => void show(each.account_id)}
        >
          {each.account_name}
        </MenuChoice>
      ))}
      <hr />
    </>
  );
}

function SignOut({ onFailure }: { readonly onFailure: (failure: Error) => void }) {
  const { messages } = useLanguage();
  const signOut = async () => {
    try {
      await sendRaw('POST /session/sign-out', { body: {} }, {});
    } catch (failure) {
      const isOver = failure instanceof ApiError && failure.status === 401;
      if (!isOver) return onFailure(failure as Error);
    }
    tellOtherTabs();
    leave();
  };
  return <MenuItem onChoose={() => void signOut()}>{messages.shell.signOut}</MenuItem>;
}
