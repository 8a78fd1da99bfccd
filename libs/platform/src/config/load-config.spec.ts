import { Type } from 'class-transformer';
import { IsInt, IsOptional, Max, Min, MinLength } from 'class-validator';
import { ConfigError, loadConfig } from './load-config.js';
import { ServerConfig } from './server.config.js';
import { Switch, Variable } from './variable.js';

class ExampleConfig {
  @Variable({ description: 'How many.', unit: 'pieces', formerly: 'PARTS' })
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(10)
  PIECES = 3;

  @Variable({ description: 'Whether to.' })
  @Switch()
  ENABLED = true;

  @Variable({ description: 'A secret word.', secret: true })
  @IsOptional()
  @MinLength(8)
  PASSWORD?: string;
}

const problemsOf = (environment: Record<string, string>): readonly string[] => {
  try {
    loadConfig(ExampleConfig, environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
};

describe('loadConfig', () => {
  it('keeps the defaults of variables that are not set or empty', () => {
    expect(loadConfig(ExampleConfig, { PIECES: '' })).toEqual({ PIECES: 3, ENABLED: true, PASSWORD: undefined });
  });

  it('reads a variable by its former name, unless it is set by that of today', () => {
    expect(loadConfig(ExampleConfig, { PARTS: '4' }).PIECES).toBe(4);
    expect(loadConfig(ExampleConfig, { PARTS: '4', PIECES: '' }).PIECES).toBe(4);
    expect(loadConfig(ExampleConfig, { PARTS: '4', PIECES: '5' }).PIECES).toBe(5);
  });

  it('reads numbers and switches from text', () => {
    expect(loadConfig(ExampleConfig, { PIECES: '7', ENABLED: 'false' })).toMatchObject({ PIECES: 7, ENABLED: false });
  });

  it('names every wrong variable on one line with the rule and the given value', () => {
    expect(problemsOf({ PIECES: '11', ENABLED: 'perhaps' })).toEqual([
      'PIECES must be a whole number from 1 to 10, not "11"',
      'ENABLED must be true or false, not "perhaps"',
    ]);
  });

  it('refuses text where a number belongs', () => {
    expect(problemsOf({ PIECES: 'many' })).toEqual(['PIECES must be a whole number from 1 to 10, not "many"']);
  });

  it('never repeats a secret', () => {
    const [problem] = problemsOf({ PASSWORD: 'abc123' });
    expect(problem).toContain('PASSWORD must be a text of at least 8 characters');
    expect(problem).not.toContain('abc123');
  });

  it('ignores variables of other owners', () => {
    expect(loadConfig(ExampleConfig, { PATH: '/usr/bin' })).not.toHaveProperty('PATH');
  });

  it('accepts an empty environment for the server', () => {
    expect(loadConfig(ServerConfig, {})).toMatchObject({ PORT: 3000, HOST: '127.0.0.1', DATA_DIR: '.data' });
  });
});
