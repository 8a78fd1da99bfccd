import { readPromptDirectives } from './prompt-directives.js';

const NOTHING = { flakyStarts: 0, hang: false };

describe('readPromptDirectives', () => {
  it.each([
    ['A cat', NOTHING],
    ['[sandbox:delay=5000]', { ...NOTHING, delayMs: 5000 }],
    ['[sandbox:delay=0]', { ...NOTHING, delayMs: 0 }],
    ['[sandbox:delay=3600000]', { ...NOTHING, delayMs: 3_600_000 }],
    ['[sandbox:fail=content_policy]', { ...NOTHING, failure: 'content_policy' }],
    ['[sandbox:flaky=99]', { ...NOTHING, flakyStarts: 99 }],
    ['[sandbox:partial=0]', { ...NOTHING, deliverAtMost: 0 }],
    ['[sandbox:hang]', { ...NOTHING, hang: true }],
    ['猫[sandbox:delay=1]犬[sandbox:fail=upstream_error]', { ...NOTHING, delayMs: 1, failure: 'upstream_error' }],
    ['[sandbox:delay=1][sandbox:delay=2]', { ...NOTHING, delayMs: 1 }],
  ])('reads "%s"', (prompt, words) => {
    expect(readPromptDirectives(prompt)).toEqual(words);
  });

  it.each([
    '[sandbox:dance]',
    '[sandbox:fail]',
    '[sandbox:fail=toString]',
    '[sandbox:fail=other]',
    '[sandbox:delay=-1]',
    '[sandbox:delay=1.5]',
    '[sandbox:delay=3600001]',
    '[sandbox:flaky=100]',
    '[sandbox:hang=1]',
    '[SANDBOX:hang]',
    'sandbox:hang',
  ])('takes "%s" as ordinary text', (prompt) => {
    expect(readPromptDirectives(prompt)).toEqual(NOTHING);
  });
});
