import { Injectable } from '@nestjs/common';
import { GatewayError, isJsonObject, type JsonObject, type JsonValue } from '#contracts';
import { MediaUpstreamsService, type UpstreamProof, TextUpstreamsService } from '#features';

/** Upstreams of text and of media behind one list of ids, as the admin API and the console show them. */
@Injectable()
export class UpstreamsByKind {
  constructor(
    private readonly text: TextUpstreamsService,
    private readonly media: MediaUpstreamsService,
  ) {}

  /** The service that has this id; that of text where neither has it, which then says so. */
  async owning(id: string): Promise<TextUpstreamsService | MediaUpstreamsService> {
    return (await this.media.find(id)) ? this.media : this.text;
  }

  /** One free call that needs the key. @throws GatewayError `not_found`; `conflict`: it is of text, or cannot be called. */
  async verify(id: string, signal: AbortSignal): Promise<UpstreamProof> {
    if ((await this.owning(id)) === this.media) return this.media.verify(id, signal);
    await this.text.read(id);
    const message = 'Only upstreams of media can be verified: those of text have no call that is free.';
    throw new GatewayError('conflict', message, { param: 'upstream_id' });
  }

  /** @throws GatewayError `invalid_parameter`. */
  ofKind(kind: JsonValue): TextUpstreamsService | MediaUpstreamsService {
    if (kind === 'text') return this.text;
    if (kind === 'media') return this.media;
    throw new GatewayError('invalid_parameter', 'kind must be text or media.', { param: 'kind' });
  }
}

/** The fields are checked by the definition that the file has, too. @throws GatewayError `invalid_parameter`. */
export function upstreamSettings(body: unknown): JsonObject {
  if (isJsonObject(body)) return body as JsonObject;
  throw new GatewayError('invalid_parameter', 'The body must be a JSON object.');
}
