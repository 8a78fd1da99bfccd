import { useState } from 'react';
import { Dialog } from '../components/dialog';
import { Check } from '../components/fields';
import { Facts } from '../components/page';
import { useMessages } from '../messages/language';
import { areShortcutsOn, turnShortcuts } from './shortcuts';

export default function ShortcutsDialog({ onClose }: { readonly onClose: () => void }) {
  const { shell } = useMessages();
  const lines = shell.shortcutLines;
  return (
    <Dialog title={shell.shortcuts} onClose={onClose}>
      <div className="stack">
        <Facts
          of={[
            ['/  ·  Ctrl K', lines.search],
            ['?', lines.help],
            ['g  t · k · p · u · b · o', lines.go],
            ['j · k', lines.rows],
            ['Enter', lines.open],
          ]}
        />
        <ShortcutSwitch />
      </div>
    </Dialog>
  );
}

/** Turns the single letters off for who types them by accident. */
export function ShortcutSwitch() {
  const { shell } = useMessages();
  const [isOn, setOn] = useState(areShortcutsOn);
  const turn = (on: boolean) => {
    turnShortcuts(on);
    setOn(on);
  };
  return (
    <Check kind="switch" label={shell.shortcutsOn} checked={isOn} onChange={({ target }) => turn(target.checked)} />
  );
}
