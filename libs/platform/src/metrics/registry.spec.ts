import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { mergedText, mergedTotals, type Series } from './registry.js';

/** What a process with so many requests reports, as its parent gets it. */
async function reportOf(requests: number): Promise<Series[]> {
  const registers = [new Registry()];
  const counter = new Counter({ name: 'requests_total', help: 'Requests.', labelNames: ['code'], registers });
  const histogram = new Histogram({ name: 'seconds', help: 'Time.', buckets: [1, 2], registers });
  new Gauge({ name: 'open', help: 'Open.', registers }).set(requests);
  new Gauge({ name: 'fleet', help: 'Of all.', aggregator: 'first', registers }).set(requests);
  new Gauge({ name: 'warning', help: 'Of one.', aggregator: 'max', registers }).set(requests);
  for (let request = 0; request < requests; request += 1) {
    counter.inc({ code: request % 2 === 0 ? '200' : '404' });
    histogram.observe(1.5);
  }
  return JSON.parse(JSON.stringify(await registers[0]?.getMetricsAsJSON())) as Series[];
}

describe('The series of several processes', () => {
  it('are one page: counters, histograms and work summed, of what all see alike the first, of warnings the highest', async () => {
    const page = await mergedText([await reportOf(3), await reportOf(5)]);
    expect(page).toContain('requests_total{code="200"} 5\nrequests_total{code="404"} 3');
    expect(page).toContain('seconds_bucket{le="1"} 0\nseconds_bucket{le="2"} 8\nseconds_bucket{le="+Inf"} 8');
    expect(page).toContain('seconds_sum 12\nseconds_count 8');
    expect(page).toContain('open 8');
    expect(page).toContain('fleet 3');
    expect(page).toContain('warning 5');
  });

  it('leave behind what was counted, and nothing of what stands for a moment', async () => {
    const left = mergedTotals([mergedTotals([await reportOf(3)]), await reportOf(5)]);
    expect(left.map(({ name }) => name)).toEqual(['requests_total', 'seconds']);
    expect(await mergedText([await reportOf(1), left])).toContain('requests_total{code="200"} 6');
    expect(await mergedText([await reportOf(1), left])).toContain('seconds_count 9');
  });
});
