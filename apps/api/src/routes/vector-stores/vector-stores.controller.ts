import { Body, Controller, Delete, Get, Param, Post, Query, Req, UseGuards } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Passage } from '#contracts';
import { type Caller, FileSearch, VectorStoresService } from '#features';
import { AccountId, ApiKeyGuard, CurrentCaller } from '../../http/api-key.guard.js';
import { clientGone, expectClient } from '../../http/client-gone.js';
import { withCode } from '../../http/envelope.js';
import { Reply, Route, Routes } from '../../http/route.js';
import { SerializedBody } from '../../http/serialized-body.js';
import { listObject } from '../uploads/file-object.js';
import { readListQuery } from '../../list-query.js';
import { readNewStore, readSearch, readStoreChange } from './vector-store-bodies.js';
import { resultsObject, storeObject } from './vector-store-objects.js';
import { VECTOR_STORE_OPERATIONS } from './vector-stores.openapi.js';

/** Sets of files that are searched together. */
@Controller('v1/vector_stores')
@UseGuards(ApiKeyGuard)
@Routes({ style: 'files', scope: 'files' })
export class VectorStoresController {
  constructor(
    private readonly stores: VectorStoresService,
    private readonly fileSearch: FileSearch,
  ) {}

  /** Makes a vector store, with files in it if they are named. */
  @Post()
  @Route({ operation: VECTOR_STORE_OPERATIONS.createVectorStore, cost: 'free', answer: 'native' })
  async create(@Body() body: unknown, @AccountId() accountId: string): Promise<SerializedBody> {
    const { settings, files } = readNewStore(body);
    return SerializedBody.json(withCode(storeObject(await this.stores.create(accountId, settings, files))));
  }

  @Get()
  @Route({ operation: VECTOR_STORE_OPERATIONS.listVectorStores, cost: 'free', answer: 'native' })
  async list(@Query() query: Record<string, unknown>, @AccountId() accountId: string): Promise<SerializedBody> {
    const { items, hasMore } = await this.stores.list(accountId, readListQuery(query, { limit: 20, limitMax: 100 }));
    return SerializedBody.json(withCode(listObject(items.map(storeObject), hasMore)));
  }

  @Get(':vector_store_id')
  @Route({ operation: VECTOR_STORE_OPERATIONS.readVectorStore, cost: 'free', answer: 'native' })
  async read(@Param('vector_store_id') id: string, @AccountId() accountId: string): Promise<SerializedBody> {
    return SerializedBody.json(withCode(storeObject(await this.stores.find(accountId, id))));
  }

  /** Changes what the body names. */
  @Post(':vector_store_id')
  @Route({ operation: VECTOR_STORE_OPERATIONS.changeVectorStore, cost: 'free', answer: 'native' })
  async change(
    @Param('vector_store_id') id: string,
    @Body() body: unknown,
    @AccountId() accountId: string,
  ): Promise<SerializedBody> {
    return SerializedBody.json(withCode(storeObject(await this.stores.change(accountId, id, readStoreChange(body)))));
  }

  /** Deletes a vector store; its files stay. */
  @Delete(':vector_store_id')
  @Route({ operation: VECTOR_STORE_OPERATIONS.deleteVectorStore, cost: 'free', answer: 'native' })
  async remove(@Param('vector_store_id') id: string, @AccountId() accountId: string): Promise<SerializedBody> {
    await this.stores.remove(accountId, id);
    return SerializedBody.json(withCode({ id, object: 'vector_store.deleted', deleted: true }));
  }

  /** The passages that fit a query best. */
  @Post(':vector_store_id/search')
  @Route({ operation: VECTOR_STORE_OPERATIONS.searchVectorStore, cost: 'free', answer: 'native' })
  async search(
    @Param('vector_store_id') id: string,
    @Body() body: unknown,
    @CurrentCaller() { accountId, apiKeyId }: Caller,
    @Req() request: Request,
    @Reply() response: Response,
  ): Promise<SerializedBody> {
    const { queries, ...how } = readSearch(body);
    // The request itself is closed as soon as its body has been read: it is the response that tells that a client has left.
    const gone = clientGone(response);
    const found: Passage[] = [];
    try {
      for (const [nth, query] of queries.entries()) {
        const payer = { apiKeyId, requestId: `${request.requestId}.q${nth + 1}` };
        const asked = { accountId, vectorStoreIds: [id], ...how, query, payer };
        found.push(...(await this.fileSearch.search(asked, gone)));
      }
    } catch (error) {
      expectClient(response);
      throw error;
    }
    return SerializedBody.json(withCode(resultsObject(queries, bestOf(found, how.limit))));
  }
}

/** Of passages that several queries found, each once with its best score. */
function bestOf(found: readonly Passage[], limit: number): Passage[] {
  const best = new Map<string, Passage>();
  for (const passage of found.toSorted((left, right) => right.score - left.score)) {
    const place = `${passage.fileId}/${passage.start}`;
    if (!best.has(place)) best.set(place, passage);
  }
  return [...best.values()].slice(0, limit);
}
