import { Min } from 'class-validator';
import { renderConfigTable, renderEnvironmentExample, replaceConfigTable } from './testing/config-docs.js';
import { configClasses, Variable } from './variable.js';

class WaitingRoomConfig {
  @Variable({ description: 'Chairs a | b.', unit: 'chairs' })
  @Min(0)
  CHAIRS = 4;

  @Variable({ description: 'Word at the door.', secret: true, example: 'not shown' })
  DOOR_WORD?: string;

  @Variable({ description: 'Street.', example: 'Long Road 1' })
  STREET?: string;
}

describe('configuration documents', () => {
  it('register a class by its first documented variable', () => {
    expect(configClasses()).toContain(WaitingRoomConfig);
  });

  it('list every variable with default, unit and example in .env.example, secrets without a value', () => {
    const text = renderEnvironmentExample([WaitingRoomConfig]);
    expect(text).toContain('# --- Waiting Room ---');
    expect(text).toContain('# Chairs a | b. Unit: chairs.\n# CHAIRS=4\n');
    expect(text).toContain('# DOOR_WORD=\n');
    expect(text).toContain("# STREET='Long Road 1'\n");
  });

  it('show the same in a table that Markdown can read', () => {
    expect(renderConfigTable([WaitingRoomConfig])).toContain('| `CHAIRS` | `4` | Chairs a \\| b. Unit: chairs. |');
  });

  it('replace only what is between the markers', () => {
    const table = renderConfigTable([WaitingRoomConfig]);
    const document = 'before\n<!-- config:begin -->\nold\n<!-- config:end -->\nafter';
    expect(replaceConfigTable(document, table)).toBe(`before\n${table}\nafter`);
  });

  it('refuse a document without markers', () => {
    expect(() => replaceConfigTable('nothing', 'table')).toThrow('config:begin');
  });
});
