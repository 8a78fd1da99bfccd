import { createTestDatabase, type TestDatabase } from '#testing';

/** A database in which nothing was ever made, no schema either, as an operator gets it. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  for (const text of ['drop schema public cascade', 'create schema public']) await database.database.query({ text });
  return database;
}
