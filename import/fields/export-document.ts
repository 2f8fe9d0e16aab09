// Reads another server's export in JSON or YAML: its objects, each with its place in the file.
import { LineCounter, parseDocument } from 'yaml'
import type { ZoneSource } from '#dns/zone-file/zone-file.ts'
import type { ZoneFault, ZonePlace } from '#dns/zone-file/zone-record.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { ExportObject } from './export-object.ts'

/** More than the services export for their largest zones, within a gigabyte of nodes. */
const bytesMax = 32 * 1024 * 1024
const aliasesMax = 1_000

interface ExportDocument {
  /** The content of the file, as its field `rootKey`. */
  readonly root: ExportObject
  /** The start of the file. */
  readonly top: ZonePlace
}

export const rootKey = ''

/** JSON is YAML, too, so both get places. */
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
    const placeAt = (offset: number): ZonePlace => {
      const { line, col } = lines.linePos(offset)
      return { path, line, column: col }
    }
    const [error] = document.errors
    if (error !== undefined) {
      const { line, column } = placeAt(error.pos[0])
      return fault(`this is no JSON or YAML: ${error.message}`, line, column)
    }
    const value: unknown = document.toJS({ maxAliasCount: aliasesMax })
    return ok({ root: ExportObject.around(rootKey, value, document, placeAt), top: placeAt(0) })
  } catch (error) {
    const reason = error instanceof TypeError ? 'it is not UTF-8' : 'it is nested too deeply'
    return fault(`this is no JSON or YAML: ${reason}`)
  }
}
