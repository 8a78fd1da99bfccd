import { Injectable } from '@nestjs/common';
import {
  type AdminUpstream,
  type AdminUpstreamProof,
  GatewayError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '#contracts';
import {
  type CallsLately,
  LatestCalls,
  MediaCircuits,
  MediaUpstreams,
  MediaUpstreamsService,
  proofOf,
  TextCircuits,
  type TextUpstream,
  TextUpstreams,
  TextUpstreamsService,
  type UpstreamView,
} from '#features';

/**
 * Upstreams of text and of media behind one list of ids, as the admin API and the console show them, with how they do, as this process
 * and the journal of calls know it.
 */
@Injectable()
export class Upstreams {
  constructor(
    private readonly text: TextUpstreamsService,
    private readonly media: MediaUpstreamsService,
    private readonly inService: TextUpstreams,
    private readonly mediaInService: MediaUpstreams,
    private readonly circuits: TextCircuits,
    private readonly mediaCircuits: MediaCircuits,
    private readonly calls: LatestCalls,
  ) {}

  async all(): Promise<AdminUpstream[]> {
    const [text, media, textCalls, mediaCalls] = await Promise.all([
      this.text.list(),
      this.media.list(),
      this.calls.text(),
      this.calls.media(),
    ]);
    return [
      ...text.map((view) => this.statusOf(view, 'text', textCalls)),
      ...media.map((view) => this.statusOf(view, 'media', mediaCalls)),
    ];
  }

  /** @throws GatewayError `not_found`. */
  async one(id: string): Promise<AdminUpstream> {
    const found = (await this.all()).find((upstream) => upstream.id === id);
    if (found) return found;
    throw new GatewayError('not_found', `There is no upstream "${id.slice(0, 64)}".`, { param: 'upstream_id' });
  }

  /** The service that has this id; that of text where neither has it, which then says so. */
  async owning(id: string): Promise<TextUpstreamsService | MediaUpstreamsService> {
    return (await this.media.find(id)) ? this.media : this.text;
  }

  /** One call that needs the key, free where the vendor has such a one. @throws GatewayError `not_found`; `conflict`: it cannot be called. */
  async verify(id: string, signal: AbortSignal): Promise<AdminUpstreamProof> {
    if ((await this.owning(id)) === this.media) return this.media.verify(id, signal);
    const { problem } = await this.text.read(id);
    const live = this.inService.all.find(({ provider }) => provider.id === id);
    if (live?.provider.verify) return textProof(live, signal);
    const why =
      problem ?? 'it is the sandbox, or switched off. Switch it on with the weight 0 to try it without requests.';
    throw new GatewayError('conflict', `The upstream "${id}" cannot be called: ${why}`, { param: 'upstream_id' });
  }

  /** @throws GatewayError `invalid_parameter`. */
  ofKind(kind: JsonValue): TextUpstreamsService | MediaUpstreamsService {
    if (kind === 'text') return this.text;
    if (kind === 'media') return this.media;
    throw GatewayError.ofField('kind', 'must be text or media');
  }

  private statusOf(
    view: UpstreamView,
    kind: AdminUpstream['kind'],
    lately: ReadonlyMap<string, CallsLately>,
  ): AdminUpstream {
    const { id, problem, settings } = view;
    const coolingMs = kind === 'text' ? this.textCoolingMs(id) : this.mediaCoolingMs(id);
    const { last_error: error, ...calls } = lately.get(id) ?? { ...NO_CALLS, last_error: null };
    const enabled = settings['enabled'] !== false;
    return {
      ...view,
      kind,
      enabled,
      health: {
        state: stateOf(enabled, problem, coolingMs),
        resumes_at: enabled && coolingMs > 0 ? new Date(Date.now() + coolingMs).toISOString() : null,
        calls,
        last_error: error && { ...error, time: new Date(error.time).toISOString() },
      },
    };
  }

  private textCoolingMs(id: string): number {
    const live = this.inService.all.find(({ provider }) => provider.id === id);
    return live ? this.circuits.coolingMs(live) : 0;
  }

  private mediaCoolingMs(id: string): number {
    const routed = this.mediaInService.byId(id);
    return routed ? this.mediaCircuits.coolingForAllMs(routed) : 0;
  }
}

function stateOf(enabled: boolean, problem: string | null, coolingMs: number): AdminUpstream['health']['state'] {
  if (!enabled) return 'off';
  if (problem !== null) return 'problem';
  return coolingMs > 0 ? 'cooling_down' : 'serving';
}

async function textProof({ provider, models }: TextUpstream, signal: AbortSignal): Promise<AdminUpstreamProof> {
  const served = [...(models ?? [])];
  const verified = await provider.verify!(served[0]?.[1], signal);
  const { requestId } = verified;
  const traits = Object.fromEntries(
    served.flatMap(([model, upstreamModel]) => {
      const held = provider.traitsOf?.(upstreamModel);
      return held ? [[model, held] as const] : [];
    }),
  );
  return {
    ...proofOf(provider.id, verified.verified, requestId === undefined ? {} : { requestId }, traits),
    models: served.map(([model, upstreamModel]) => ({
      model,
      upstream_model: upstreamModel,
      listed: verified.listed?.includes(upstreamModel) ?? null,
    })),
  };
}

const NO_CALLS = { ended: 0, succeeded: 0, p50_ms: null, p95_ms: null };

/** The fields are checked by the definition that the file has, too. @throws GatewayError `invalid_parameter`. */
export function upstreamSettings(body: unknown): JsonObject {
  if (isJsonObject(body)) return body as JsonObject;
  throw new GatewayError('invalid_parameter', 'The body must be a JSON object.');
}
