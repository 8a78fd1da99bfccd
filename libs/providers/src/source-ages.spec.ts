import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { MEDIA_TRAITS } from './media/traits/media-traits.js';
import { KNOWN_TRAITS } from './text/traits/known-traits.js';

/** What was written down on a day from something that changes. */
interface Dated {
  readonly what: string;
  /** `YYYY-MM-DD`. */
  readonly day: string;
}

/** A client library that judges our fakes, at the version that is installed. */
interface Judge {
  readonly name: string;
  readonly version: string;
  /** The day on which that version was published. */
  readonly published: string;
  /** Where the registry has no newer one: what stands in for it, and the day on which that was read. */
  readonly standIn?: Dated;
}

const JUDGES: readonly Judge[] = [
  { name: '@ai-sdk/alibaba', version: '2.0.58', published: '2026-09-28' },
  { name: '@ai-sdk/anthropic', version: '4.0.105', published: '2026-11-13' },
  { name: '@ai-sdk/bytedance', version: '1.0.29', published: '2026-08-12' },
  { name: '@ai-sdk/google', version: '4.0.121', published: '2026-11-13' },
  { name: '@ai-sdk/google-vertex', version: '5.0.141', published: '2026-11-13' },
  { name: '@ai-sdk/openai', version: '4.0.118', published: '2026-11-13' },
  { name: '@ai-sdk/openai-compatible', version: '3.0.92', published: '2026-11-13' },
  { name: '@ai-sdk/xai', version: '5.0.12', published: '2026-09-28' },
  { name: 'ai', version: '7.0.173', published: '2026-11-13' },
  {
    name: '@fal-ai/client',
    version: '1.10.1',
    published: '2026-05-04',
    standIn: { what: 'newer fields of media/testing/fake-fal.ts, from fal-js at commit 381105e', day: '2026-08-02' },
  },
  { name: '@google/genai', version: '3.3.0', published: '2026-11-12' },
  { name: 'kling-api', version: '1.0.0', published: '2026-07-17' },
  { name: 'minimax-mcp-js', version: '0.0.18', published: '2026-08-22' },
  { name: '@anthropic-ai/sdk', version: '1.14.0', published: '2026-11-24' },
  { name: 'openai', version: '7.59.0', published: '2026-11-17' },
];

/** Vendors whose replies no library judges: what they were copied from. */
const PAGES: readonly Dated[] = [{ what: 'media/testing/vidu-replies.ts', day: '2026-11-26' }];

const dayOf = ({ published, standIn }: Judge): string => [published, standIn?.day ?? ''].toSorted().at(-1) ?? published;

const SOURCES: readonly Dated[] = [
  ...JUDGES.map((judge) => ({ what: `${judge.name} ${judge.version}`, day: dayOf(judge) })),
  ...PAGES,
  ...new Map(
    MEDIA_TRAITS.map(({ protocol, source, checked }): [string, Dated] => [
      `${protocol} ${checked}`,
      { what: `traits of ${protocol}: ${source}`, day: checked },
    ]),
  ).values(),
  ...new Map(
    KNOWN_TRAITS.map(({ family, source, asOf }): [string, Dated] => [
      `${source} ${asOf}`,
      { what: `traits of ${family}: ${source}`, day: asOf },
    ]),
  ).values(),
];

const MONTHS = 9;

/** Those that are as old as nine months, each with its age. */
function tooOld(sources: readonly Dated[], now: Date): string[] {
  const before = new Date(now);
  before.setUTCMonth(before.getUTCMonth() - MONTHS);
  return sources
    .filter(({ day }) => Date.parse(day) <= before.getTime())
    .map(({ what, day }) => `${what} is of ${day}: read it again, and write down the day`);
}

describe('What vendors are taken for', () => {
  it('was written down from nothing that is nine months old', () => {
    expect(tooOld(SOURCES, new Date())).toEqual([]);
  });

  it('is found to be old on the day on which it is nine months old, and not on the day before', () => {
    const source = [{ what: 'a page', day: '2026-02-28' }];
    expect(tooOld(source, new Date('2026-11-27T23:59:59Z'))).toEqual([]);
    expect(tooOld(source, new Date('2026-11-28T00:00:00Z'))).toEqual([
      expect.stringContaining('a page is of 2026-02-28'),
    ]);
  });

  it('has dates that were, of no later day than today', () => {
    const wrong = SOURCES.filter(({ day }) => !/^\d{4}-\d{2}-\d{2}$/.test(day) || !(Date.parse(day) <= Date.now()));
    expect(wrong).toEqual([]);
  });

  it.each(JUDGES.map(({ name, version }) => [name, version]))(
    'is judged by %s at the version whose day is known: %s',
    (name, version) => {
      expect(installedVersion(name)).toBe(version);
    },
  );
});

/** From the package's own folder: not every package lets its package.json be resolved. */
function installedVersion(name: string): string | undefined {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? [];
  const file = folders.map((folder) => join(folder, name, 'package.json')).find((path) => existsSync(path));
  return file && (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
