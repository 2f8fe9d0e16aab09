// Turns an import into files of a configuration repository. Writes nothing.
import { editYaml, printYaml } from '#compiler/yaml/edit.ts'
import { readYaml } from '#compiler/yaml/document.ts'
import { jsonLines } from '#compiler/yaml/parse/json-lines.ts'
import { sameValue } from '#compiler/yaml/same-value.ts'
import type { JsonObject, JsonValue } from '#compiler/yaml/text.ts'
import { formatName } from '#dns/name.ts'
import type { ZoneFault, ZonePlace } from '#dns/zone-file/zone-record.ts'
import { kinds } from '#schemas/kinds.ts'
import { apiVersion } from '#schemas/objects/metadata.ts'
import { assert } from '#lib/assert.ts'
import { isFields } from '#lib/text/json.ts'
import type { Fields } from '#lib/text/json.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Imported, ImportedRule, Note } from '#import/sources/imported.ts'
import { doubtfulSets } from './doubtful-sets.ts'
import { recordSetsOf } from './record-sets.ts'
import { recordsFiles, SetPrinter } from './records-yaml.ts'
import { rulesFiles } from './rules-yaml.ts'
import type { RecordSet } from './set-list.ts'
import { zoneSettingsOf } from './zone-settings.ts'
import { createCompiler } from '#compiler/compile.ts'
import type { Compiler, CompilerParts } from '#compiler/compile.ts'
import { helpOf, messageOf } from '#diagnostics/diagnostics.ts'
import { readPrinted } from '#compiler/read/read-file.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import { lenientPolicy } from '#settings/check-policy.ts'

export interface PlannedFile {
  /** Path in the repository. */
  readonly path: string
  readonly octets: Uint8Array
  /** Content for people: `12 record sets`. */
  readonly holds: string
}

export interface ImportPlan {
  readonly zone: string
  /** An item of `spec.zones` in gslb.yaml; null: there is no zone to serve. */
  readonly settings: JsonObject | null
  readonly files: readonly PlannedFile[]
  readonly notes: readonly Note[]
}

export function planImport(
  imported: Imported,
  tenant: string,
  tell: CompilerParts['tell'] = null,
): Result<ImportPlan, readonly ZoneFault[]> {
  const { responseRules } = imported
  if (responseRules !== undefined) return ok(planRules(imported, responseRules))
  tell?.('making files of the records')
  const grouped = recordSetsOf(imported)
  if (!grouped.ok) return grouped
  const { zone: settings, sets, servers, notes } = zoneSettingsOf(grouped.value, tenant)
  const { origin } = grouped.value
  const zone = formatName(origin)
  const stem = zone === '.' ? 'root' : zone.slice(0, -1)
  const check = new PlanCheck(settings, grouped.value.soa?.place, tell)
  // Services affect which record sets are valid.
  const hasObjects = imported.objects.length > 0
  const isDoubtful = hasObjects ? undefined : doubtfulSets(sets, origin, servers)
  const printer = new SetPrinter(sets, origin)
  let next = 0
  const records = Array.from(recordsFiles(stem, sets, printer), (file) => {
    const { number, octets, sets: count } = file
    const name = fileStem(number === 1 ? stem : `${stem}-${number}`)
    const path = `tenants/${tenant}/records/${name}.yaml`
    const first = sets.at(next)
    const checked: RecordSet[] = []
    for (const end = next + count; next < end; next++) {
      if (isDoubtful?.[next] !== 0) checked.push(sets.at(next))
    }
    const value = printer.fileOf(
      file.name,
      checked.map((set) => printer.printed(set)),
    )
    check.addRecords(path, octets.length, value, (index) => (checked[index] ?? first).place)
    return { path, octets, holds: count === 1 ? '1 record set' : `${count} record sets` }
  })
  const objects = imported.objects.map(({ kind, name, spec }) => {
    const path = kinds[kind].path.replace('<tenant>', tenant).replace('<name>', fileStem(name))
    const octets = Buffer.from(printYaml({ apiVersion, kind, metadata: { name }, spec }))
    check.add(path, octets)
    const holds = kind === 'Pool' ? 'a pool' : `a service: ${spec['domain'] as string}`
    return { path, octets, holds }
  })
  const faults = check.faults()
  if (faults.length > 0) return err(faults)
  return ok({
    zone,
    settings,
    files: [...records, ...objects],
    notes: [...imported.notes, ...grouped.value.notes, ...notes],
  })
}

/** Rules apply to the names of all tenants. */
function planRules({ origin, notes }: Imported, rules: readonly ImportedRule[]): ImportPlan {
  assert(origin !== undefined, 'a policy zone has a name')
  const zone = formatName(origin).toLowerCase()
  const source = zone === '.' ? 'rpz' : zone.slice(0, -1)
  const files = rulesFiles(source, rules).map(({ name, text, rules: count }) => ({
    path: kinds.ResponsePolicy.path.replace('<source>', fileStem(name)),
    octets: Buffer.from(text),
    holds: count === 1 ? '1 response rule' : `${count} response rules`,
  }))
  return { zone, settings: null, files, notes }
}

