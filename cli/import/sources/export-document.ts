// The export of another server in JSON or YAML: its values, each with its place in the file.
import { LineCounter, isNode, parseDocument } from 'yaml'
import type { Document } from 'yaml'
import type { ZoneSource } from '#dns/zone-file/zone-file.ts'
import type { ZoneFault, ZonePlace } from '#dns/zone-file/zone-record.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

/** More than the largest zones of the services export, at a gigabyte of nodes. */
const bytesMax = 32 * 1024 * 1024
const aliasesMax = 1_000

export type Fields = Readonly<Record<string, unknown>>
export type Path = readonly (string | number)[]

export interface ExportDocument {
  readonly value: unknown
  readonly placeOf: (path: Path) => ZonePlace
}

/** JSON is YAML, too, so that both have places. */
export function readExport({
  path,
  octets,
}: ZoneSource): Result<ExportDocument, readonly ZoneFault[]> {
  const fault = (message: string, line = 1, column = 1) => err([{ path, line, column, message }])
  if (octets.length > bytesMax) return fault(`more than ${bytesMax} octets; export one zone alone`)
  const lines = new LineCounter()
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(octets)
    const document = parseDocument(text, {
      version: '1.2',
      lineCounter: lines,
      prettyErrors: false,
      uniqueKeys: false,
    })
    const at = (offset: number): ZonePlace => {
      const { line, col } = lines.linePos(offset)
      return { path, line, column: col }
    }
    const [error] = document.errors
    if (error !== undefined) {
      const { line, column } = at(error.pos[0])
      return fault(`this is no JSON or YAML: ${error.message}`, line, column)
    }
    const value: unknown = document.toJS({ maxAliasCount: aliasesMax })
    return ok({ value, placeOf: (place) => at(offsetOf(document, place)) })
  } catch (error) {
    const reason = error instanceof TypeError ? 'it is not UTF-8' : 'it is nested too deeply'
    return fault(`this is no JSON or YAML: ${reason}`)
  }
}

/** Of the nearest value that is there. */
function offsetOf(document: Document, path: Path): number {
  for (let length = path.length; length >= 0; length--) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true)
    if (isNode(node) && node.range) return node.range[0]
  }
  return 0
}

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What is no list is an empty one. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {})
/** Texts and numbers as text; all else is empty. */
export const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''
export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
