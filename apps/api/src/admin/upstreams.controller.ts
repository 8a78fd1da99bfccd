import { GatewayError, isJsonObject, type JsonObject } from '#contracts';
import { UpstreamsService, type UpstreamView } from '#features';
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { operatorOf } from './admin-gate.js';

interface Answer<Data> {
  readonly code: 200;
  readonly data: Data;
}

/** The upstreams of text models, for operators. Changes reach every replica within seconds. */
@Controller('admin/v1/upstreams')
export class UpstreamsController {
  constructor(private readonly upstreams: UpstreamsService) {}

  @Get()
  async list(): Promise<Answer<object[]>> {
    return answer((await this.upstreams.list()).map(toBody));
  }

  @Get(':upstream_id')
  async read(@Param('upstream_id') id: string): Promise<Answer<object>> {
    return answer(toBody(await this.upstreams.read(id)));
  }

  @Post()
  @HttpCode(200)
  async create(@Body() body: unknown, @Req() request: Request): Promise<Answer<object>> {
    return answer(toBody(await this.upstreams.create(operatorOf(request), jsonObject(body))));
  }

  /** Changes it, as a JSON merge patch says; `enabled` takes it out of service and back. */
  @Patch(':upstream_id')
  async update(
    @Param('upstream_id') id: string,
    @Body() body: unknown,
    @Req() request: Request,
  ): Promise<Answer<object>> {
    return answer(toBody(await this.upstreams.update(operatorOf(request), id, jsonObject(body))));
  }

  /** Takes it away; what runs on it ends as it would have. */
  @Delete(':upstream_id')
  async remove(
    @Param('upstream_id') id: string,
    @Req() request: Request,
  ): Promise<Answer<{ id: string; deleted: true }>> {
    await this.upstreams.remove(operatorOf(request), id);
    return answer({ id, deleted: true });
  }
}

const answer = <Data>(data: Data): Answer<Data> => ({ code: 200, data });

/** Settings beside what is known of them; they are an operator's own words, so they are shown as they are. */
const toBody = ({ id, settings, created_at, updated_at, ...rest }: UpstreamView): object => ({
  ...settings,
  id,
  ...rest,
  created_at: created_at?.toISOString() ?? null,
  updated_at: updated_at?.toISOString() ?? null,
});

/** The fields are checked by the definition that the file has, too. @throws GatewayError `invalid_parameter`. */
function jsonObject(body: unknown): JsonObject {
  if (isJsonObject(body)) return body as JsonObject;
  throw new GatewayError('invalid_parameter', 'The body must be a JSON object.');
}
