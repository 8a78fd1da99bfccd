import { Controller, Delete, Get, Param, Post, Query, UseGuards } from '@nestjs/common';
import type { Response } from 'express';
import { GatewayError, isIdentifier } from '#contracts';
import {
  INCLUDABLE,
  type Includable,
  type InputItemQuery,
  ItemStore,
  replayResponse,
  responsesStyle,
  writeInputItem,
} from '#features';
import { AccountId, ApiKeyGuard } from '../../http/api-key.guard.js';
import { DataWith, withCode } from '../../http/envelope.js';
import { Reply, Route, Routes } from '../../http/route.js';
import { SerializedBody } from '../../http/serialized-body.js';
import { MemoryReservations } from '../../http/memory-reservations.js';
import { writeEvents } from '../../http/event-stream.js';
import { mustBe, oneOf } from '../../list-query.js';
import { TEXT_OPERATIONS } from './text.openapi.js';

/** What an account keeps of its responses. */
@Controller('v1/responses')
@UseGuards(ApiKeyGuard)
@Routes({ style: 'responses', scope: 'responses', cors: true })
export class StoredResponsesController {
  constructor(
    private readonly items: ItemStore,
    private readonly memory: MemoryReservations,
  ) {}

  /** A stored response; with `stream=true` as the events that it would have been streamed in. */
  @Get(':id')
  @Route({ operation: TEXT_OPERATIONS.readResponse, cost: 'free', answer: 'native' })
  async read(
    @Param('id') id: string,
    @Query() query: Record<string, unknown>,
    @AccountId() accountId: string,
    @Reply() response: Response,
  ): Promise<SerializedBody | undefined> {
    const { stream, startingAfter } = readReplayQuery(query);
    readInclude(query);
    const stored = await this.items.response(accountId, id, this.memory.reserverFor(response, accountId));
    if (!stream) return new SerializedBody(responsesStyle.wrap(JSON.stringify(stored), stored));
    await writeEvents(response, replayResponse(stored, startingAfter));
    return undefined;
  }

  /** Forgets a stored response, with its items. */
  @Delete(':id')
  @Route({ operation: TEXT_OPERATIONS.deleteResponse, cost: 'free' })
  async remove(@Param('id') id: string, @AccountId() accountId: string): Promise<DataWith<object>> {
    await this.items.remove(accountId, id);
    const gone = { id, object: 'response', deleted: true };
    return new DataWith(gone, gone);
  }

  /** What a stored response was made from, page by page. */
  @Get(':id/input_items')
  @Route({ operation: TEXT_OPERATIONS.listInputItems, cost: 'free', answer: 'native' })
  async inputItems(
    @Param('id') id: string,
    @Query() query: Record<string, unknown>,
    @AccountId() accountId: string,
    @Reply() response: Response,
  ): Promise<SerializedBody> {
    const include = readInclude(query);
    const reserve = this.memory.reserverFor(response, accountId);
    const { items, hasMore } = await this.items.inputItems(accountId, id, readInputItemQuery(query), reserve);
    const data = items.map((item) => writeInputItem(item, include));
    const [first, last] = [items[0]?.id ?? null, items.at(-1)?.id ?? null];
    return SerializedBody.longJson(
      withCode({ object: 'list', data, first_id: first, last_id: last, has_more: hasMore }),
    );
  }

  /** Says why nothing is to be stopped: what is stored is finished. */
  @Post(':id/cancel')
  @Route({ operation: TEXT_OPERATIONS.cancelResponse, cost: 'free', answer: 'native' })
  async cancel(@Param('id') id: string, @AccountId() accountId: string, @Reply() response: Response): Promise<never> {
    await this.items.response(accountId, id, this.memory.reserverFor(response, accountId));
    throw new GatewayError(
      'invalid_parameter',
      'Only a response that is made in the background can be cancelled, and the gateway makes none: this one is finished. To stop a reply while it is written, close its connection.',
      { param: 'id' },
    );
  }
}

type SentQuery = Readonly<Record<string, unknown>>;

const MOST_ITEMS = 100;
const ITEMS_OF_A_PAGE = 20;

function wholeNumber(query: SentQuery, param: string, min: number, max: number): number | undefined {
  const sent = query[param];
  if (sent === undefined) return undefined;
  const number = typeof sent === 'string' && /^\d{1,15}$/.test(sent) ? Number(sent) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw mustBe(
    param,
    max === Number.MAX_SAFE_INTEGER ? `a whole number of at least ${min}` : `a whole number from ${min} to ${max}`,
  );
}

/**
 * What besides is asked for: `include`, once or several times, or `include[]` as client libraries write lists.
 *
 * @throws GatewayError `invalid_parameter` naming what may be asked for.
 */
function readInclude(query: SentQuery): readonly Includable[] {
  const sent = [query['include'], query['include[]']].flat().filter((name) => name !== undefined);
  return sent.map((name) => {
    const known = INCLUDABLE.find((includable) => includable === name);
    if (known) return known;
    throw mustBe('include', `a list of ${INCLUDABLE.join(', ')}`);
  });
}

/** @throws GatewayError `invalid_parameter`, by the name of the parameter. */
function readInputItemQuery(query: SentQuery): InputItemQuery {
  const { after } = query;
  if (after !== undefined && !isIdentifier(after)) throw mustBe('after', 'the id of an item');
  return {
    limit: wholeNumber(query, 'limit', 1, MOST_ITEMS) ?? ITEMS_OF_A_PAGE,
    order: oneOf(query, 'order', ['asc', 'desc']) ?? 'desc',
    after,
  };
}

/** Whether a stored response is sent as a stream, and behind which event it begins. */
interface ReplayQuery {
  readonly stream: boolean;
  readonly startingAfter: number | undefined;
}

/** @throws GatewayError `invalid_parameter`, by the name of the parameter. */
function readReplayQuery(query: SentQuery): ReplayQuery {
  const stream = oneOf(query, 'stream', ['true', 'false']) === 'true';
  const startingAfter = wholeNumber(query, 'starting_after', 0, Number.MAX_SAFE_INTEGER);
  if (startingAfter !== undefined && !stream)
    throw GatewayError.ofField('starting_after', 'belongs to a stream: send stream=true with it');
  return { stream, startingAfter };
}
