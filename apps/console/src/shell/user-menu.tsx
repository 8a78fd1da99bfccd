import { useNavigate } from '@tanstack/react-router';
import { call } from '../api/call';
import { queryClient, sessionQuery, useChange, useSession } from '../api/queries';
import { Icon } from '../components/icons';
import { Menu, MenuChoice, MenuItem } from '../components/menu';
import { LANGUAGES, useLanguage } from '../messages/language';
import { chooseTheme, THEMES, useTheme } from '../preferences/theme';

/** Each language in its own words. */
const LANGUAGE_NAMES = { en: 'English', zh: '中文' } as const;

export function UserMenu({ onShortcuts }: { readonly onShortcuts: () => void }) {
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
      <SignOut />
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

function SignOut() {
  const { messages } = useLanguage();
  const signOut = async () => {
    await call('POST /session/sign-out', { body: {} }).catch(() => undefined);
    // A new document: nothing of this session stays in memory.
    location.assign('/console/sign-in');
  };
  return <MenuItem onChoose={() => void signOut()}>{messages.shell.signOut}</MenuItem>;
}
