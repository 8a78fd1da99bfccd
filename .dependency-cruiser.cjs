/** The layers of the libraries: each may import only those before it in this list. */
const LAYERS = ['contracts', 'platform', 'media', 'sandbox-media', 'providers', 'runtime', 'features'];

/** Test code: specs, the testing library, and what a module keeps in a folder `testing` for its own specs. */
const TESTS = '\\.spec\\.ts$|^tests/|^libs/testing/|^apps/console/test/|^(apps|libs)/.+/testing/';

const noUpwardImport = LAYERS.map((layer, index) => ({
  name: `${layer}-imports-only-below`,
  comment: `libs/${layer} may import only ${LAYERS.slice(0, index).join(', ') || 'nothing of ours'}.`,
  severity: 'error',
  from: { path: `^libs/${layer}/`, pathNot: TESTS },
  to: { path: `^(apps/|libs/(${[...LAYERS.slice(index + 1), 'testing'].join('|')})/)` },
}));

/** Their tests as well, except that these use the testing library. */
const noUpwardImportInTests = LAYERS.slice(0, -1).map((layer, index) => ({
  name: `tests-of-${layer}-import-only-below`,
  severity: 'error',
  from: { path: `^libs/${layer}/` },
  to: { path: `^(apps/|libs/(${LAYERS.slice(index + 1).join('|')})/)` },
}));

module.exports = {
  forbidden: [
    ...noUpwardImport,
    ...noUpwardImportInTests,
    {
      name: 'contracts-does-no-input-or-output',
      severity: 'error',
      from: { path: '^libs/contracts/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^(node:)?(fs|fs/promises|net|http|https|dns|child_process|tls)$' },
    },
    {
      name: 'libraries-are-imported-by-name',
      comment:
        'Another library is imported as #name, never by a relative path into it; only the check of the version of Node and the fakes of vendors have entries of their own.',
      severity: 'error',
      from: { path: '^(apps/[^/]+|libs/[^/]+|agents|attacks|bench|chaos|fuzz|tests)/' },
      to: { path: '^libs/([^/]+)/src/(?!index\\.ts|node-version\\.mjs|media/testing/fakes\\.ts)', pathNot: ['^$1/'] },
    },
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'apps-do-not-meet',
      comment: 'Only the gateway app, which runs all of them in one process, may import another app.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/', pathNot: '^apps/gateway/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'console-imports-types-only',
      comment: 'What browsers run takes nothing of ours but types, and those from #contracts alone.',
      severity: 'error',
      from: { path: '^apps/console/src/' },
      to: { path: '^(libs|apps)/', pathNot: ['^apps/console/src/', '^libs/contracts/src/index\\.ts$'] },
    },
    {
      name: 'console-imports-no-code-of-contracts',
      severity: 'error',
      from: { path: '^apps/console/src/' },
      to: { path: '^libs/contracts/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'tests-stay-tests',
      severity: 'error',
      from: { pathNot: `${TESTS}|^agents/|^attacks/|^bench/|^chaos/|^fuzz/` },
      to: { path: TESTS },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    exclude: { path: '/generated/' },
    enhancedResolveOptions: {
      conditionNames: ['gateway-source', 'import', 'node', 'default'],
      exportsFields: ['exports'],
    },
    doNotFollow: { path: 'node_modules' },
  },
};