/** Names may contain a slash (RFC 2317) and other characters that paths may not. */
const fileStem = (name: string): string =>
  name
    .replace(/^\*\./, 'any.')
    .replace(/[^a-z0-9_.-]+/gi, '-')
    .replace(/^[.-]+/, '')
    .slice(0, 200)

/** The change of gslb.yaml. */
export type SettingsChange =
  | { readonly is: 'kept' }
  | { readonly is: 'new' | 'added'; readonly text: string }
  | { readonly is: 'declared'; readonly differs: boolean }

/**
 * @param before text of gslb.yaml; undefined when there is none
 * @param zone null: none
 */
export function settingsWith(
  before: string | undefined,
  zone: JsonObject | null,
): Result<SettingsChange, string> {
  if (before === undefined) {
    const spec: JsonObject = zone === null ? {} : { zones: [zone] }
    const object = { apiVersion, kind: 'Settings', metadata: { name: 'settings' }, spec }
    return ok({ is: 'new', text: printYaml(object) })
  }
  if (zone === null) return ok({ is: 'kept' })
  const { value, findings } = readYaml(before)
  const spec = field(value, 'spec')
  if (findings.length > 0 || spec === undefined) {
    return err('gslb.yaml has faults; "gslbd check" lists them')
  }
  const zones = Array.isArray(spec['zones']) ? (spec['zones'] as JsonValue[]) : []
  const known = zones.find((one) => nameOf(one) === nameOf(zone))
  if (known !== undefined) return ok({ is: 'declared', differs: !sameValue(known, zone) })
  const next = { ...(value as JsonObject), spec: { ...spec, zones: [...zones, zone] } }
  return ok({ is: 'added', text: editYaml(before, next) })
}

function field(value: unknown, key: string): Fields | undefined {
  const found = isFields(value) ? value[key] : undefined
  return isFields(found) ? found : undefined
}

/** The name in the form for comparison: the final dot is optional. */
function nameOf(zone: JsonValue): string {
  const name = isFields(zone) ? zone['name'] : undefined
  return typeof name === 'string' ? `${name.toLowerCase().replace(/\.$/, '')}.` : ''
}

/** The source place of a record set of a file, by position; -1: of the file itself. */
type PlaceOf = (index: number) => ZonePlace

/**
 * Findings of `gslbd check` for a configuration with this zone alone, at their places in the
 * source.
 */
class PlanCheck {
  readonly #compiler: Compiler
  readonly #sources: SourceFile[] = []
  readonly #placeOf = new Map<string, PlaceOf>()

  /**
   * @param zone item of `spec.zones`
   * @param place of what the zone was made from; undefined where the source does not have it
   */
  constructor(zone: JsonObject, place: ZonePlace | undefined, tell: CompilerParts['tell']) {
    this.#compiler = createCompiler({ checkPolicy: lenientPolicy, tell, listsRemarks: false })
    const kind = { apiVersion, kind: 'Settings', metadata: { name: 'settings' } }
    // A zone without NS records is reported; the target's settings may have servers for all zones.
    const nameservers = zone['nameservers'] ?? [{ name: 'ns.invalid.' }]
    const text = printYaml({ ...kind, spec: { zones: [{ ...zone, nameservers }] } })
    this.add('gslb.yaml', Buffer.from(text))
    if (place !== undefined) this.#placeOf.set('gslb.yaml', () => place)
  }

  add(path: string, bytes: Uint8Array): void {
    this.#sources.push({ path, blobId: path, kind: 'file', sizeBytes: bytes.length, bytes })
  }

  /**
   * @param sizeBytes of the whole file
   * @param value its doubtful part, as an object that needs no parsing
   */
  addRecords(path: string, sizeBytes: number, value: object, placeOf: PlaceOf): void {
    const text = jsonLines(value)
    this.#compiler.learn(readPrinted(path, text, value))
    // Each set has a line of its own, behind the first one.
    const ends = Array.from(text.matchAll(/\n/g), ({ index }) => index)
    this.#placeOf.set(path, (start) => placeOf(ends.findLastIndex((end) => end < start)))
    this.#sources.push({ path, blobId: path, kind: 'file', sizeBytes, bytes: null })
  }

  faults(): ZoneFault[] {
    const { diagnostics } = this.#compiler.compile(this.#sources, {
      commit: '',
      isOnlyChecked: true,
    })
    return diagnostics.flatMap((diagnostic) => {
      if (diagnostic.severity !== 'error') return []
      const { path, start } = diagnostic.spans[0]
      const place = this.#placeOf.get(path)?.(start) ?? { path, line: 1, column: 1 }
      return [{ ...place, message: `${messageOf(diagnostic)}; to do: ${helpOf(diagnostic)}` }]
    })
  }
}
