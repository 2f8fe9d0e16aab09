// Prints record sets as files of kind Records that the compiler accepts: as YAML for people, or,
// for more than one file, as JSON with one line per set.
import { assert } from '#lib/assert.ts'
import { printName } from '#dns/rdata-text/name-text.ts'
import { recordTypeOf } from '#compiler/values/record-sets.ts'
import { recordsPerFileMax } from '#schemas/objects/records.ts'
import { apiVersion } from '#schemas/objects/metadata.ts'
import type { RecordSet as WrittenSet } from '#schemas/objects/records.ts'
import { fileBytesMax } from '#compiler/read/source.ts'
import type { RecordSet, RecordSets } from './set-list.ts'

/** Limits of a file: record sets, pieces of YAML (keys, values, indicators), and characters. */
const piecesMax = 300_000
/** Leaves room for the names in the head; all characters are ASCII. */
const charactersMax = fileBytesMax - 8_192
const piecesOfSet = 24
const piecesOfValue = 3

interface RecordsFile {
  /** From 1. */
  readonly number: number
  /** Name of the object in it. */
  readonly name: string
  readonly octets: Uint8Array
  readonly sets: number
}

/**
 * Yields one file at a time, so that they need not be in memory together.
 *
 * @param zone without the final dot
 */
export function* recordsFiles(
  zone: string,
  sets: RecordSets,
  printer: SetPrinter,
): Generator<RecordsFile> {
  const form = sets.length > recordsPerFileMax ? jsonForm : yamlForm
  // Lines are put there at once: as texts in a list, their parts would stay on the heap.
  const room = Buffer.allocUnsafe(fileBytesMax)
  let used = 0
  const put = (text: string): void => {
    const end = used + room.write(text, used, 'latin1')
    assert(end === used + text.length, 'a file of records has room for the text')
    used = end
  }
  for (let at = 0, number = 1; at < sets.length; number++) {
    const name = number === 1 ? zone : `${zone}-${number}`
    const first = at
    used = 0
    put(form.head(printer.fileOf(name, [])))
    for (let pieces = 0, characters = 0; at < sets.length; at++) {
      const set = sets.at(at)
      const text = form.set(printer.printed(set))
      pieces += piecesOfSet + piecesOfValue * set.recordCount
      characters += text.length + 2
      const isFull = pieces > piecesMax || characters > charactersMax
      if (at > first && (isFull || at - first >= recordsPerFileMax)) break
      put(at > first ? form.between + text : text)
    }
    put(form.end)
    yield { number, name, octets: Buffer.from(room.subarray(0, used)), sets: at - first }
  }
}

/** Prints the values of record sets, and the common head of a zone's files. */
export class SetPrinter {
  readonly #origin: Uint8Array
  /** The TTL of most sets; written once. */
  readonly #ttl: number
  /** Cached, since neighbours mostly share an owner. */
  #last: RecordSet | undefined
  #lastName = ''

  constructor(sets: RecordSets, origin: Uint8Array) {
    this.#origin = origin
    this.#ttl = commonTtl(sets)
  }

  printed(set: RecordSet): WrittenSet {
    if (this.#last === undefined || !set.hasOwnerOf(this.#last)) {
      this.#lastName = printName(set.owner, this.#origin)
    }
    this.#last = set
    const [name, { name: type, print }] = [this.#lastName, recordTypeOf(set.type)]
    const values = set.rdata.map((one) => print(one, this.#origin))
    return set.ttl === this.#ttl ? { name, type, values } : { name, type, ttl: set.ttl, values }
  }

  fileOf(name: string, records: readonly WrittenSet[]) {
    const spec = { zone: printName(this.#origin), ttl: this.#ttl, records }
    return { apiVersion, kind: 'Records', metadata: { name }, spec } as const
  }
}

/** Objects without their records, which are lines. */
type RecordsHead = ReturnType<SetPrinter['fileOf']>

/** What a file is written with, around and between its record sets. */
interface Form {
  readonly head: (file: RecordsHead) => string
  readonly set: (set: WrittenSet) => string
  readonly between: string
  readonly end: string
}

/** Prints like `jsonLines`. */
const jsonForm: Form = Object.freeze({
  head: (file: RecordsHead) => `${JSON.stringify(file).replace(/\]\}\}$/, '')}\n`,
  set: jsonText,
  between: ',\n',
  end: ']}}\n',
})

function jsonText({ name, type, ttl, values }: WrittenSet): string {
  const own = ttl === undefined ? '' : `"ttl":${ttl},`
  return `{"name":${quoted(name)},"type":"${type}",${own}"values":[${values.map(quoted).join()}]}`
}

/** Presentation form is printable ASCII, where only quotes and backslashes need escapes. */
function quoted(text: string): string {
  return text.includes('"') || text.includes('\\') ? JSON.stringify(text) : `"${text}"`
}

const yamlForm: Form = Object.freeze({ head: yamlHead, set: recordText, between: '\n', end: '\n' })

function yamlHead({ metadata, spec }: RecordsHead): string {
  const lines = [
    `apiVersion: ${apiVersion}`,
    'kind: Records',
    `metadata: { name: ${scalar(metadata.name)} }`,
    'spec:',
    `  zone: ${scalar(spec.zone)}`,
    `  ttl: ${spec.ttl}`,
    '  records:',
  ]
  return `${lines.join('\n')}\n`
}

function commonTtl(sets: RecordSets): number {
  const counts = new Map<number, number>()
  for (const { ttl } of sets) counts.set(ttl, (counts.get(ttl) ?? 0) + 1)
  return [...counts].reduce((best, one) => (one[1] > best[1] ? one : best), [0, 0])[0]
}

const lineLengthMax = 96

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

function scalar(text: string): string {
  if (plain.test(text) && !words.test(text)) return text
  return text.includes('"') && !text.includes("'") ? `'${text}'` : JSON.stringify(text)
}
