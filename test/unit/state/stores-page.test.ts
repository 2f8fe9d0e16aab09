// docs/operations/stores.md names every table, key and channel, and nothing that is not there.
import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { migrations } from '#state/sql/database/migrations.ts'

const page = readFileSync('docs/operations/stores.md', 'utf8')
const [tables = '', keys = ''] = page.split('## Redis')
const sources = globSync('state/redis/*.ts').map((path) => readFileSync(path, 'utf8'))
const matches = (texts: readonly string[], form: RegExp): readonly string[] =>
  [...new Set(texts.flatMap((text) => [...text.matchAll(form)].map(([, found]) => found!)))].sort()

test('each table is named', () => {
  const made = migrations.flatMap(({ statements }) => statements)
  const there = matches(made, /create table (\w+)/g)
  expect(there.length).toBeGreaterThan(20)
  const named = matches([tables], /^\| `(\w+)` +\|/gm)
  expect(named).toEqual([...there, 'gslbd_schema'].sort())
})

test('each key is named', () => {
  // As they are written: the literal parts of `redis.key('peer-health', 'words', node)`.
  const calls = matches(sources, /\.key\(('[\w-]+'(?:, '[\w-]+')*)/g)
  // Keys of texts that one adapter keeps: `createRedisKeptTexts(redis, 'discovered')`.
  const kept = matches(
    [readFileSync('state/ephemeral.ts', 'utf8')],
    /KeptTexts\(redis, ('[\w-]+')/g,
  )
  const there = [...calls, ...kept]
    .map((words) => words.replaceAll("'", '').replaceAll(', ', ':'))
    .sort()
  expect(there.length).toBeGreaterThan(10)
  const named = matches([keys], /^\| `([a-z:-]+?)(?::[A-Z]+)?` +\|/gm)
  expect(named).toEqual(there)
})

test('each channel is named', () => {
  const there = matches(sources, /^const (?:channel|orders|answers) = '([\w-]+)'/gm)
  expect(there.length).toBeGreaterThan(3)
  const named = matches([keys.slice(keys.indexOf('Channels,'))], /`gslbd:([a-z-]+)`/g)
  expect(named).toEqual(there)
})
