// Stores the time of the last look, and what zones wait for, in a file of the data directory, so
// that both survive a restart.
import { readFileSync } from 'node:fs'
import type { Looked, ParentView, Rolled } from '#dns/dnssec/rollover.ts'
import type { ServedTtls } from '#dns/dnssec/served-ttls.ts'
import { writeDurably } from '#lib/durable-file.ts'
import type { Log } from '#lib/log.ts'
import { fieldsOf, parseJson } from '#lib/text/json.ts'

/** In the data directory. */
export const looksFile = 'zone-keys.looks'

/** What a zone waits for. */
export interface KeptView {
  readonly zone: string
  readonly waiting: Rolled['waiting']
  readonly nextMs: number | null
  /** The last answers of the parent; null: it was not asked, or did not answer. */
  readonly parent: ParentView | null
}

interface ZoneLook {
  readonly zone: string
  readonly looked: Looked
  /** See `KeyKeeper`. */
  readonly text: string
}

export interface StoredLooks {
  readonly of: (zone: string) => Omit<ZoneLook, 'zone'> | undefined
  readonly write: (looks: readonly ZoneLook[], views: readonly KeptView[]) => void
}

/** The file is younger than what may be believed of a clock. See `look`. */
const writeMs = 300_000
const fileBytesMax = 16 * 1024 * 1024
const version = 1

/** An unreadable file counts as missing: the keeper waits then. */
export function createStoredLooks(path: string, log: Log): StoredLooks {
  const known = new Map(readLooks(path).map((one) => [one.zone, one]))
  let written = ''
  let writtenMs = -Infinity
  return {
    of: (zone) => known.get(zone),
    write: (looks, views) => {
      const atMs = Math.max(0, ...looks.map(({ looked }) => looked.atMs ?? 0))
      const said = JSON.stringify([
        views,
        looks.map(({ text, looked }) => [text, looked.heldUntilMs, looked.ttls.map(ttlsOf)]),
      ])
      const isSoon = Math.abs(atMs - writtenMs) < writeMs
      if (looks.length === 0 || (said === written && isSoon)) return
      try {
        writeDurably(path, JSON.stringify({ version, looks, views }), 0o600)
        written = said
        writtenMs = atMs
      } catch (error) {
        const { code = '' } = error as NodeJS.ErrnoException
        log.warn({ file: path, code }, 'what keys of zones wait for cannot be written')
      }
    },
  }
}

function contentOf(path: string): Readonly<Record<string, unknown>> {
  try {
    const text = readFileSync(path, 'utf8')
    return text.length > fileBytesMax ? {} : fieldsOf(parseJson(text))
  } catch {
    return {}
  }
}

function listIn(path: string, field: 'looks' | 'views'): readonly unknown[] {
  const content = contentOf(path)
  const list = content['version'] === version ? content[field] : undefined
  return Array.isArray(list) ? (list as unknown[]) : []
}

function readLooks(path: string): ZoneLook[] {
  return listIn(path, 'looks').flatMap((one) => {
    const { zone, looked, text } = fieldsOf(one)
    const { atMs, heldUntilMs, ttls } = fieldsOf(looked)
    const isWhole = typeof zone === 'string' && typeof text === 'string'
    if (!isWhole || !Number.isSafeInteger(atMs) || !Number.isSafeInteger(heldUntilMs)) return []
    const read = { atMs: atMs as number, heldUntilMs: heldUntilMs as number }
    return [{ zone, text, looked: { ...read, ttls: readTtls(ttls) } }]
  })
}

const ttlsOf = ({ keyTtlMs, longestTtlMs }: ServedTtls) => [keyTtlMs, longestTtlMs]

/** Files of earlier releases have none. */
function readTtls(ttls: unknown): readonly ServedTtls[] {
  return (Array.isArray(ttls) ? (ttls as unknown[]) : []).flatMap((one) => {
    const { keyTtlMs, longestTtlMs, lastMs } = fieldsOf(one)
    const read = { keyTtlMs, longestTtlMs, lastMs }
    return Object.values(read).every(Number.isSafeInteger) ? [read as ServedTtls] : []
  })
}

/** The last report of the node that writes the file, for people. */
export function readKeptViews(path: string): readonly KeptView[] {
  return listIn(path, 'views').filter((one): one is KeptView => {
    const { zone, waiting } = fieldsOf(one)
    return typeof zone === 'string' && Array.isArray(waiting)
  })
}
