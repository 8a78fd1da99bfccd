import { metricsRegistry } from './registry.js';
import { InFlight } from './signals.js';

describe('The gauge of work in flight', () => {
  it('is reported by label as it is at the time of the scrape, down to zero', async () => {
    const shown = () => metricsRegistry.getSingleMetricAsString('test_in_flight');
    const visits = new InFlight('test_in_flight', 'Visits.', 'room');
    visits.begin('hall');
    visits.begin('hall');
    visits.begin('yard');
    visits.end('yard');
    expect(await shown()).toContain('test_in_flight{room="hall"} 2\ntest_in_flight{room="yard"} 0');
    visits.end('hall');
    expect(await shown()).toContain('test_in_flight{room="hall"} 1');
  });
});
