/** The layers of the libraries: each may import only those before it in this list. */
const LAYERS = ['contracts', 'platform', 'media', 'sandbox-media', 'providers', 'runtime', 'features'];

/** Test code: specs, the testing library, and what a module keeps in a folder `testing` for its own specs. */
const TESTS = '\\.spec\\.ts$|^libs/testing/|^(apps|libs)/.+/testing/';

const noUpwardImport = LAYERS.map((layer, index) => ({
  name: `${layer}-imports-only-below`,
  comment: `libs/${layer} may import only ${LAYERS.slice(0, index).join(', ') || 'nothing of ours'}.`,
  severity: 'error',
  from: { path: `^libs/${layer}/`, pathNot: TESTS },
  to: { path: `^(apps/|libs/(${[...LAYERS.slice(index + 1), 'testing'].join('|')})/)` },
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
      name: 'libraries-are-imported-by-name',
      comment:
        'Another library is imported as #name, never by a relative path into it; only the check of the version of Node has an entry of its own.',
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
