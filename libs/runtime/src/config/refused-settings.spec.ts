import { ConfigError } from '#platform';
import { readProcessConfig } from './process-config.js';

const problemsOf = (environment: Record<string, string>): readonly string[] => {
  try {
    readProcessConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
};

describe('A setting that would only show its mistake later', () => {
  const token = 'a-token-that-is-long-enough';
  it.each([
    ['PUBLIC_BASE_URL', { PUBLIC_BASE_URL: 'https://gateway.example.com/?x=1' }, /^PUBLIC_BASE_URL must be .*query/],
    [
      'PUBLIC_BASE_URL',
      { PUBLIC_BASE_URL: 'https://me:pw@gateway.example.com' },
      /^PUBLIC_BASE_URL must be .*password/,
    ],
    ['OUTBOUND_NAME_SERVERS', { OUTBOUND_NAME_SERVERS: 'dns.example' }, /^OUTBOUND_NAME_SERVERS must list addresses/],
    ['OPS_VIEWER_TOKEN', { ADMIN_TOKEN: token, OPS_VIEWER_TOKEN: token }, /^OPS_VIEWER_TOKEN must differ from ADMIN_/],
  ])('is reported at the start with its rule: %s', (_name, environment, problem) => {
    expect(problemsOf(environment)).toEqual([expect.stringMatching(problem)]);
    expect(problemsOf(environment).join()).not.toContain(token);
  });

  it('is accepted where it is correct', () => {
    expect(problemsOf({ PUBLIC_BASE_URL: 'http://gateway:3000/below', OUTBOUND_NAME_SERVERS: '10.0.0.2' })).toEqual([]);
  });
});
