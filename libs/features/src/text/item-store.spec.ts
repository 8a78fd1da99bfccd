import { randomBytes } from 'node:crypto';
import type { JsonObject } from '#contracts';
import { type ProcessConfig, readProcessConfig } from '#runtime';
import { createTestDatabase, type TestDatabase } from '#testing';
import { ItemStore } from './item-store.js';
import { LONG_ITEMS } from './item-store-statements.js';
import { resolveReferences } from './resolve-references.js';

const ADA = 'acct_ada';
const BOB = 'acct_bob';
const KEY = 'key_ada';

const said = (id: string, text: string): JsonObject => ({ type: 'message', role: 'user', id, content: text });
const answered = (id: string, ...output: JsonObject[]): JsonObject => ({ id, object: 'response', output });
const message = (id: string, text: string): JsonObject => ({
  id,
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [] }],
});
const FREELY = (): void => {};
const NOT_FOUND = { code: 'previous_response_not_found', param: 'previous_response_id' };

/** A step of a plan that was carried out. */
interface Step {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly Plans?: readonly Step[];
}
interface Explained extends Record<string, unknown> {
  readonly 'QUERY PLAN': readonly { readonly Plan: Step }[];
}

/** How many rows all steps had in their hands. */
const rowsOf = (step: Step): number =>
  step['Actual Loops'] *
    (step['Actual Rows'] + (step['Rows Removed by Filter'] ?? 0) + (step['Rows Removed by Join Filter'] ?? 0)) +
  (step.Plans ?? []).reduce((sum, below) => sum + rowsOf(below), 0);

