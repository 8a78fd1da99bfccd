import { readFileSync } from 'node:fs';
import type { DynamicModule, Provider, Type } from '@nestjs/common';
import { MODULE_METADATA } from '@nestjs/common/constants.js';
import { TextModule } from '#features';
import { ApiModule } from './api.module.js';

const PAGE = 'docs/decisions/nest-composes-the-api.md';

const listOf = <Item>(key: string, module: Type): Item[] =>
  (Reflect.getMetadata(key, module) as Item[] | undefined) ?? [];

/** The module and all that it imports. */
function modulesBelow(module: Type, seen = new Set<Type>()): Set<Type> {
  if (seen.has(module)) return seen;
  seen.add(module);
  for (const imported of listOf<Type | DynamicModule>(MODULE_METADATA.IMPORTS, module)) {
    modulesBelow('module' in imported ? imported.module : imported, seen);
  }
  return seen;
}

/** What a factory makes, as the page names it. */
const madeBy = (provider: Provider): string[] => {
  if (!('useFactory' in provider)) return [];
  const token = provider.provide;
  return [typeof token === 'symbol' ? (token.description ?? '') : (token as Type).name];
};

describe('The modules of the API', () => {
  const modules = new Set([...modulesBelow(ApiModule), ...modulesBelow(TextModule)]);
  const providers = [...modules].flatMap((module) => listOf<Provider>(MODULE_METADATA.PROVIDERS, module));

  it('use a factory only where the decision page gives a reason', () => {
    const table = /## The factories that remain\n([\s\S]*?)\n## /.exec(readFileSync(PAGE, 'utf8'))?.[1] ?? '';
    const reasoned = [...table.matchAll(/^\| `([^`]+)` .*\w/gm)].map(([, name]) => name);
    expect(new Set(providers.flatMap(madeBy))).toEqual(new Set(reasoned));
  });
});
