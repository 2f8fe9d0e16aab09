// Builds a record type from the fields of its rdata: how to parse and print it.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { hexField } from './binary-fields.ts'
import type { Field, TextReader } from './field.ts'
import { OctetReader, OctetWriter, rdataBytesMax } from './octets.ts'
import type { RdataFault, RdataText } from './tokens.ts'
import { ValueReader } from './value-reader.ts'

export interface RdataType {
  readonly name: string
  readonly code: number
  /** Names in the rdata may be compressed: only in types of RFC 1035. RFC 3597 section 4. */
  readonly namesCompress: boolean
  /**
   * Names in the rdata are lower-cased in the canonical form. RFC 4034 section 6.2, RFC 6840 5.1.
   */
  readonly namesFold: boolean
  /**
   * Parses presentation form or the generic form, `\# 4 …` (RFC 3597 section 5).
   *
   * @param origin wire form of the name that relative names are below
   */
  readonly parse: (text: RdataText, origin?: Uint8Array) => Result<Uint8Array, RdataFault>
  /**
   * Prints presentation form; `\# 4 …` where the octets are not valid for this type.
   *
   * @param reader left out: the canonical form
   */
  readonly print: (rdata: Uint8Array, origin?: Uint8Array, reader?: TextReader) => string
  /** Offsets of the names; undefined when the octets are not valid for this type. */
  readonly nameOffsets: (rdata: Uint8Array) => readonly number[] | undefined
}

interface RdataShape {
  readonly name: string
  readonly code: number
  readonly fields: readonly Field[]
  readonly namesCompress?: boolean
  readonly namesFold?: boolean
}

export function rdataType(shape: RdataShape): RdataType {
  const { name, code, fields, namesCompress = false, namesFold = false } = shape
  return Object.freeze({
    name,
    code,
    namesCompress,
    namesFold,
    parse: (text: RdataText, origin?: Uint8Array) => {
      const [first] = text.tokens
      if (first?.text !== '\\#' || first.isQuoted) return parseFields(fields, text, origin)
      const rdata = parseFields([generic], text, undefined)
      if (!rdata.ok || nameOffsets(fields, rdata.value) !== undefined) return rdata
      const { column } = text.tokens[2] ?? first
      return err({ column, expected: `octets that are the rdata of ${name}` })
    },
    print: (rdata: Uint8Array, origin?: Uint8Array, reader?: TextReader) =>
      printed(fields, rdata, origin, reader) ?? printGeneric(rdata),
    nameOffsets: (rdata: Uint8Array) => nameOffsets(fields, rdata),
  })
}

/** A type without a form of its own. RFC 3597 section 5. */
export function unknownRdataType(code: number): RdataType {
  return Object.freeze({
    name: `TYPE${code}`,
    code,
    namesCompress: false,
    namesFold: false,
    parse: (text: RdataText) => parseFields([generic], text, undefined),
    print: printGeneric,
    nameOffsets: () => [],
  })
}

/** Shared by all types: parsing one rdata never begins another. */
const out = new OctetWriter()

function parseFields(
  fields: readonly Field[],
  text: RdataText,
  origin: Uint8Array | undefined,
): Result<Uint8Array, RdataFault> {
  const values = new ValueReader(text, origin)
  out.reset()
  for (const field of fields) {
    if (values.fault === undefined) field.parse(values, out)
    if (values.fault !== undefined) return err(values.fault)
  }
  if (out.length > rdataBytesMax) {
    const column = text.tokens[0]?.column ?? text.endColumn
    return err({ column, expected: `at most ${rdataBytesMax} octets of rdata` })
  }
  values.finish()
  if (values.fault !== undefined) return err(values.fault)
  return ok(out.done())
}

/** @returns undefined when the octets are not valid for this type */
function printed(
  fields: readonly Field[],
  rdata: Uint8Array,
  origin: Uint8Array | undefined,
  reader: TextReader | undefined,
): string | undefined {
  const octets = new OctetReader(rdata)
  // A counted loop: zones have millions of rdata.
  let text = ''
  for (let i = 0; i < fields.length; i++) {
    const one = fields[i]!.print(octets, origin, reader)
    text = i === 0 ? one : `${text} ${one}`
  }
  return isWhole(octets, rdata) ? text.trimEnd() : undefined
}

function nameOffsets(fields: readonly Field[], rdata: Uint8Array): readonly number[] | undefined {
  const octets = new OctetReader(rdata)
  for (const { skip, print } of fields) {
    if (skip === undefined) print(octets, undefined)
    else skip(octets)
  }
  return isWhole(octets, rdata) ? octets.nameOffsets : undefined
}

const isWhole = (octets: OctetReader, rdata: Uint8Array): boolean =>
  !octets.isBad && octets.left === 0 && rdata.length <= rdataBytesMax

const hexDigits = hexField('hex digits')

/** `\# length hex`: the generic form. RFC 3597 section 5. */
const generic: Field = {
  parse: (values, out) => {
    const form = 'the form of RFC 3597: \\#, the number of octets, and their hex digits'
    const mark = values.takePlain(form)
    if (mark === undefined) return
    if (mark.text !== '\\#') return values.fail(mark.column, form)
    const length = values.takePlain('the number of octets')
    if (length === undefined) return
    if (!/^\d{1,5}$/.test(length.text) || Number(length.text) > rdataBytesMax) {
      return values.fail(length.column, `the number of octets, 0 to ${rdataBytesMax}`)
    }
    if (length.text !== '0') hexDigits.parse(values, out)
    if (out.length !== Number(length.text)) {
      values.fail(length.column, `${out.length}, as many octets as there are hex digits for`)
    }
  },
  print: (octets) => printGeneric(octets.rest()),
}

export function printGeneric(rdata: Uint8Array): string {
  return `\\# ${rdata.length} ${Buffer.from(rdata).toString('hex')}`.trimEnd()
}
