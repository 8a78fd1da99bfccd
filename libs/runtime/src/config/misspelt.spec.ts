import './process-config.js';
import { explainMisspelt, misspeltVariables } from '#platform';

describe('A misspelt variable', () => {
  it.each([
    ['PRT', 'PORT'],
    ['PROT', 'PORT'],
    ['port', 'PORT'],
    ['HOTS', 'HOST'],
    ['DATADIR', 'DATA_DIR'],
    ['DATA-DIR', 'DATA_DIR'],
    ['DATABSE_URL', 'DATABASE_URL'],
    ['DATABASE_ADMIN_TOKEN', undefined],
    ['ADMIN_TOKN', 'ADMIN_TOKEN'],
    ['GATEWAY_APIKEY', 'GATEWAY_API_KEY'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['SHUTDOWN_GRACE_SECOND', 'SHUTDOWN_GRACE_SECONDS'],
    ['DATABASE_POOL', 'DATABASE_POOL_SIZE'],
    ['DATABASE', undefined],
  ])('%s is taken for %s', (name, meant) => {
    expect(misspeltVariables({ [name]: '4' })).toEqual(meant === undefined ? [] : [{ name, meant }]);
  });

  it('is told from one that has a new name, which it is told by', () => {
    const found = misspeltVariables({ SANDBOX_SELLS: 'true' });
    expect(found).toEqual([{ name: 'SANDBOX_SELLS', meant: 'SANDBOX_BILLING_ENABLED', isFormer: true }]);
    expect(found.map(explainMisspelt)).toEqual([
      'SANDBOX_SELLS is now SANDBOX_BILLING_ENABLED; the old name is read in this release for the last time.',
    ]);
  });

  it('is not seen in what shells, systems, package managers and orchestrators set', () => {
    const names =
      'PATH PWD OLDPWD HOME HOSTNAME LANG LC_ALL TERM SHELL USER LOGNAME MAIL EDITOR SHLVL _ TZ TMPDIR NODE_ENV NODE_OPTIONS DEBUG COLUMNS LINES ' +
      'npm_config_port npm_package_name npm_lifecycle_event INIT_CWD KUBERNETES_PORT KUBERNETES_SERVICE_HOST REDIS_PORT REDIS_SERVICE_PORT ' +
      'POSTGRES_PASSWORD PGHOST PGPORT AWS_REGION AWS_ACCESS_KEY_ID OPENAI_API_KEY ANTHROPIC_API_KEY HTTP_PROXY NO_PROXY CI APP_PORT DB_HOST SSH_TTY SMTP_HOST';
    expect(misspeltVariables(Object.fromEntries(names.split(' ').map((name) => [name, 'x'])))).toEqual([]);
  });

  it('is reported although the right one is set as well, and ignored while it is empty', () => {
    expect(misspeltVariables({ PORTT: '4', PORT: '3000' })).toHaveLength(1);
    expect(misspeltVariables({ PRT: '' })).toEqual([]);
  });
});
