import { readProcessConfig } from '#runtime';
import { RunningTexts } from './client-connection.js';

describe('The text requests of an account that run at once', () => {
  it('have a most, which others do not share, and each that is over makes room for one', () => {
    const running = new RunningTexts({ config: readProcessConfig({ TEXTS_AT_ONCE_PER_ACCOUNT: '2' }) });
    const [first] = [running.begin('acct_a'), running.begin('acct_a')];
    expect(() => running.begin('acct_a')).toThrow('The account has 2 text requests that are being answered');
    running.begin('acct_b');
    running.over(first);
    running.over(first);
    running.begin('acct_a');
    expect(() => running.begin('acct_a')).toThrow(expect.objectContaining({ code: 'rate_limit_exceeded' }));
  });
});
