import { PrismaPg } from '@prisma/adapter-pg';
import { ColumnTypeEnum } from '@prisma/driver-adapter-utils';
import { Pool, types } from 'pg';
import { openEngine } from '../migrate.js';

/** The type of single characters in Postgres's own catalogue, which the adapter knows nothing about. */
const CATALOGUE_CHARACTER = 18;

/**
 * The statements with which Prisma would make a database what a schema file says; an empty text when they agree. What
 * the language of that file cannot say (checks, partial indexes, partitions, unlogged tables) is not compared.
 */
export async function schemaDifferences(databaseUrl: string, path: string, content: string): Promise<string> {
  const pool = new Pool({ connectionString: databaseUrl, max: 2 });
  const engine = await openEngine(new CataloguePrismaPg(pool));
  try {
    const { exitCode, stdout } = await engine.diff({
      // The database is the one that the adapter is connected to; of the file only its provider is read.
      from: { tag: 'schemaDatasource', files: [{ path, content }], configDir: '.' },
      to: { tag: 'schemaDatamodel', files: [{ path, content }] },
      script: true,
      // Answers 2 when they differ, and 0 with a comment when they do not.
      exitCode: true,
      filters: { externalTables: [], externalEnums: [] },
    });
    return exitCode === 0 ? '' : (stdout ?? 'they differ, without a word');
  } finally {
    engine.free();
    await pool.end();
  }
}

type Adapter = Awaited<ReturnType<PrismaPg['connect']>>;

/** Hands the characters of the catalogue to the engine, which reads the kind of a constraint from them. */
class CataloguePrismaPg extends PrismaPg {
  readonly #characters = new Set<string>();

  constructor(pool: Pool) {
    super(pool);
    const query = pool.query.bind(pool) as (...given: unknown[]) => Promise<{ fields: Field[] }>;
    Object.defineProperty(pool, 'query', {
      value: async (...given: unknown[]) => {
        const result = await query(...given);
        for (const field of result.fields.filter(({ dataTypeID }) => dataTypeID === CATALOGUE_CHARACTER)) {
          field.dataTypeID = types.builtins.BPCHAR;
          this.#characters.add(field.name);
        }
        return result;
      },
    });
  }

  override async connect(): Promise<Adapter> {
    const adapter = await super.connect();
    const queryRaw = adapter.queryRaw.bind(adapter);
    adapter.queryRaw = async (statement) => {
      const result = await queryRaw(statement);
      const columnTypes = result.columnNames.map((name, index) =>
        this.#characters.has(name) ? ColumnTypeEnum.Character : (result.columnTypes[index] ?? ColumnTypeEnum.Text),
      );
      return { ...result, columnTypes };
    };
    return adapter;
  }
}

interface Field {
  readonly name: string;
  dataTypeID: number;
}
