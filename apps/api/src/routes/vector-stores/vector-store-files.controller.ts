import { Body, Controller, Delete, Get, Param, Post, Query, Res, UseGuards } from '@nestjs/common';
import type { Response } from 'express';
import { ENTRY_STATES, type EntryListQuery, VectorStoreFilesService, VectorStoresService } from '#features';
import { nextTurn, Turns } from '#platform';
import { AccountId, ApiKeyGuard } from '../../http/api-key.guard.js';
import { drained } from '../../http/event-stream.js';
import { withCode } from '../../http/envelope.js';
import { MemoryReservations } from '../../http/memory-reservations.js';
import { Route, Routes } from '../../http/route.js';
import { JSON_TYPE, SerializedBody, STALL_MS } from '../../http/serialized-body.js';
import { listObject } from '../uploads/file-object.js';
import { oneOf, readListQuery } from '../../list-query.js';
import { readAttributes, readBatch, readEntry } from './vector-store-bodies.js';
import { VECTOR_STORE_FILE_OPERATIONS } from './vector-store-files.openapi.js';
import { batchObject, entryObject } from './vector-store-objects.js';

/** About how much is written at once, in characters. */
const WRITTEN_AT_ONCE = 64 * 1024;

/**
 * Writes the text of a file as one page of one text, a piece at a time and no faster than the client reads; one that reads
 * nothing is cut off, and so is an answer whose text ends too early.
 */
async function writeContent(response: Response, pieces: AsyncIterable<string>): Promise<void> {
  const data = [{ type: 'text', text: '' }];
  const page = withCode({ object: 'vector_store.file_content.page', data, has_more: false, next_page: null });
  const [before, behind] = JSON.stringify(page).split('"text":""');
  response.writeHead(200, { 'content-type': JSON_TYPE });
  if (response.req.method === 'HEAD') {
    response.end();
    return;
  }
  const turns = new Turns();
  let waiting = `${before}"text":"`;
  for await (const piece of pieces) {
    waiting += JSON.stringify(piece).slice(1, -1);
    if (turns.isOver) await nextTurn(turns);
    if (waiting.length < WRITTEN_AT_ONCE) continue;
    if (!response.write(waiting) && !response.destroyed) await drained(response, STALL_MS);
    if (response.destroyed) return;
    waiting = '';
  }
  response.end(`${waiting}"${behind}`);
}

type Queried = Record<string, unknown>;

@Controller('v1/vector_stores/:vector_store_id')
@UseGuards(ApiKeyGuard)
@Routes({ style: 'files', scope: 'files' })
export class VectorStoreFilesController {
  constructor(
    private readonly stores: VectorStoresService,
    private readonly entries: VectorStoreFilesService,
    private readonly memory: MemoryReservations,
  ) {}

  @Post('files')
  @Route({ operation: VECTOR_STORE_FILE_OPERATIONS.addVectorStoreFile, cost: 'free', answer: 'native' })
  async add(
    @Param('vector_store_id') vectorStoreId: string,
    @Body() body: unknown,
    @AccountId() accountId: string,
  ): Promise<SerializedBody> {
    const entry = readEntry(body);
    await this.entries.add({ accountId, vectorStoreId, files: [entry] });
    return this.entry(accountId, vectorStoreId, entry.fileId);
  }

  @Get('files')
  @Route({ operation: VECTOR_STORE_FILE_OPERATIONS.listVectorStoreFiles, cost: 'free', answer: 'native' })
  async list(
    @Param('vector_store_id') vectorStoreId: string,
    @Query() query: Queried,
    @AccountId() accountId: string,
  ): Promise<SerializedBody> {
    await this.stores.find(accountId, vectorStoreId);
    return this.listEntries(accountId, vectorStoreId, readEntryQuery(query));
  }

  @Get('files/:file_id')
  @Route({ operation: VECTOR_STORE_FILE_OPERATIONS.readVectorStoreFile, cost: 'free', answer: 'native' })
  async read(
    @Param('vector_store_id') vectorStoreId: string,
    @Param('file_id') fileId: string,
    @AccountId() accountId: string,
  ): Promise<SerializedBody> {
    return this.entry(accountId, vectorStoreId, fileId);
  }

