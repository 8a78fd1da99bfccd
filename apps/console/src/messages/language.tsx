import { createContext, type ReactNode, use, useEffect, useMemo, useState } from 'react';
import { readStored, writeStored } from '../preferences/stored';
import { type Language, type Messages, speak } from './words';

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

/** The first language with its messages, before anything is shown. */
export async function loadFirstLanguage(): Promise<{ language: Language; messages: Messages }> {
  const language = firstLanguage();
  return { language, messages: await speak(language) };
}

interface LanguageProviderProps {
  readonly first: { language: Language; messages: Messages };
  readonly children: ReactNode;
}

export function LanguageProvider({ first, children }: LanguageProviderProps) {
  const [shown, setShown] = useState(first);
  useEffect(() => {
    document.documentElement.lang = shown.language === 'zh' ? 'zh-CN' : 'en';
  }, [shown.language]);
  const choice = useMemo(
    () => ({
      ...shown,
      choose: (language: Language) => {
        writeStored('language', language);
        void speak(language).then((messages) => setShown({ language, messages }));
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
