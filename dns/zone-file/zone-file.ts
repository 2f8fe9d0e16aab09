// Reads a master file: RFC 1035 section 5, $TTL of RFC 2308, and what BIND added to them.
import { readName } from '#dns/rdata-text/name-text.ts'
import type { RdataType } from '#dns/rdata-text/rdata-type.ts'
import type { RdataFault, Token } from '#dns/rdata-text/tokens.ts'
import { secondsOf, ttlForm } from '#dns/rdata-text/ttl-text.ts'
import { ValueReader } from '#dns/rdata-text/value-reader.ts'
import { hasOwnForm, rdataTypeNamed } from '#dns/rdata/rdata-types.ts'
import { RrType } from '#dns/rrtype.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Tell } from '#lib/log.ts'
import { entriesOf } from './entries.ts'
import type { Entry } from './entries.ts'
import { generatedLines, readGenerate } from './generate.ts'
import { RecordList } from './record-list.ts'
import { zoneFileLimits } from './zone-record.ts'
import type { ZoneFault, ZonePlace } from './zone-record.ts'
import { zoneText } from './zone-text.ts'
import type { ZoneText } from './zone-text.ts'

export interface ZoneSource {
  /** For messages, and to find files that include themselves. */
  readonly path: string
  readonly octets: Uint8Array
}

export interface ZoneFileOptions {
  /** Wire form of the origin before the first $ORIGIN. */
  readonly origin?: Uint8Array
  /** TTL of records when neither they nor the file give one. */
  readonly ttl?: number
  /**
   * Types whose records are counted but not read, whatever their rdata. Unknown types are treated
   * alike, and so is TSIG, which `dig` prints after a signed transfer.
   */
  readonly leaveOut?: ReadonlySet<number>
  /** A type that is none of DNS, and is read as well. */
  readonly ownType?: RdataType
  /** Reports the progress in the first file from time to time. */
  readonly tell?: Tell | undefined
  /**
   * Reads the file of an $INCLUDE.
   *
   * @param from path of the file that has the line
   * @returns the file, always with the same path for the same file; or the reason as a clause
   */
  readonly include?: (file: string, from: string) => Result<ZoneSource, string>
}

/** Records of one type that were left out. */
export interface LeftOut {
  /** Upper case. */
  readonly type: string
  count: number
  /** Place of the first such record. */
  readonly place: ZonePlace
}

export interface ParsedZone {
  readonly records: RecordList
  /** Place of the record with this index; for a generated record, of its $GENERATE line. */
  readonly placeOf: (index: number) => ZonePlace
  /** In the order of the text, at most `zoneFileLimits.faultsMax`. */
  readonly faults: readonly ZoneFault[]
  /** True when reading stopped early: too many faults, or beyond a limit. */
  readonly isCut: boolean
  readonly leftOut: readonly LeftOut[]
}

export function parseZoneFile(source: ZoneSource, options: ZoneFileOptions = {}): ParsedZone {
  const parser = new ZoneFileParser(options)
  parser.file(source, options.origin, [])
  const { records, faults, isCut } = parser
  const leftOut = [...parser.leftOut.values()]
  return { records, faults, isCut, leftOut, placeOf: (index) => parser.placeOf(index) }
}

/** Entries between two progress reports. */
const entriesApart = 1_000

/** The state of one file while it is read. */
interface FileState {
  readonly path: string
  readonly text: ZoneText
  /** Number of this text, in order of opening. */
  readonly index: number
  /** Paths of the including files, this one last. */
  readonly stack: readonly string[]
  origin: Uint8Array | undefined
  owner: Uint8Array | undefined
  /** The last owner as written under this origin: most records repeat it. */
  ownerText: string | undefined
}

/** The position that a record is reported at, and how its faults are reported. */
interface RecordPlace {
  readonly position: number
  readonly fail: (column: number, expected: string) => void
}

interface Head {
  /** The name alone where records of the type are not read. */
  readonly type: RdataType | string
  readonly ttl: number | undefined
  /** Index of the first rdata token. */
  readonly rdataAt: number
}

class ZoneFileParser {
  readonly records = new RecordList()
  readonly faults: ZoneFault[] = []
  isCut = false
  readonly leftOut = new Map<string, LeftOut>()
  readonly #include: ZoneFileOptions['include']
  readonly #leaveOut: ZoneFileOptions['leaveOut']
  readonly #ownType: ZoneFileOptions['ownType']
  readonly #tell: ZoneFileOptions['tell']
  #defaultTtl: number | undefined
  #lastTtl: number | undefined
  #bytesLeft: number = zoneFileLimits.bytesMax
  #includes = 0
  /** In order of opening. */
  readonly #files: FileState[] = []

