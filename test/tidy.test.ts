// This repository keeps its own rules; test/tidy-rules.test.ts shows that each rule can fail.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { hot } from './hot-files.ts'
import { apart, longOnly } from './support/run-config.ts'
import {
  entries,
  layers,
  outside,
  programs,
  pure,
  rowsFolders,
  sizes,
  unreachable,
} from './layers.ts'
import { idleDependencies } from './tidy/dependency-rules.ts'
import { tableRows } from './tidy/doc-rules.ts'
import { idleExports, offered } from './tidy/export-rules.ts'
import {
  assertionViolations,
  nameViolations,
  openingViolations,
  riddleViolations,
  sizeViolations,
} from './tidy/form-rules.ts'
import { hotPathViolations, isHot, missingHotFiles } from './tidy/hot-path-rules.ts'
import {
  cycleViolations,
  danglingViolations,
  deadFileViolations,
  layerViolations,
  purityViolations,
  reachViolations,
  unusedPackages,
} from './tidy/layer-rules.ts'
import { layerTable, roomsOf, withoutPadding } from './tidy/layer-table.ts'
import { crowdViolations, roomCycleViolations, unfoundTests } from './tidy/room-rules.ts'
import { folderOf, listFiles, parseSource, readSources } from './tidy/source.ts'
import { wayThrough } from './tidy/way-in.ts'
import {
  banViolations,
  lockFileViolations,
  openerViolations,
  tagViolations,
  wordViolations,
} from './tidy/word-rules.ts'
import { testsOf } from './where.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const files = listFiles(root)
const sources = readSources(root)
const paths = sources.map(({ path }) => path)
const layerFolders = layers.map(({ folder }) => folder)
const folders = [...layerFolders, ...outside]

test('every import is in the layer table and written in its form', () => {
  expect(layerViolations(sources, layers)).toEqual([])
})

test('every package that an install brings is imported', () => {
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: object }
  expect(unusedPackages(sources, layers, Object.keys(dependencies))).toEqual([])
})

test('no file lies outside the folders that the table knows', () => {
  const strays = paths.filter((path) => folderOf(path) !== '' && !folders.includes(folderOf(path)))
  expect(strays).toEqual([])
})

test('the runtime and the compiler do not know each other, over any number of imports', () => {
  expect(reachViolations(sources, unreachable)).toEqual([])
})

test('pure folders reach no disk, network or clock, and threads that answer load little', () => {
  expect(purityViolations(sources, pure)).toEqual([])
})

test('no files import each other in a circle', () => {
  expect(cycleViolations(sources)).toEqual([])
})

test('between the rooms of a layer imports go one way, those of types, too', () => {
  expect(roomCycleViolations(sources, layerFolders, rowsFolders)).toEqual([])
})

test('each pattern of the lanes names a file', () => {
  const none = [...apart, ...longOnly].filter(
    (pattern) => globSync(pattern, { cwd: root }).length === 0,
  )
  expect(none).toEqual([])
})

test('a room has few files beside each other', () => {
  expect(crowdViolations(paths, layerFolders, rowsFolders, sizes.roomFilesMax)).toEqual([])
})

test('a layer is small enough to know', () => {
  const lines = new Map<string, number>()
  for (const { path, text } of sources) {
    const layer = folderOf(path)
    lines.set(layer, (lines.get(layer) ?? 0) + text.split('\n').length - 1)
  }
  const { layerLinesMax, cliLinesMax } = sizes
  const most = (layer: string): number => (layer === 'cli' ? cliLinesMax : layerLinesMax)
  const large = layerFolders.filter((layer) => (lines.get(layer) ?? 0) > most(layer))
  expect(large).toEqual([])
})

test('the tests of a room are found by its path, or by its row in test/where.ts', () => {
  // The rooms of api/ are tested by resource and route.
  const judged = paths.filter((path) => layerFolders.includes(folderOf(path)))
  const rooms = [...new Set(judged.map((path) => dirname(path)))]
  const own = rooms.filter((room) => folderOf(`${room}/`) !== 'api')
  expect(unfoundTests(own, paths, testsOf)).toEqual([])
})

test('every import names a file that exists', () => {
  expect(danglingViolations(sources, (path) => existsSync(join(root, path)))).toEqual([])
})

