// Prints record sets as files of kind Records that the compiler can read whole: as YAML for people,
// or, where they are more than one file may have, as JSON with a line for each.
import { printName } from '#dns/rdata-text/name-text.ts'
import { recordTypeOf } from '#compiler/values/record-sets.ts'
import { recordsPerFileMax } from '#schemas/objects/records.ts'
import { apiVersion } from '#schemas/objects/metadata.ts'
import type { RecordSet as WrittenSet } from '#schemas/objects/records.ts'
import { fileBytesMax } from '#compiler/read/source.ts'
import { jsonLines } from '#compiler/yaml/parse/json-lines.ts'
import type { JsonObject } from '#compiler/yaml/text.ts'
import type { RecordSet } from './record-sets.ts'

/** What a file may have: record sets, pieces of YAML (keys, values, signs), and characters. */
const piecesMax = 300_000
/** With room for the names in its head; all characters are ASCII. */
const charactersMax = fileBytesMax - 8_192
const piecesOfSet = 24
const piecesOfValue = 3

export interface RecordsFile {
  /** From 1. */
  readonly number: number
  readonly text: string
  /** As `text` reads. */
  readonly value: JsonObject
  readonly sets: number
}

/** One after the other, so that nobody has to hold them all. @param zone without the final dot */
export function* recordsFiles(
  zone: string,
  origin: Uint8Array,
  sets: readonly RecordSet[],
): Generator<RecordsFile> {
  const isLong = sets.length > recordsPerFileMax
  const ttl = commonTtl(sets)
  for (let at = 0, number = 1; at < sets.length; number++) {
    const name = number === 1 ? zone : `${zone}-${number}`
    const lines: string[] = []
    const records: WrittenSet[] = []
    const first = at
    for (let pieces = 0, characters = 0; at < sets.length; at++) {
      const set = sets[at]!
      const record = recordOf(set, origin, ttl)
      const text = isLong ? JSON.stringify(record) : recordText(record)
      pieces += piecesOfSet + piecesOfValue * set.rdata.length
      characters += text.length + 2
      const isFull = pieces > piecesMax || characters > charactersMax
      if (at > first && (isFull || at - first >= recordsPerFileMax)) break
      lines.push(text)
      records.push(record)
    }
    const spec = { zone: printName(origin), ttl, records }
    const value = { apiVersion, kind: 'Records', metadata: { name }, spec }
    const start = head(name, printName(origin), ttl)
    const text = isLong ? jsonLines(value) : `${[...start, ...lines].join('\n')}\n`
    yield { number, text, value, sets: at - first }
  }
}

function head(name: string, zone: string, ttl: number): string[] {
  return [
    `apiVersion: ${apiVersion}`,
    'kind: Records',
    `metadata: { name: ${scalar(name)} }`,
    'spec:',
    `  zone: ${scalar(zone)}`,
    `  ttl: ${ttl}`,
    '  records:',
  ]
}

/** The TTL that most of the sets have; it is written once. */
function commonTtl(sets: readonly RecordSet[]): number {
  const counts = new Map<number, number>()
  for (const { ttl } of sets) counts.set(ttl, (counts.get(ttl) ?? 0) + 1)
  return [...counts].reduce((best, one) => (one[1] > best[1] ? one : best), [0, 0])[0]
}

const lineLengthMax = 96

function recordOf(set: RecordSet, origin: Uint8Array, ttlOfAll: number): WrittenSet {
  const { name: type, print } = recordTypeOf(set.type)
  const name = printName(set.owner, origin)
  const values = set.rdata.map((one) => print(one, origin))
  return set.ttl === ttlOfAll ? { name, type, values } : { name, type, ttl: set.ttl, values }
}

function recordText({ name, type, ttl, values: texts }: WrittenSet): string {
  const values = texts.map(scalar)
  const own = ttl === undefined ? [] : [`ttl: ${ttl}`]
  const fields = [`name: ${scalar(name)}`, `type: ${type}`, ...own]
  const line = `    - { ${fields.join(', ')}, values: [${values.join(', ')}] }`
  if (line.length <= lineLengthMax) return line
  const list = values.map((value) => `        - ${value}`)
  return [`    - ${fields.join('\n      ')}`, '      values:', ...list].join('\n')
}

/** Words, addresses, and numbers before words need no quotes. */
const plain = new RegExp(
  [
    '[a-z_][a-z0-9._ =/+-]*[a-z0-9.]',
    '[a-z]',
    '[0-9]+(?:\\.[0-9]+){3}',
    '[0-9]+ [a-z0-9._ -]*[a-z0-9.]',
  ]
    .map((form) => `^${form}$`)
    .join('|'),
  'i',
)
const words = /^(?:true|false|null|yes|no|on|off|y|n)$/i

/** Presentation form is printable ASCII, which needs no escapes but those of quotes. */
function scalar(text: string): string {
  if (plain.test(text) && !words.test(text)) return text
  return text.includes('"') && !text.includes("'") ? `'${text}'` : JSON.stringify(text)
}