  constructor({ include, leaveOut, ownType, tell, ttl }: ZoneFileOptions) {
    this.#include = include
    this.#tell = tell
    this.#leaveOut = leaveOut
    this.#ownType = ownType
    this.#lastTtl = ttl
  }

  file(
    { path, octets }: ZoneSource,
    origin: Uint8Array | undefined,
    above: readonly string[],
    owner?: Uint8Array,
  ): void {
    this.#bytesLeft -= octets.length
    if (this.#bytesLeft < 0) {
      return this.#cut(path, { line: 1, column: 1 }, `at most ${zoneFileLimits.bytesMax} octets`)
    }
    const text = zoneText(octets)
    if (!text.ok) {
      const { line, column, octet } = text.error
      const remedy = `save the file as UTF-8, or write \\${octet} in a text`
      const message = `octet ${octet} is not UTF-8, as in a file in Latin-1; ${remedy}`
      this.faults.push({ path, line, column, message })
      return
    }
    const index = this.#files.length
    const stack = [...above, path]
    const file: FileState = {
      path,
      text: text.value,
      index,
      stack,
      origin,
      owner,
      ownerText: undefined,
    }
    this.#files.push(file)
    const { text: characters } = text.value
    let entries = 0
    for (const entry of entriesOf(characters)) {
      if (this.isCut) return
      if (index === 0 && entries++ % entriesApart === 0) {
        this.#tell?.(`reading ${path}: character`, entry.endColumn, characters.length)
      }
      this.#entry(file, entry)
    }
  }

  placeOf(index: number): ZonePlace {
    const { text, position } = this.records.originOf(index)
    const file = this.#files[text]!
    return { path: file.path, ...this.#place(file, position) }
  }

  #entry(file: FileState, entry: Entry): void {
    if (entry.fault !== undefined) {
      return this.#fault(file, entry.fault.column, entry.fault.expected)
    }
    const [first] = entry.tokens
    if (first === undefined) return
    const isDirective = !first.isQuoted && first.text.startsWith('$')
    if (!isDirective) return this.#record(file, entry)
    const directive = this.#directives[first.text.toUpperCase()]
    if (directive !== undefined) return directive(file, entry)
    this.#fault(file, first.column, '$ORIGIN, $TTL, $INCLUDE or $GENERATE, or \\$ in a name')
  }