test('every file is used by something', () => {
  const scripts = Object.values(
    (JSON.parse(read('package.json')) as { scripts: Record<string, string> }).scripts,
  )
  const started = scripts.flatMap((script) => script.match(/[\w/-]+\.ts\b/g) ?? [])
  expect(deadFileViolations(sources, layers, [...entries, ...started])).toEqual([])
})

test('what only its own file uses is not exported', () => {
  const isOffered = (path: string): boolean => offered.some((start) => path.startsWith(start))
  expect(idleExports(sources, isOffered)).toEqual([])
})

test('files, functions and lines keep their sizes', () => {
  expect(sources.flatMap((source) => sizeViolations(source, sizes))).toEqual([])
})

test('file names are kebab-case and say something', () => {
  expect(paths.flatMap(nameViolations)).toEqual([])
})

test('names of functions, types and files say what they are', () => {
  expect(sources.flatMap(riddleViolations)).toEqual([])
})

test('every file opens with a sentence that says what it knows', () => {
  const opened = sources.filter(({ path }) => !path.endsWith('.test.ts'))
  expect(opened.flatMap(openingViolations)).toEqual([])
})

test('layers that keep state say what must hold: 4 assertions for each 1,000 lines', () => {
  const stateful = ['gitops', 'fleet', 'health', 'process', 'questions', 'node']
  expect(assertionViolations(sources, stateful, 4)).toEqual([])
})

test('no file uses a banned construct', () => {
  expect(sources.flatMap(banViolations)).toEqual([])
})

test('functions that run for every query allocate nothing that can be seen', () => {
  expect(missingHotFiles(hot, paths)).toEqual([])
  const judged = sources.filter(({ path }) => isHot(path, hot))
  expect(judged.flatMap(hotPathViolations)).toEqual([])
})

test('no sentence of a comment opens with Of, Who, Whoever or Those', () => {
  expect(sources.flatMap(openerViolations)).toEqual([])
})

test('each parameter and result that a comment describes has a line of its own', () => {
  expect(sources.flatMap(tagViolations)).toEqual([])
})

test('no text speaks of what is not in this repository', () => {
  const texts = files.filter((path) => !path.startsWith('test/fuzz/corpus/'))
  expect(texts.flatMap((path) => wordViolations(path, read(path)))).toEqual([])
})

test('each dependency is imported somewhere, or run', () => {
  const lint = parseSource('eslint.config.js', read('eslint.config.js'))
  expect(idleDependencies(read('package.json'), [...sources, lint], programs)).toEqual([])
})

test('the lock file names the public registry only', () => {
  expect(lockFileViolations(read('package-lock.json'))).toEqual([])
})

test('ARCHITECTURE.md shows the layer table', () => {
  expect(withoutPadding(read('ARCHITECTURE.md'))).toContain(layerTable(layers))
})

test('ARCHITECTURE.md lists the rooms of each layer', () => {
  const rows = tableRows(read('ARCHITECTURE.md'), 'layer')
  const listed = rows.map(([layer = '', , rooms]) => [layer.replace('/', ''), rooms])
  const rooms = layers.map(({ folder }) => [folder, roomsOf(folder, paths)])
  expect(listed).toEqual(rooms.filter(([, names]) => names !== 'none'))
})

test('ARCHITECTURE.md names the six files from bin/gslbd to the answer', () => {
  // The responder is a thread: nobody else of the product loads its file.
  const stops = ['cli/main.ts', 'cli/commands/serve.ts', 'server/threads/responder.ts']
  const product = sources.filter(({ path }) => layerFolders.includes(folderOf(path)))
  const way = wayThrough(product, [...stops, 'answer/answer.ts'])
  expect(read('bin/gslbd')).toContain(`main=$root/${way[0]}\n`)
  expect(read(way.at(-3)!)).toContain("new Worker(new URL('./responder.ts', import.meta.url)")
  const [, named = ''] = /^From the entry to the hot path:((?:.+\n)+)/m.exec(
    read('ARCHITECTURE.md'),
  )!
  expect([...named.matchAll(/`(\w+\/[\w./-]+\.ts)`/g)].map(([, path]) => path)).toEqual(way)
  expect(way.length).toBeLessThanOrEqual(6)
})