describe('The store of responses', () => {
  let test: TestDatabase;
  let store: ItemStore;
  const storeOf = (config: ProcessConfig): ItemStore => new ItemStore(test.database, { config });
  beforeAll(async () => {
    test = await createTestDatabase();
    await test.database.query({
      text: 'insert into account (id, name) select id, id from unnest($1::text[]) as a (id)',
      values: [[ADA, BOB]],
    });
    await test.database.query({
      text: `insert into api_key (id, account_id, name, prefix, key_hash) values ($1, $2, 'k', 'sk', '')`,
      values: [KEY, ADA],
    });
    store = storeOf(readProcessConfig({}));
    const chain = [
      ['resp_1', undefined, said('in_1', 'My name is Ada'), message('msg_1', 'Hello Ada')],
      ['resp_2', 'resp_1', said('in_2', 'I am 36'), message('msg_2', 'I see')],
      ['resp_3', 'resp_2', said('in_3', 'Who am I?'), message('msg_3', 'Ada, 36')],
    ] as const;
    for (const [id, previousResponseId, input, output] of chain)
      await store.save({
        accountId: ADA,
        apiKeyId: KEY,
        response: answered(id, output),
        inputItems: [input],
        previousResponseId,
      });
  });
  afterAll(() => test.remove());

  const forget = (table: string, id: string) =>
    test.database.query({ text: `update ${table} set expires_at = now() where id = $1`, values: [id] });
  const remember = (table: string, id: string) =>
    test.database.query({
      text: `update ${table} set expires_at = now() + interval '1 day' where id = $1`,
      values: [id],
    });
  const idsOf = (items: readonly unknown[]) => items.map((item) => (item as JsonObject)['id']);

  it('returns a conversation from its beginning, each request before its response', async () => {
    const { items } = await store.conversation(ADA, 'resp_3', FREELY);
    expect(idsOf(items)).toEqual(['in_1', 'msg_1', 'in_2', 'msg_2', 'in_3', 'msg_3']);
  });

  it('branches: an earlier response continues without what came later', async () => {
    expect(idsOf((await store.conversation(ADA, 'resp_2', FREELY)).items)).toEqual(['in_1', 'msg_1', 'in_2', 'msg_2']);
  });

  it('keeps a response for 30 days', async () => {
    const { rows } = await test.database.query<{ days: number }>({
      text: `select round(extract(epoch from expires_at - now()) / 86400)::int as days from text_response
        union all select round(extract(epoch from expires_at - now()) / 86400)::int from text_item_place`,
    });
    expect(new Set(rows.map(({ days }) => days))).toEqual(new Set([30]));
  });

  it('refuses responses that are unknown, expired, or without their beginning', async () => {
    await expect(store.conversation(ADA, 'resp_9', FREELY)).rejects.toMatchObject(NOT_FOUND);
    await forget('text_response', 'resp_1');
    await expect(store.conversation(ADA, 'resp_1', FREELY)).rejects.toMatchObject(NOT_FOUND);
    await expect(store.conversation(ADA, 'resp_3', FREELY)).rejects.toMatchObject(NOT_FOUND);
    await expect(store.response(ADA, 'resp_1', FREELY)).rejects.toMatchObject({ code: 'not_found' });
    await remember('text_response', 'resp_1');
    await forget('text_item_place', 'msg_1');
    expect([...(await store.items(ADA, ['msg_1', 'msg_2'], FREELY)).keys()]).toEqual(['msg_2']);
    await remember('text_item_place', 'msg_1');
  });

  it('shows no account the responses of another, even with the same id', async () => {
    await expect(store.conversation(BOB, 'resp_3', FREELY)).rejects.toMatchObject(NOT_FOUND);
    await expect(store.response(BOB, 'resp_3', FREELY)).rejects.toMatchObject({ code: 'not_found' });
    expect((await store.items(BOB, ['msg_1', 'in_1'], FREELY)).size).toBe(0);
    const response = answered('resp_3', message('msg_3', 'Hello Bob'));
    await store.save({ accountId: BOB, apiKeyId: KEY, response, inputItems: [], previousResponseId: undefined });
    expect(await store.response(BOB, 'resp_3', FREELY)).toEqual(response);
    expect(idsOf((await store.conversation(ADA, 'resp_3', FREELY)).items)).toHaveLength(6);
  });

  it('keeps the first version when the same response is saved again', async () => {
    const again = answered('resp_3', message('msg_3', 'changed'));
    await store.save({ accountId: ADA, apiKeyId: KEY, response: again, inputItems: [], previousResponseId: undefined });
    expect((await store.items(ADA, ['msg_3'], FREELY)).get('msg_3')).toEqual(message('msg_3', 'Ada, 36'));
    expect(await store.response(ADA, 'resp_3', FREELY)).toEqual(answered('resp_3', message('msg_3', 'Ada, 36')));
  });

  describe('with responses that end together', () => {
    const FAY = 'acct_fay';
    const save = (accountId: string, response: JsonObject, inputItems: JsonObject[] = [], json?: string) =>
      store.save({ accountId, apiKeyId: KEY, response, json, inputItems, previousResponseId: undefined });
    const found = async (accountId: string, ids: readonly string[]): Promise<string[]> =>
      [...(await store.items(accountId, ids, FREELY)).keys()].toSorted();
    beforeAll(() => test.database.query({ text: 'insert into account (id, name) values ($1, $1)', values: [FAY] }));
    afterEach(() =>
      test.database.query({
        text: `with gone as (delete from text_item_place where response_id like 'resp_end%')
          delete from text_response where id like 'resp_end%'`,
      }),
    );

    it('stores them in one statement, from the JSON that was sent, each with its items and its key', async () => {
      await test.database.query({
        text: `create table stored_at_once (responses bigint);
          create function note_stored() returns trigger language plpgsql as $$ begin
            insert into stored_at_once select count(*) from added; return null; end $$;
          create trigger note_stored after insert on text_response referencing new table as added
            for each statement execute function note_stored()`,
      });
      const ids = Array.from({ length: 20 }, (_, index) => `resp_end_${index}`);
      await Promise.all([
        ...ids.map((id) => save(FAY, answered(id, message(`msg_${id}`, 'one')), [said(`in_${id}`, 'Hi')])),
        save(BOB, answered('resp_end_0', message('msg_resp_end_0', 'two'))),
        save(BOB, answered('resp_end_sent'), [], '{ "id": "resp_end_sent", "output": [], "sent": "\u00e9" }'),
      ]);
      const { rows } = await test.database.query<{ responses: bigint }>({ text: 'select * from stored_at_once' });
      await test.database.query({ text: 'drop table stored_at_once; drop function note_stored cascade' });
      expect(rows).toEqual([{ responses: 22n }]);
      for (const id of ids) {
        expect(await store.response(FAY, id, FREELY)).toEqual(answered(id, message(`msg_${id}`, 'one')));
        expect(await found(FAY, [`msg_${id}`, `in_${id}`])).toEqual([`in_${id}`, `msg_${id}`]);
      }
      expect((await store.items(BOB, ['msg_resp_end_0'], FREELY)).get('msg_resp_end_0')).toEqual(
        message('msg_resp_end_0', 'two'),
      );
      expect(await store.response(BOB, 'resp_end_sent', FREELY)).toEqual({
        id: 'resp_end_sent',
        output: [],
        sent: 'é',
      });
      const keys = await test.database.query({
        text: `select distinct api_key_id from text_response where id like 'resp_end%'`,
      });
      expect(keys.rows).toEqual([{ api_key_id: KEY }]);
    });

    it('keeps the first of two with the same id, and the items of that one', async () => {
      const [first, second] = ['one', 'two'].map((text) =>
        answered('resp_end_twice', message(`msg_end_${text}`, text)),
      );
      await Promise.all([save(FAY, first ?? {}), save(FAY, second ?? {}), save(BOB, second ?? {})]);
      expect(await store.response(FAY, 'resp_end_twice', FREELY)).toEqual(first);
      expect(await found(FAY, ['msg_end_one', 'msg_end_two'])).toEqual(['msg_end_one']);
      expect(await found(BOB, ['msg_end_one', 'msg_end_two'])).toEqual(['msg_end_two']);
    });

    it('loses none for one that cannot be stored', async () => {
      const ends = await Promise.allSettled([
        save(FAY, answered('resp_end_a', message('msg_end_a', 'one')), [said('in_end', 'Hi')]),
        save(FAY, { object: 'response', output: [] }),
        save(FAY, answered('resp_end_b', message('msg_end_b', 'two')), [said('in_end', 'Hi')]),
        save(BOB, answered('resp_end_a', message('msg_end_a', 'three'))),
        save('acct_nobody', answered('resp_end_c')),
      ]);
      expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'rejected']);
      expect(await store.response(FAY, 'resp_end_b', FREELY)).toEqual(
        answered('resp_end_b', message('msg_end_b', 'two')),
      );
      expect((await store.items(BOB, ['msg_end_a'], FREELY)).get('msg_end_a')).toEqual(message('msg_end_a', 'three'));
      expect(await found(FAY, ['in_end', 'msg_end_a', 'msg_end_b'])).toEqual(['in_end', 'msg_end_a', 'msg_end_b']);
    });

    it('neither loses nor keeps waiting those of others while another statement writes an item of one', async () => {
      let waiting: Promise<void> | undefined;
      const began = performance.now();
      await test.database.transaction(async (writing) => {
        await writing.query({
          text: `insert into text_item_place (account_id, id, response_id, place, size_bytes, expires_at)
            values ($1, 'in_end_locked', 'resp_end_locked', 0, 1, now())`,
          values: [FAY],
        });
        waiting = save(FAY, answered('resp_end_waits'), [said('in_end_locked', 'Hi')]);
        await save(BOB, answered('resp_end_free'));
      });
      // Below what a statement may take here, which is 25 seconds.
      expect(performance.now() - began).toBeLessThan(10_000);
      await waiting;
      expect(await store.response(FAY, 'resp_end_waits', FREELY)).toEqual(answered('resp_end_waits'));
      expect(await store.response(BOB, 'resp_end_free', FREELY)).toEqual(answered('resp_end_free'));
    });

    it.each([
      ['a long text', [said('in_end_long', 'x'.repeat(300_000))]],
      ['very many items', Array.from({ length: 3_000 }, (_, index) => said(`in_end_${index}`, 'x'))],
    ])('stores one with %s alone, on the share that its account has of the database', async (_what, items) => {
      const shares = jest.spyOn(test.database, 'of');
      await Promise.all([save(FAY, answered('resp_end_long'), items), save(BOB, answered('resp_end_short'))]);
      expect(shares.mock.calls).toEqual([[FAY]]);
      shares.mockRestore();
      const placed = await test.database.query({
        text: `select from text_item_place where response_id = 'resp_end_long'`,
      });
      expect(placed.rows).toHaveLength(items.length);
      expect(await store.response(BOB, 'resp_end_short', FREELY)).toEqual(answered('resp_end_short'));
    });
  });

  describe('what is long', () => {
    const LONG = 'é😀"\\ '.repeat(60_000);
    const NESTED = {
      type: 'message',
      role: 'user',
      id: 'in_nested',
      content: Array.from({ length: 40_000 }, () => []),
    };
    beforeAll(async () => {
      const save = (id: string, before: string | undefined, input: JsonObject, output: JsonObject): Promise<void> =>
        store.save({
          accountId: ADA,
          apiKeyId: KEY,
          response: answered(id, output),
          inputItems: [input],
          previousResponseId: before,
        });
      await save('resp_long_1', undefined, said('in_long_1', LONG), message('msg_long_1', 'I see'));
      await save('resp_long_2', 'resp_long_1', said('in_long_2', 'And now?'), message('msg_long_2', LONG));
      await save('resp_nested_1', 'resp_long_2', NESTED, message('msg_nested_1', LONG));
      await save('resp_nested_2', 'resp_nested_1', NESTED, message('msg_nested_2', 'Well'));
    });

    it('is read in pieces unchanged, in order', async () => {
      expect((await store.conversation(ADA, 'resp_long_2', FREELY)).items).toEqual([
        said('in_long_1', LONG),
        message('msg_long_1', 'I see'),
        said('in_long_2', 'And now?'),
        message('msg_long_2', LONG),
      ]);
      const items = await store.items(ADA, ['msg_long_2', 'in_long_2'], FREELY);
      expect([items.get('msg_long_2'), items.get('in_long_2')]).toEqual([
        message('msg_long_2', LONG),
        said('in_long_2', 'And now?'),
      ]);
      expect(await store.response(ADA, 'resp_long_2', FREELY)).toEqual(
        answered('resp_long_2', message('msg_long_2', LONG)),
      );
    });

    it('is listed in pages of bounded size, a long item on a page of its own', async () => {
      const items = [600_000, 600_000, 300, 200_000, 200_000, 200_000, 200_000, 200_000, 200_000].map((length, index) =>
        said(`in_page_${index}`, String(index).repeat(length)),
      );
      await store.save({
        accountId: ADA,
        apiKeyId: KEY,
        response: answered('resp_pages'),
        inputItems: items,
        previousResponseId: undefined,
      });
      const pages: string[][] = [];
      for (let after: string | undefined, hasMore = true; hasMore; after = pages.at(-1)?.at(-1)) {
        const asked: number[] = [];
        const query = { limit: 100, order: 'asc', after } as const;
        const page = await store.inputItems(ADA, 'resp_pages', query, (bytes) => void asked.push(bytes));
        expect(asked).toEqual([expect.any(Number)]);
        expect(asked[0]).toBeGreaterThan(2_400_000);
        for (const { id, item } of page.items) expect(item).toEqual(items.find((kept) => kept['id'] === id));
        pages.push(page.items.map(({ id }) => id));
        ({ hasMore } = page);
      }
      const named = (...places: number[]): string[] => places.map((place) => `in_page_${place}`);
      expect(pages).toEqual([named(0), named(1), named(2, 3, 4, 5, 6, 7), named(8)]);
    });

    it('is not read where there is no room for it', async () => {
      const noRoom = new Error('no room');
      const refuse = (): never => {
        throw noRoom;
      };
      const query = { limit: 1, order: 'asc', after: undefined } as const;
      await expect(store.inputItems(ADA, 'resp_pages', query, refuse)).rejects.toBe(noRoom);
      await expect(store.conversation(ADA, 'resp_pages', refuse)).rejects.toBe(noRoom);
      await expect(store.items(ADA, ['in_page_0'], refuse)).rejects.toBe(noRoom);
      await expect(store.response(ADA, 'resp_long_1', refuse)).rejects.toBe(noRoom);
    });

    it('is bounded in total structure like a request', async () => {
      expect((await store.conversation(ADA, 'resp_nested_1', FREELY)).items).toHaveLength(6);
      const refusal = { code: 'request_too_large', publicMessage: expect.stringContaining('100000 values') };
      await expect(store.conversation(ADA, 'resp_nested_2', FREELY)).rejects.toMatchObject(refusal);
      expect((await store.items(ADA, ['in_nested'], FREELY)).size).toBe(1);
      await expect(store.items(ADA, ['in_nested', 'in_nested', 'in_nested'], FREELY)).rejects.toMatchObject(refusal);
    });
  });

  describe('puts in place of references', () => {
    const resolve = (body: object, accountId = ADA) =>
      resolveReferences({ model: 'vendor-5', input: [], ...body }, accountId, store, FREELY);

    it('nothing when there are none, so that the body can pass through', async () => {
      const input = [{ type: 'message' as const, role: 'user' as const, content: 'Hi' }];
      expect(await resolve({ input })).toMatchObject({ changed: false, ownItems: input });
      expect(await resolve({ input: 'Hi' })).toMatchObject({ changed: false, ownItems: input });
    });

    it('the conversation before the input, and each item where it was named', async () => {
      const { body, changed, ownItems } = await resolve({
        previous_response_id: 'resp_1',
        input: [{ type: 'item_reference', id: 'msg_2' }, said('in_4', 'Sure?')],
      });
      expect(changed).toBe(true);
      expect(body).not.toHaveProperty('previous_response_id');
      expect(idsOf(body.input as unknown[])).toEqual(['in_1', 'msg_1', 'msg_2', 'in_4']);
      expect(idsOf(ownItems)).toEqual(['msg_2', 'in_4']);
    });

    it.each([
      ['an unknown item', ADA, 'msg_9'],
      ['an item of another account', BOB, 'msg_1'],
    ])('never %s: it is refused with its path', async (_what, accountId, id) => {
      const input = [said('in_4', 'x'), { type: 'item_reference', id }];
      await expect(resolve({ input }, accountId)).rejects.toMatchObject({
        code: 'item_not_found',
        param: 'input[1].id',
      });
    });
  });

  describe('with a response of very many items', () => {
    const ids = Array.from({ length: 4_500 }, (_, index) => `many_${index}`);
    beforeEach(async () => {
      await store.save({
        accountId: ADA,
        apiKeyId: KEY,
        response: answered('resp_many', message('msg_many', 'Hello')),
        inputItems: ids.map((id) => said(id, 'x')),
        previousResponseId: undefined,
      });
      await test.database.query({ text: 'create table removed (items bigint)' });
    });
    afterEach(() => test.database.query({ text: 'drop table removed; drop function if exists note_removed cascade' }));

    /** Notes how many items each statement removes, and lets those fail that find so many statements before them. */
    const note = (most: number) =>
      test.database.query({
        text: `create function note_removed() returns trigger language plpgsql as $$ begin
            if (select count(*) from removed) >= ${most} then raise 'the database is away'; end if;
            insert into removed select count(*) from gone; return null; end $$;
          create trigger note_removed after delete on text_item_place referencing old table as gone
            for each statement execute function note_removed()`,
      });
    const left = async (): Promise<number> =>
      (await test.database.query({ text: `select 1 from text_item_place where response_id = 'resp_many'` })).rows
        .length;

    it('finds thousands of them in the time of a short read', async () => {
      const asked = ids.slice(0, 3_000);
      const found = await store.items(ADA, asked, FREELY);
      expect([found.size, found.get('many_2999')]).toEqual([3_000, said('many_2999', 'x')]);
    });

    it('goes through its items once, whatever the planner expects', async () => {
      const asked = ids.slice(0, 3_000);
      const responses = asked.map(() => 'resp_many');
      // Its output comes before its input.
      const places = asked.map((_, index) => index + 1);
      const rows = await test.database.transaction(async (session) => {
        for (const join of ['hashjoin', 'mergejoin']) await session.query({ text: `set local enable_${join} = off` });
        const text = `explain (analyze, format json) ${LONG_ITEMS}`;
        const explained = await session.query<Explained>({ text, values: [ADA, asked, responses, places] });
        return explained.rows.flatMap((row) => row['QUERY PLAN'].map(({ Plan: plan }) => rowsOf(plan)));
      });
      expect(rows).toEqual([expect.any(Number)]);
      expect(rows[0]).toBeLessThan(100_000);
    });

    it('removes at most 2,000 of them in a statement', async () => {
      await note(100);
      await store.remove(ADA, 'resp_many');
      const { rows } = await test.database.query<{ items: bigint }>({ text: 'select items from removed' });
      expect(rows.map(({ items }) => Number(items))).toEqual([2_000, 2_000, 501]);
      expect(await left()).toBe(0);
    });

    it('forgets all of them at once, also where their removal stops half way', async () => {
      await note(1);
      await expect(store.remove(ADA, 'resp_many')).rejects.toThrow('the database is away');
      expect(await left()).toBe(2_501);
      await expect(store.response(ADA, 'resp_many', FREELY)).rejects.toMatchObject({ code: 'not_found' });
      expect([...(await store.items(ADA, [...ids, 'msg_many'], FREELY)).keys()]).toEqual([]);
    });
  });

  describe('with what an account has stored', () => {
    const CYD = 'acct_cyd';
    const text = (length: number): string => randomBytes(length / 2).toString('hex');
    const save = (by: ItemStore, id: string, bytes: number, accountId = CYD): Promise<void> =>
      by.save({
        accountId,
        apiKeyId: KEY,
        response: answered(id, message(`msg_of_${id}`, 'Hello')),
        inputItems: [said(`in_of_${id}`, text(bytes))],
        previousResponseId: undefined,
      });
    const counted = async (accountId = CYD): Promise<number> => {
      const { rows } = await test.database.query<{ bytes: number }>({
        text: `select text_bytes::float8 + (select coalesce(sum(bytes), 0) from text_bytes_change c
            where c.account_id = u.account_id)::float8 as bytes from file_usage u where account_id = $1`,
        values: [accountId],
      });
      return rows[0]?.bytes ?? 0;
    };
    const stored = async (accountId = CYD): Promise<string[]> => {
      const { rows } = await test.database.query<{ id: string }>({
        text: 'select id from text_response where account_id = $1 order by created_at',
        values: [accountId],
      });
      return rows.map(({ id }) => id);
    };
    beforeEach(async () => {
      await test.database.query({
        text: `insert into account (id, name) values ($1, $1) on conflict do nothing`,
        values: [CYD],
      });
      for (const id of await stored()) await store.remove(CYD, id);
    });

    it('stores each content once', async () => {
      await save(store, 'resp_once', 1_000_000);
      const { rows } = await test.database.query<{ bytes: number }>({
        text: `select sum(bytes)::integer as bytes from (
          select octet_length(to_jsonb(r)::text) as bytes from text_response r where account_id = $1
          union all select octet_length(to_jsonb(i)::text) from text_item i where account_id = $1
          union all select octet_length(to_jsonb(p)::text) from text_item_place p where account_id = $1) as kept`,
        values: [CYD],
      });
      expect(rows[0]?.bytes).toBeLessThan(1_010_000);
      const items = await store.items(CYD, ['in_of_resp_once', 'msg_of_resp_once'], FREELY);
      expect(items.get('msg_of_resp_once')).toEqual(message('msg_of_resp_once', 'Hello'));
      expect(items.get('in_of_resp_once')?.['content']).toHaveProperty('length', 1_000_000);
    });

    it('counts it by account, whatever removes it, also where many are stored and removed at once', async () => {
      const ids = Array.from({ length: 40 }, (_, index) => `resp_count_${index}`);
      await Promise.all(ids.map((id) => save(store, id, 10_000)));
      await save(store, 'resp_count_0', 10_000);
      expect(await counted()).toBeGreaterThan(400_000);
      expect(await counted()).toBeLessThan(440_000);
      await Promise.all(ids.slice(0, 20).map((id) => store.remove(CYD, id)));
      await test.database.query({ text: `delete from text_response where account_id = $1`, values: [CYD] });
      expect(await counted()).toBe(0);
    });

    it('forgets the oldest of an account beyond its room, with their items, and nothing of others', async () => {
      const small = storeOf(readProcessConfig({ FILES_ACCOUNT_MB: '1' }));
      for (const id of ['resp_a', 'resp_b', 'resp_c', 'resp_d']) await save(small, id, 300_000);
      expect(await stored()).toEqual(['resp_b', 'resp_c', 'resp_d']);
      expect([...(await store.items(CYD, ['in_of_resp_a', 'msg_of_resp_a'], FREELY)).keys()]).toEqual([]);
      expect((await store.items(CYD, ['in_of_resp_b', 'msg_of_resp_d'], FREELY)).size).toBe(2);
      await expect(store.conversation(CYD, 'resp_a', FREELY)).rejects.toMatchObject(NOT_FOUND);
      await save(small, 'resp_e', 2_000_000);
      expect(await stored()).toEqual(['resp_e']);
      await save(small, 'resp_f', 10);
      expect(await stored()).toEqual(['resp_f']);
      expect(await counted()).toBeLessThan(1_000);
      expect(await stored(ADA)).toContain('resp_1');
    });

    it('forgets beyond the room of each account whose responses end together, and no more than that', async () => {
      const small = storeOf(readProcessConfig({ FILES_ACCOUNT_MB: '1' }));
      const accounts = [CYD, 'acct_dan'] as const;
      await test.database.query({ text: `insert into account (id, name) values ('acct_dan', 'dan')` });
      for (const account of accounts)
        for (const id of ['resp_a', 'resp_b', 'resp_c', 'resp_d']) await save(small, id, 250_000, account);
      await Promise.all([
        ...['resp_e', 'resp_f'].map((id) => save(small, id, 60_000)),
        save(small, 'resp_e', 60_000, 'acct_dan'),
        save(small, 'resp_e', 60_000, ADA),
      ]);
      expect((await stored()).toSorted()).toEqual(['resp_b', 'resp_c', 'resp_d', 'resp_e', 'resp_f']);
      expect((await stored('acct_dan')).toSorted()).toEqual(['resp_b', 'resp_c', 'resp_d', 'resp_e']);
      for (const [account, bytes] of [
        [CYD, 870_000],
        ['acct_dan', 810_000],
      ] as const) {
        expect(await counted(account)).toBeGreaterThan(bytes);
        expect(await counted(account)).toBeLessThan(bytes + 10_000);
      }
    });

    it('opens no more to find items than four times what they may hold', async () => {
      const ids = ['resp_wide_1', 'resp_wide_2'];
      for (const id of ids) await save(store, id, 1_000);
      await test.database.query({
        text: 'update text_response set size_bytes = 140000000 where id = any($1)',
        values: [ids],
      });
      expect((await store.items(CYD, ['msg_of_resp_wide_1'], FREELY)).size).toBe(1);
      await expect(store.items(CYD, ['msg_of_resp_wide_1', 'msg_of_resp_wide_2'], FREELY)).rejects.toMatchObject({
        code: 'request_too_large',
      });
    });

    it.each([10, 400_000])(
      'reads and removes what the version before stored, items of %d bytes apart',
      async (bytes) => {
        const item = said('in_before', text(bytes));
        await test.database.query({
          text: `insert into text_response (account_id, id, response, input_items, size_bytes, expires_at)
          values ($1, 'resp_before', $2, $3, 1000, now() + interval '1 day')`,
          values: [CYD, JSON.stringify(answered('resp_before')), JSON.stringify([item])],
        });
        await test.database.query({
          text: `insert into text_item (account_id, id, response_id, item, size_bytes, expires_at)
          values ($1, 'in_before', 'resp_before', $2, $3, now() + interval '1 day')`,
          values: [CYD, JSON.stringify(item), JSON.stringify(item).length],
        });
        await save(store, 'resp_after', bytes);
        const items = await store.items(CYD, ['in_of_resp_after', 'in_before', 'msg_of_resp_after'], FREELY);
        expect(items.get('in_before')).toEqual(item);
        expect(items.get('msg_of_resp_after')).toEqual(message('msg_of_resp_after', 'Hello'));
        expect(items.get('in_of_resp_after')).toMatchObject({ id: 'in_of_resp_after' });
        await store.remove(CYD, 'resp_before');
        expect([...(await store.items(CYD, ['in_before'], FREELY)).keys()]).toEqual([]);
        const { rows } = await test.database.query({ text: `select from text_item where id = 'in_before'` });
        expect(rows).toEqual([]);
      },
    );
  });
});