  readonly #directives: Readonly<Record<string, (file: FileState, entry: Entry) => void>> = {
    $ORIGIN: (file, entry) => {
      const values = this.#directiveValues(file, entry)
      const token = values.takePlain('the name that relative names are below')
      const origin = token && readName(values, token, 'an origin')
      values.finish()
      file.ownerText = undefined
      if (values.fault === undefined) file.origin = origin
      else this.#fault(file, values.fault.column, values.fault.expected)
    },
    $TTL: (file, entry) => {
      const values = this.#directiveValues(file, entry)
      const token = values.takePlain(`a time: ${ttlForm}`)
      const ttl = token && secondsOf(token.text)
      if (token !== undefined && (ttl === undefined || ttl > zoneFileLimits.ttlMax)) {
        values.fail(token.column, `a time up to ${zoneFileLimits.ttlMax}: ${ttlForm}`)
      }
      values.finish()
      if (values.fault === undefined) this.#defaultTtl = ttl
      else this.#fault(file, values.fault.column, values.fault.expected)
    },
    $INCLUDE: (file, entry) => this.#includeFile(file, entry),
    $GENERATE: (file, entry) => this.#generate(file, entry),
  }

  #directiveValues(file: FileState, { tokens, endColumn }: Entry): ValueReader {
    return new ValueReader({ tokens: tokens.slice(1), endColumn }, file.origin)
  }

  #includeFile(file: FileState, entry: Entry): void {
    const values = this.#directiveValues(file, entry)
    const name = values.take('the name of a file')
    const origin = values.peek() === undefined ? undefined : values.take('an origin')
    const wire = origin === undefined ? file.origin : readName(values, origin, 'an origin')
    values.finish()
    if (values.fault !== undefined || name === undefined) {
      return this.#fault(file, values.fault!.column, values.fault!.expected)
    }
    const { includesMax, includeDepthMax } = zoneFileLimits
    if (this.#include === undefined) {
      return this.#fault(file, name.column, 'no $INCLUDE: only one file is read here')
    }
    if (file.stack.length > includeDepthMax) {
      return this.#fault(file, name.column, `at most ${includeDepthMax} files inside each other`)
    }
    if (++this.#includes > includesMax) {
      return this.#cut(file.path, this.#place(file, name.column), `at most ${includesMax} $INCLUDE`)
    }
    const source = this.#include(name.text.replace(/\\(.)/g, '$1'), file.path)
    if (!source.ok) {
      return this.#say(file, name.column, `${name.text} cannot be included: ${source.error}`)
    }
    if (file.stack.includes(source.value.path)) {
      const way = [...file.stack, source.value.path].join(' → ')
      return this.#say(file, name.column, `these files include each other in a circle: ${way}`)
    }
    this.file(source.value, wire, file.stack, file.owner)
  }

  #generate(file: FileState, entry: Entry): void {
    const generate = readGenerate(entry)
    if (!generate.ok) return this.#fault(file, generate.error.column, generate.error.expected)
    const { templateColumn } = generate.value
    const { owner, ownerText } = file
    for (const line of generatedLines(generate.value)) {
      if (!line.ok) return this.#fault(file, templateColumn, line.error)
      const faultsBefore = this.faults.length
      const [generated] = entriesOf(line.value)
      if (generated === undefined || generated.fault !== undefined) {
        const expected = generated?.fault?.expected ?? 'a record'
        return this.#fault(file, templateColumn, `${expected}, in "${line.value}"`)
      }
      this.#record(file, generated, {
        position: templateColumn,
        fail: (_column, expected) => {
          this.#fault(file, templateColumn, `${expected}, in "${line.value}"`)
        },
      })
      // A line below that states no owner has the one from above this line, as in BIND.
      file.owner = owner
      file.ownerText = ownerText
      // Further records of the line would have the same fault.
      if (this.faults.length > faultsBefore || this.isCut) return
    }
  }

  #record(
    file: FileState,
    entry: Entry,
    { position, fail }: RecordPlace = {
      position: entry.tokens[0]!.column,
      fail: (column, expected) => this.#fault(file, column, expected),
    },
  ): void {
    const owner = this.#ownerOf(file, entry, fail)
    if (owner === undefined) return
    file.owner = owner
    const head = headOf(entry, entry.isIndented ? 0 : 1, this.#ownType)
    if (!head.ok) return fail(head.error.column, head.error.expected)
    const { type, ttl: ownTtl, rdataAt } = head.value
    if (ownTtl !== undefined) this.#lastTtl = ownTtl
    if (typeof type === 'string') return this.#countLeftOut(file, type, position)
    if (this.#leaveOut?.has(type.code) === true) {
      return this.#countLeftOut(file, type.name, position)
    }
    const text = { tokens: entry.tokens.slice(rdataAt), endColumn: entry.endColumn }
    const rdata = type.parse(text, file.origin)
    if (!rdata.ok) return fail(rdata.error.column, rdata.error.expected)
    let ttl = ownTtl ?? this.#defaultTtl ?? this.#lastTtl
    // The minimum stands for a $TTL line, as in BIND.
    ttl ??= this.#defaultTtl = minimumOf(type, rdata.value)
    if (ttl === undefined) {
      const { column } = entry.tokens[rdataAt - 1]!
      return fail(column, 'a TTL before the type, or a $TTL line above')
    }
    const { recordsMax, recordBytesMax } = zoneFileLimits
    if (this.records.length >= recordsMax || this.records.bytes >= recordBytesMax) {
      const expected = `at most ${recordsMax} records with ${recordBytesMax} octets`
      return this.#cut(file.path, this.#place(file, position), expected)
    }
    const record = { owner, ttl, type: type.code, rdata: rdata.value }
    this.records.add(record, { text: file.index, position })
  }

  #countLeftOut(file: FileState, type: string, position: number): void {
    const known = this.leftOut.get(type)
    const { typesLeftOutMax } = zoneFileLimits
    if (known !== undefined) known.count++
    else if (this.leftOut.size < typesLeftOutMax) {
      const place = { path: file.path, ...this.#place(file, position) }
      this.leftOut.set(type, { type, count: 1, place })
    } else {
      const expected = `at most ${typesLeftOutMax} types that are not known`
      this.#cut(file.path, this.#place(file, position), expected)
    }
  }

  #ownerOf(
    file: FileState,
    { tokens, isIndented, endColumn }: Entry,
    fail: (column: number, expected: string) => void,
  ): Uint8Array | undefined {
    const first = tokens[0]!
    if (isIndented) {
      if (file.owner === undefined) fail(first.column, 'an owner before the first record')
      return file.owner
    }
    if (first.text === file.ownerText && !first.isQuoted) return file.owner
    const values = new ValueReader({ tokens: [first], endColumn }, file.origin)
    const token = values.takePlain('an owner')
    const owner = token && readName(values, token, 'an owner')
    if (values.fault !== undefined) fail(values.fault.column, values.fault.expected)
    else file.ownerText = first.text
    return owner
  }

  #fault(file: FileState, column: number, expected: string): void {
    this.#say(file, column, `expected ${expected}`)
  }

  #say(file: FileState, column: number, message: string): void {
    this.faults.push({ path: file.path, ...this.#place(file, column), message })
    if (this.faults.length >= zoneFileLimits.faultsMax) this.isCut = true
  }

  #cut(path: string, place: { line: number; column: number }, expected: string): void {
    this.faults.push({ path, ...place, message: `expected ${expected}; the rest is not read` })
    this.isCut = true
  }

  #place(file: FileState, column: number): { line: number; column: number } {
    return file.text.placeOf(column)
  }
}