  /** Gives a file other attributes. */
  @Post('files/:file_id')
  @Route({ operation: VECTOR_STORE_FILE_OPERATIONS.changeVectorStoreFile, cost: 'free', answer: 'native' })
  async change(
    @Param('vector_store_id') vectorStoreId: string,
    @Param('file_id') fileId: string,
    @Body() body: unknown,
    @AccountId() accountId: string,
  ): Promise<SerializedBody> {
    await this.entries.change(accountId, vectorStoreId, fileId, readAttributes(body));
    return this.entry(accountId, vectorStoreId, fileId);
  }

  /** Takes a file out of the vector store; the file stays. */
  @Delete('files/:file_id')
  @Route({ operation: VECTOR_STORE_FILE_OPERATIONS.removeVectorStoreFile, cost: 'free', answer: 'native' })
  async remove(
    @Param('vector_store_id') vectorStoreId: string,
    @Param('file_id') fileId: string,
    @AccountId() accountId: string,
  ): Promise<SerializedBody> {
    await this.entries.remove(accountId, vectorStoreId, fileId);
    return SerializedBody.json(withCode({ id: fileId, object: 'vector_store.file.deleted', deleted: true }));
  }

  /** The text of a file, in which the places of passages count. */
  @Get('files/:file_id/content')
  @Route({ operation: VECTOR_STORE_FILE_OPERATIONS.readVectorStoreFileContent, cost: 'free', answer: 'native' })
  async content(
    @Param('vector_store_id') vectorStoreId: string,
    @Param('file_id') fileId: string,
    @AccountId() accountId: string,
    @Res() response: Response,
  ): Promise<void> {
    const reserve = this.memory.reserverFor(response, accountId);
    await writeContent(response, await this.entries.content(accountId, vectorStoreId, fileId, reserve));
  }

  @Post('file_batches')
  @Route({ operation: VECTOR_STORE_FILE_OPERATIONS.addFileBatch, cost: 'free', answer: 'native' })
  async addBatch(
    @Param('vector_store_id') vectorStoreId: string,
    @Body() body: unknown,
    @AccountId() accountId: string,
  ): Promise<SerializedBody> {
    const batch = await this.entries.addBatch({ accountId, vectorStoreId, files: readBatch(body) });
    return SerializedBody.json(withCode(batchObject(batch)));
  }

  @Get('file_batches/:batch_id')
  @Route({ operation: VECTOR_STORE_FILE_OPERATIONS.readFileBatch, cost: 'free', answer: 'native' })
  async readBatch(
    @Param('vector_store_id') vectorStoreId: string,
    @Param('batch_id') batchId: string,
    @AccountId() accountId: string,
  ): Promise<SerializedBody> {
    return SerializedBody.json(withCode(batchObject(await this.entries.findBatch(accountId, vectorStoreId, batchId))));
  }

  /** Leaves out what is not indexed yet. */
  @Post('file_batches/:batch_id/cancel')
  @Route({ operation: VECTOR_STORE_FILE_OPERATIONS.cancelFileBatch, cost: 'free', answer: 'native' })
  async cancelBatch(
    @Param('vector_store_id') vectorStoreId: string,
    @Param('batch_id') batchId: string,
    @AccountId() accountId: string,
  ): Promise<SerializedBody> {
    const batch = await this.entries.cancelBatch(accountId, vectorStoreId, batchId);
    return SerializedBody.json(withCode(batchObject(batch)));
  }

  @Get('file_batches/:batch_id/files')
  @Route({ operation: VECTOR_STORE_FILE_OPERATIONS.listFileBatchFiles, cost: 'free', answer: 'native' })
  async listBatch(
    @Param('vector_store_id') vectorStoreId: string,
    @Param('batch_id') batchId: string,
    @Query() query: Queried,
    @AccountId() accountId: string,
  ): Promise<SerializedBody> {
    await this.entries.findBatch(accountId, vectorStoreId, batchId);
    return this.listEntries(accountId, vectorStoreId, { ...readEntryQuery(query), batchId });
  }

  private async entry(accountId: string, vectorStoreId: string, fileId: string): Promise<SerializedBody> {
    return SerializedBody.json(withCode(entryObject(await this.entries.find(accountId, vectorStoreId, fileId))));
  }

  private async listEntries(accountId: string, vectorStoreId: string, query: EntryListQuery): Promise<SerializedBody> {
    const { items, hasMore } = await this.entries.list(accountId, vectorStoreId, query);
    return SerializedBody.json(withCode(listObject(items.map(entryObject), hasMore)));
  }
}

const readEntryQuery = (query: Queried): EntryListQuery => ({
  ...readListQuery(query, { limit: 20, limitMax: 100 }),
  state: oneOf(query, 'filter', ENTRY_STATES),
});
