/** The walls of the house: each floor may import only the floors before it in this list. */
const FLOORS = ['contracts', 'platform', 'media', 'sandbox-media', 'providers', 'runtime', 'features'];

/** Test code: specs, the testing library, and what a room keeps in a folder `testing` for its own specs. */
const TESTS = '\\.spec\\.ts$|^libs/testing/|^(apps|libs)/.+/testing/';

const noUpwardImport = FLOORS.map((floor, index) => ({
  name: `${floor}-imports-only-below`,
  comment: `libs/${floor} stands on floor ${index + 1}: it may import only ${FLOORS.slice(0, index).join(', ') || 'nothing of ours'}.`,
  severity: 'error',
  from: { path: `^libs/${floor}/`, pathNot: TESTS },
  to: { path: `^(apps/|libs/(${[...FLOORS.slice(index + 1), 'testing'].join('|')})/)` },
}));

module.exports = {
  forbidden: [
    ...noUpwardImport,
    {
      name: 'contracts-does-no-input-or-output',
      severity: 'error',
      from: { path: '^libs/contracts/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^(node:)?(fs|fs/promises|net|http|https|dns|child_process|tls)$' },
    },
    {
      name: 'libraries-are-entered-by-their-door',
      comment:
        'Another library is imported as #name, never by a relative path into its rooms; only the look at the version of Node has a door of its own.',
      severity: 'error',
      from: { path: '^(apps/[^/]+|libs/[^/]+|attacks|bench|chaos|fuzz)/' },
      to: { path: '^libs/([^/]+)/src/(?!index\\.ts|node-version\\.mjs)', pathNot: ['^$1/'] },
    },
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'apps-do-not-meet',
      comment: 'Only the gateway app, which runs all of them in one process, may import another app.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/', pathNot: '^apps/gateway/' },
      to: { path: '^apps/', pathNot: ['^apps/$1/', '^apps/gateway/src/testing/'] },
    },
    {
      name: 'tests-stay-tests',
      severity: 'error',
      from: { pathNot: `${TESTS}|^attacks/|^bench/|^chaos/|^fuzz/` },
      to: { path: TESTS },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    exclude: { path: '/generated/' },
    enhancedResolveOptions: { conditionNames: ['source', 'import', 'node', 'default'], exportsFields: ['exports'] },
    doNotFollow: { path: 'node_modules' },
  },
};
