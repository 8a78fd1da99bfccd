import { createContext, type ReactNode, use, useEffect, useMemo, useState } from 'react';
import { readStored, writeStored } from '../preferences/stored';
import { en, type Messages } from './en';
import { pseudo } from './pseudo';

export const LANGUAGES = ['en', 'zh'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Every sentence of the console, the language that they are in, and how to change it. */
interface LanguageChoice {
  readonly language: Language;
  readonly messages: Messages;
  readonly choose: (language: Language) => void;
}

const LanguageContext = createContext<LanguageChoice | null>(null);

const isLanguage = (value: string | null): value is Language => value === 'en' || value === 'zh';

/** The reader's choice, else what the browser asks for first of the languages there are, else English. */
function firstLanguage(): Language {
  const stored = readStored('language');
  if (isLanguage(stored)) return stored;
  return navigator.languages.find((each) => /^(en|zh)/.test(each))?.startsWith('zh') ? 'zh' : 'en';
}

/** English is at hand; the other language is loaded when it is needed. */
async function loadMessages(language: Language): Promise<Messages> {
  if (readStored('pseudo') === 'true') return pseudo(en);
  return language === 'en' ? en : (await import('./zh')).zh;
}

/** The first language with its messages, before anything is shown. */
export async function loadFirstLanguage(): Promise<{ language: Language; messages: Messages }> {
  const language = firstLanguage();
  return { language, messages: await loadMessages(language) };
}

export function LanguageProvider({
  first,
  children,
}: {
  readonly first: { language: Language; messages: Messages };
  readonly children: ReactNode;
}) {
  const [shown, setShown] = useState(first);
  useEffect(() => {
    document.documentElement.lang = shown.language === 'zh' ? 'zh-CN' : 'en';
  }, [shown.language]);
  const choice = useMemo(
    () => ({
      ...shown,
      choose: (language: Language) => {
        writeStored('language', language);
        void loadMessages(language).then((messages) => setShown({ language, messages }));
      },
    }),
    [shown],
  );
  return <LanguageContext value={choice}>{children}</LanguageContext>;
}

export function useLanguage(): LanguageChoice {
  const choice = use(LanguageContext);
  if (!choice) throw new Error('LanguageProvider is missing');
  return choice;
}

/** Every sentence in the reader's language. */
export const useMessages = (): Messages => useLanguage().messages;