/** TTL and class stand before the type, both optional and in either order. RFC 1035 section 5.1. */
function headOf(
  { tokens, endColumn }: Entry,
  start: number,
  ownType: RdataType | undefined,
): Result<Head, RdataFault> {
  let ttl: number | undefined
  let classToken: Token | undefined
  for (let at = start; ; at++) {
    const token = tokens[at]
    if (token === undefined) return err({ column: endColumn, expected: 'a record type' })
    const { text, column, isQuoted } = token
    const seconds = isQuoted || ttl !== undefined ? undefined : secondsOf(text)
    if (seconds !== undefined) {
      if (seconds > zoneFileLimits.ttlMax) {
        return err({ column, expected: `a TTL of at most ${zoneFileLimits.ttlMax} seconds` })
      }
      ttl = seconds
      continue
    }
    if (!isQuoted && classToken === undefined && classShape.test(text)) {
      classToken = token
      continue
    }
    const rdataAt = at + 1
    const type = isQuoted ? undefined : typeNamed(text, tokens[rdataAt], ownType)
    // RFC 8945 section 4.2: the class of TSIG is ANY.
    if (type === 'TSIG') return ok({ type, ttl, rdataAt })
    if (classToken !== undefined && !/^(?:IN|CLASS0*1)$/i.test(classToken.text)) {
      return err({ column: classToken.column, expected: 'the class IN' })
    }
    if (type !== undefined) return ok({ type, ttl, rdataAt })
    return err({ column, expected: wantedBeforeRdata(ttl, classToken !== undefined) })
  }
}

const classShape = /^(?:IN|CH|HS|ANY|CLASS\d{1,5})$/i

/**
 * @param next the first word of the rdata: types without a form of their own are read only in the
 * generic form
 * @returns the name of a type whose records cannot be read; undefined when it is not a type
 */
function typeNamed(
  text: string,
  next: Token | undefined,
  ownType: RdataType | undefined,
): RdataType | string | undefined {
  if (ownType?.name === text.toUpperCase()) return ownType
  const type = rdataTypeNamed(text)
  const isGeneric = /^TYPE\d/i.test(text) || next?.text === '\\#'
  if (type !== undefined) return isGeneric || hasOwnForm(type) ? type : text.toUpperCase()
  const isShort = text.length <= zoneFileLimits.typeCharactersMax
  const isName = isShort && next !== undefined && /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/i.test(text)
  return isName && !/^TYPE\d/i.test(text) ? text.toUpperCase() : undefined
}

function wantedBeforeRdata(ttl: number | undefined, hasClass: boolean): string {
  const before = [ttl === undefined ? 'a TTL' : '', hasClass ? '' : 'a class']
  const words = [...before.filter((word) => word !== ''), 'a record type that a zone can hold']
  return words.join(' or ')
}

/** The last number of SOA rdata: the TTL of a zone without $TTL. RFC 1035 section 3.3.13. */
function minimumOf(type: RdataType, rdata: Uint8Array): number | undefined {
  if (type.code !== RrType.SOA) return undefined
  const minimum = new DataView(rdata.buffer, rdata.byteOffset).getUint32(rdata.length - 4)
  return Math.min(minimum, zoneFileLimits.ttlMax)
}
