// The rules about rooms, the folders inside a layer: imports one way, and few files in each.
import { posix } from 'node:path'
import { importsOf } from './imports.ts'
import { folderOf } from './source.ts'
import type { Source } from './source.ts'

/** A folder that holds the rows of a table; it counts as part of the room that has the table. */
interface RowsFolder {
  readonly folder: string
  readonly table: string
}

/** Rooms of one layer that import each other in a circle; a message per circle. */
export function roomCycleViolations(
  sources: readonly Source[],
  layers: readonly string[],
  rows: readonly RowsFolder[],
): string[] {
  const edges = roomEdges(sources, layers, rows)
  const reached = new Map([...edges.keys()].map((room) => [room, reachOf(room, edges)]))
  const circles = new Set<string>()
  for (const [room, others] of reached) {
    if (!others.has(room)) continue
    const circle = [...others].filter((other) => reached.get(other)?.has(room) === true)
    circles.add(circle.sort().join(', '))
  }
  return [...circles].map((circle) => `rooms import each other in a circle: ${circle}`)
}

/** Rooms with more files beside each other than a reader takes in at once. */
export function crowdViolations(
  paths: readonly string[],
  layers: readonly string[],
  rows: readonly RowsFolder[],
  filesMax: number,
): string[] {
  const counts = new Map<string, number>()
  for (const path of paths) {
    const folder = posix.dirname(path)
    if (!layers.includes(folderOf(path))) continue
    if (rows.some((row) => row.folder === folder)) continue
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  return [...counts]
    .filter(([, count]) => count > filesMax)
    .map(([folder, count]) => `${folder}: ${count} files, at most ${filesMax}; make rooms`)
}

function roomEdges(
  sources: readonly Source[],
  layers: readonly string[],
  rows: readonly RowsFolder[],
): Map<string, Set<string>> {
  const roomOf = (path: string): string => {
    const folder = posix.dirname(path)
    return rows.find((row) => row.folder === folder)?.table ?? folder
  }
  const edges = new Map<string, Set<string>>()
  for (const source of sources.filter(({ path }) => layers.includes(folderOf(path)))) {
    const here = roomOf(source.path)
    for (const { target } of importsOf(source)) {
      if (target === undefined || folderOf(target) !== folderOf(source.path)) continue
      if (roomOf(target) === here) continue
      edges.set(here, (edges.get(here) ?? new Set()).add(roomOf(target)))
    }
  }
  return edges
}

function reachOf(room: string, edges: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const reached = new Set<string>()
  const open = [room]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const other of edges.get(next) ?? []) {
      if (reached.has(other)) continue
      reached.add(other)
      open.push(other)
    }
  }
  return reached
}

/**
 * The tests of a file are found by its path: test/unit/ROOM.test.ts, a folder test/unit/ROOM, or
 * the row of its room.
 */
export function unfoundTests(
  rooms: readonly string[],
  paths: readonly string[],
  rows: Readonly<Record<string, readonly string[]>>,
): string[] {
  const tests = paths.filter((path) => path.endsWith('.test.ts'))
  const isThere = (place: string): boolean =>
    tests.some((path) => path === place || path.startsWith(`${place}/`))
  const isByPath = (room: string): boolean =>
    isThere(`test/unit/${room}`) || isThere(`test/unit/${room}.test.ts`)
  const without = rooms.filter((room) => !isByPath(room) && rows[room] === undefined)
  const idle = Object.keys(rows).filter((room) => !rooms.includes(room) || isByPath(room))
  const broken = Object.entries(rows).flatMap(([room, places]) =>
    places.filter((place) => !isThere(`test/${place}`)).map((place) => `${room}: no test ${place}`),
  )
  return [
    ...without.map((room) => `${room}: no tests below test/unit/${room}, and no row for it`),
    ...idle.map((room) => `${room}: its row is not needed`),
    ...broken,
  ]
}
