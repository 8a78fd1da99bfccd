// What is written: sources that a reader cannot open, and words that were replaced by the field's term.
import { readFileSync } from 'node:fs';
import { repositoryFiles } from './sources.mjs';

/** Papers outside the repository, by the names under which they were once cited. */
const FOREIGN =
  /\bD[123]\b|\b(?:vendors|attacks|gateways|selling|house|field-reports|client-shapes|text-protocols|vendor-changes)\.md\b|\b(?:design|guide),? section \d|\bthe design of\b.*\bsection\b|\bissue \d+\b/;

/** Names and words that are gone, so that they do not come back. */
const RETIRED =
  /\b(?:text-tokens|things)\.[jt]s\b|\bclass Loop\b|\b(?:oneAfterAnother|MeaningSearch|SessionAnswer|NotedCall|noteFacts|withoutAbsent|cannotSay|cannotTranslate|leadBrowsers|tellsNoReasoning)\b|\b(?:whence|bias of tokens|odds of words|divided by commas|reckon(?:s|ed)?)\b/;

/** The page that says what the three documents are; what is kept as it was written; and this list. */
const NOT_READ =
  /^docs\/(?:README|changelog-history)\.md$|^CHANGELOG\.md$|\/migrations\/|\/generated\/|\/fixtures\/|^scripts\/structure\/words\.mjs$|package-lock\.json$/;

/** @returns `path:line` of each line that the pattern is found in. */
const linesWith = (pattern) =>
  repositoryFiles('*.ts', '*.tsx', '*.mjs', '*.md', '*.yaml', '*.yml')
    .filter((file) => !NOT_READ.test(file))
    .flatMap((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}`] : [])),
    );

/** @returns the lines that cite a source which is not in the repository. */
export const foreignSources = () => linesWith(FOREIGN);

/** @returns the lines that say a retired word. */
export const retiredWords = () => linesWith(RETIRED);
