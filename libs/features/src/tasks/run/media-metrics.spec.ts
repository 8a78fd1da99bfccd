import { MediaFailure } from '#contracts';
import { Cooldowns, signals } from '#platform';
import type { Platform } from '#runtime';
import { ControllableClock } from '#testing';
import { ScriptedUpstream } from './testing/scripted-upstream.js';
import { MediaCircuits } from '../../upstreams/upstream-circuits.js';
import { MediaMetrics } from './media-metrics.js';
import { MediaUpstreams } from '../../upstreams/media-upstreams.js';

const MODEL = 'eta-image-2.0';

describe('The numbers of media upstreams', () => {
  const [one, other] = [new ScriptedUpstream('metrics-one'), new ScriptedUpstream('metrics-other')];
  const both = [one.routed(), other.routed()] as const;

  /** Metrics that were added to nothing: `show` is what a scrape calls. */
  function watch() {
    const upstreams = new MediaUpstreams();
    upstreams.exchange(both);
    const circuits = new MediaCircuits(new Cooldowns(new ControllableClock()));
    const platform = { metrics: { add: () => undefined } } as unknown as Platform;
    return { upstreams, circuits, metrics: new MediaMetrics(upstreams, circuits, 'image', platform) };
  }

  const coolingDown = async (upstream: string): Promise<number | undefined> =>
    (await signals.mediaCoolingDown.get()).values.find(({ labels }) => labels.upstream === upstream)?.value;
  const closed = async (model: string): Promise<number | undefined> =>
    (await signals.mediaUnavailable.get()).values.find(({ labels }) => labels.model === model)?.value;
  const unpaid = (scope: 'account' | 'model') => new MediaFailure('unfit', 'not_paid', { scope });
  const admission = { model: MODEL, accountId: 'acct', probes: [] };

  it('show which upstream cools down, and a model as closed only when all of its upstreams do', async () => {
    const { circuits, metrics } = watch();
    circuits.markMisconfigured(both[0], unpaid('account'), admission);
    metrics.show();
    expect([await coolingDown(one.id), await coolingDown(other.id), await closed(MODEL)]).toEqual([1, 0, 0]);
    circuits.markMisconfigured(both[1], unpaid('model'), admission);
    metrics.show();
    // The other one makes its other models.
    expect([await coolingDown(other.id), await closed(MODEL), await closed('theta-image-turbo')]).toEqual([0, 1, 0]);
  });

  it('forget an upstream that left, so that it does not seem to cool down forever', async () => {
    const { upstreams, circuits, metrics } = watch();
    circuits.markMisconfigured(both[0], unpaid('account'), admission);
    metrics.show();
    upstreams.exchange([both[1]]);
    metrics.show();
    expect([await coolingDown(one.id), await coolingDown(other.id)]).toEqual([undefined, 0]);
  });
});
