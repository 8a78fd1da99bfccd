import { use } from 'react';
import { readStored } from '../preferences/stored';
import { en } from './en';

export const LANGUAGES = ['en', 'zh'] as const;
export type Language = (typeof LANGUAGES)[number];

/** The texts of some pages, loaded with the first of these pages. */
const ENGLISH = {
  admin: () => import('./en/admin'),
  keys: () => import('./en/keys'),
  money: () => import('./en/money'),
  overview: () => import('./en/overview'),
  playground: () => import('./en/playground'),
  prompts: () => import('./en/prompts'),
  selling: () => import('./en/selling'),
  signIn: () => import('./en/sign-in'),
  tasks: () => import('./en/tasks'),
  webhooks: () => import('./en/webhooks'),
};

export type WordFile = keyof typeof ENGLISH;
type WordsOf<File extends WordFile> = Awaited<ReturnType<(typeof ENGLISH)[File]>>;

const CHINESE: { readonly [File in WordFile]: () => Promise<WordsOf<File>> } = {
  admin: () => import('./zh/admin'),
  keys: () => import('./zh/keys'),
  money: () => import('./zh/money'),
  overview: () => import('./zh/overview'),
  playground: () => import('./zh/playground'),
  prompts: () => import('./zh/prompts'),
  selling: () => import('./zh/selling'),
  signIn: () => import('./zh/sign-in'),
  tasks: () => import('./zh/tasks'),
  webhooks: () => import('./zh/webhooks'),
};

const FILES = { en: ENGLISH, zh: CHINESE } as const;

type Union<File extends WordFile> = File extends WordFile ? (words: WordsOf<File>) => void : never;
/** The words of all files. */
type PageWords = Union<WordFile> extends (words: infer All) => void ? All : never;

/** Every sentence of the console. */
export type Messages = typeof en & PageWords;

/** Where each of them stands. */
const FILE_OF = {
  admin: 'admin',
  keys: 'keys',
  money: 'money',
  overview: 'overview',
  account: 'overview',
  playground: 'playground',
  models: 'playground',
  fieldNotes: 'playground',
  fieldValues: 'playground',
  modelRules: 'playground',
  modelSummaries: 'playground',
  prompts: 'prompts',
  selling: 'selling',
  signIn: 'signIn',
  tasks: 'tasks',
  webhooks: 'webhooks',
} as const satisfies { readonly [Name in keyof PageWords]: WordFile };

const there = new Map<string, object>();
const coming = new Map<string, Promise<object>>();
const keyOf = (language: Language, file: WordFile) => `${language} ${file}`;

/** Words as they are shown: in tests longer than they are. */
const shownAs = async <Words extends object>(words: Words): Promise<Words> =>
  readStored('pseudo') === 'true' ? (await import('./pseudo')).pseudo(words) : words;

/** Loads words once; those that did not arrive are asked for again the next time. */
function load(language: Language, file: WordFile): Promise<object> {
  const key = keyOf(language, file);
  const known = coming.get(key);
  if (known) return known;
  const words = FILES[language][file]().then(async (module: object) => {
    const shown = await shownAs({ ...module });
    there.set(key, shown);
    return shown;
  });
  coming.set(key, words);
  words.catch(() => coming.delete(key));
  return words;
}

/** The language that the pages are in. */
let spoken: Language = 'en';

/** Preloads messages of the current language, so that a page which needs them does not wait. */
export const readyWords = (...files: readonly WordFile[]): Promise<unknown> =>
  Promise.all(files.map((file) => load(spoken, file)));

/** Changes the language, once everything is there in it that was used in the last. */
export async function speak(language: Language): Promise<Messages> {
  const used = (Object.keys(ENGLISH) as WordFile[]).filter((file) => there.has(keyOf(spoken, file)));
  const [core] = await Promise.all([
    language === 'en' ? en : import('./zh').then(({ zh }) => zh),
    ...used.map((file) => load(language, file)),
  ]);
  spoken = language;
  return withPageWords(await shownAs(core), language);
}

/** A page that is shown before its words are there waits for them. */
function withPageWords(core: typeof en, language: Language): Messages {
  const messages = { ...core };
  // React shows a component that waited again as if it were still waiting: what was waited for is asked in the same way.
  const waited = new Set<WordFile>();
  for (const [name, file] of Object.entries(FILE_OF)) {
    const get = () => {
      const known = waited.has(file) ? undefined : there.get(keyOf(language, file));
      if (!known) waited.add(file);
      const words = known ?? use(load(language, file));
      return words[name as keyof typeof words];
    };
    Object.defineProperty(messages, name, { get });
  }
  return messages as Messages;
}
