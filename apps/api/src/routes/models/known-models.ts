import { GatewayError, MODEL_IDS, nearestNames } from '#contracts';
import { type Caller, TextUpstreams } from '#features';
import { Injectable } from '@nestjs/common';

/** The models there are, as far as a key may use them. */
@Injectable()
export class KnownModels {
  constructor(private readonly upstreams: TextUpstreams) {}

  /** What the key may use, media models first. */
  all(caller: Pick<Caller, 'allowedModels'>): string[] {
    const { upstreams } = this;
    return allowed([...new Set([...MODEL_IDS, ...upstreams.models(), ...upstreams.embeddingModels()])], caller);
  }

  /** Whether this model makes embeddings, and nothing else. */
  isEmbedding(id: string): boolean {
    return !this.upstreams.has(id) && this.upstreams.embeddingModels().includes(id);
  }

  /** The text models that the key may use. */
  text(caller: Caller): string[] {
    return allowed(this.upstreams.models(), caller);
  }
}

const allowed = (models: readonly string[], { allowedModels }: Pick<Caller, 'allowedModels'>): string[] =>
  models.filter((id) => allowedModels.length === 0 || allowedModels.includes(id));

/** @throws GatewayError `model_not_found` that suggests the nearest names. */
export function expectKnown(id: string, models: readonly string[]): void {
  if (models.includes(id)) return;
  const near = nearestNames(id, models, 3);
  const advice = near.length > 0 ? `Did you mean ${near.join(' or ')}?` : 'GET /v1/models lists those there are.';
  throw new GatewayError('model_not_found', `model "${id.slice(0, 64)}" does not exist. ${advice}`, {
    param: 'model',
  });
}
