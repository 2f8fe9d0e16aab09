// What `gslbd check` would refuse of an import, told at the place in its source.
import { hash } from 'node:crypto'
import { createCompiler } from '#compiler/compile.ts'
import { helpOf, messageOf } from '#diagnostics/diagnostics.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import { lenientPolicy } from '#settings/check-policy.ts'
import { printYaml } from '#compiler/yaml/edit.ts'
import type { JsonObject } from '#compiler/yaml/text.ts'
import type { ZoneFault, ZonePlace } from '#dns/zone-file/zone-record.ts'
import { apiVersion } from '#schemas/objects/metadata.ts'

export interface CheckedFile {
  readonly path: string
  readonly text: string
  /** Where each record set of the file was written. */
  readonly places: readonly ZonePlace[]
}

/** The errors of a configuration that has this zone alone. @param zone item of `spec.zones` */
export function faultsOfPlan(zone: JsonObject, files: readonly CheckedFile[]): ZoneFault[] {
  const kind = { apiVersion, kind: 'Settings', metadata: { name: 'settings' } }
  // A zone without NS records is told; the settings that it goes to may have servers for all zones.
  const nameservers = zone['nameservers'] ?? [{ name: 'ns.invalid.' }]
  const settings = printYaml({ ...kind, spec: { zones: [{ ...zone, nameservers }] } })
  const sources = [sourceFile('gslb.yaml', settings)]
  for (const { path, text } of files) sources.push(sourceFile(path, text))
  const result = createCompiler({ checkPolicy: lenientPolicy }).compile(sources, { commit: '' })
  if (result.ok) return []
  const placesOf = new Map(files.map(({ path, places }) => [path, places]))
  return result.diagnostics.flatMap((diagnostic) => {
    if (diagnostic.severity !== 'error') return []
    const { field, spans } = diagnostic
    const { path } = spans[0]
    const index = Number(/^spec\.records[.[](\d+)/.exec(field)?.[1] ?? 0)
    const place = placesOf.get(path)?.[index] ?? { path, line: 1, column: 1 }
    return [{ ...place, message: `${messageOf(diagnostic)}; to do: ${helpOf(diagnostic)}` }]
  })
}

function sourceFile(path: string, text: string): SourceFile {
  const bytes = Buffer.from(text)
  const blobId = hash('sha1', Buffer.concat([Buffer.from(`blob ${bytes.length}\0`), bytes]))
  return { path, blobId, kind: 'file', sizeBytes: bytes.length, bytes }
}
