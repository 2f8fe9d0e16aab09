// Compiles the files of one tree into a bundle or diagnostics. Equal files give equal bytes.
import type { Bundle } from '#bundle/format/bundle.ts'
import { encodeBundle, EncoderMemory } from '#bundle/encode/encode.ts'
import type { EncodedBundle } from '#bundle/encode/encode.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import { loadBundle } from '#bundle/load/load.ts'
import type { BundleModel } from '#bundle/format/model.ts'
import { assert } from '#lib/assert.ts'
import type { Tell } from '#lib/log.ts'
import { byCodeUnits } from '#lib/sequence/order.ts'
import { plainCodeOf } from '#routing/choose/ways.ts'
import { scriptBodiesOf } from '#routing/script/bodies.ts'
import { kinds } from '#schemas/kinds.ts'
import { valueAt } from '#diagnostics/diagnostic.ts'
import type { DiagnosticReport } from '#diagnostics/diagnostic.ts'
import { FileMemory } from './read/file-memory.ts'
import { Findings } from './findings.ts'
import { strictPolicy } from './values/health-check-policy.ts'
import type { HealthCheckPolicy } from './values/health-check-policy.ts'
import { hidesConfiguration, isHomeOf, roleOf } from './read/layout.ts'
import { lower, LowerMemory } from '#compiler/lower/lower.ts'
import { remedyFor } from './read/missing-configuration.ts'
import { nameOutline } from '#compiler/lower/name-outline.ts'
import type { NameOutline } from '#compiler/lower/name-outline.ts'
import { readFile, unreadableFile } from './read/read-file.ts'
import type { ReadFile } from './read/read-file.ts'
import { isSubdivision } from '#routing/geo/subdivisions.ts'
import type { CompileLimits, SubdivisionSource } from './rules/tree/tree-rule.ts'
import { treeRules } from './rules/tree/tree-rules.ts'
import { planOverlays } from '#compiler/lower/overlay-plan.ts'
import type { OverlayPlan } from '#compiler/lower/overlay-plan.ts'
import { RecordMemory } from '#compiler/lower/record-plan.ts'
import type { RecordPlan } from '#compiler/lower/record-plan.ts'
import { planRedirects } from '#compiler/lower/redirect-plan.ts'
import type { RedirectPlan } from '#compiler/lower/redirect-plan.ts'
import { planResponses } from '#compiler/lower/response-plan.ts'
import type { ResponsePlan } from '#compiler/lower/response-plan.ts'
import { fileBytesMax, overweight } from './read/source.ts'
import type { SourceFile } from './read/source.ts'
import type { Observe } from './tree/observe.ts'
import type { PolicyTests } from './tree/policy-tests.ts'
import { buildTree, TreeMemory } from './tree/tree.ts'
import type { PlacedFile, Tree } from './tree/tree.ts'
import { planZones } from '#compiler/lower/zone-plan.ts'
import type { ZonePlan } from '#compiler/lower/zone-plan.ts'

export interface CompileOptions {
  /** Commit id in hex; empty for a directory. */
  readonly commit: string
  /** Unix epoch, for warnings about past times; left out: no such warnings. */
  readonly nowMs?: number
  /** Stops before a bundle is made; the result is then no success. */
  readonly isOnlyChecked?: boolean
  /** The bytes of the files are dropped as soon as they are parsed: nobody else needs them. */
  readonly takesBytes?: boolean
}

/** On success the diagnostics are warnings and notes. */
export type CompileResult = CompileSuccess | CompileFailure
interface CompileReport extends DiagnosticReport {
  /** The diagnostics of these files may differ at another time. */
  readonly dependsOnTime: boolean
}
export interface CompileSuccess extends CompileReport {
  readonly ok: true
  readonly model: BundleModel
  readonly bundle: EncodedBundle
  /** Computed on demand. */
  readonly outline: () => NameOutline
  /** Equal to those of the outline, but available without it. */
  readonly guardrails: NameOutline['guardrails']
  /** The files read, sorted by path. */
  readonly read: readonly PlacedFile[]
}
export interface CompileFailure extends CompileReport {
  readonly ok: false
}

export interface Compiler {
  /** True when the next `compile` needs no bytes of the blob. */
  readonly has: (blobId: string) => boolean
  /**
   * Adds a file of the next compilation that was parsed elsewhere; the compiler takes ownership.
   */
  readonly learn: (file: ReadFile) => void
  readonly compile: (files: readonly SourceFile[], options: CompileOptions) => CompileResult
}

/** Parts that tests replace: limits that a small tree reaches, a loader that refuses. */
export interface CompilerParts {
  /** The policy of the nodes that get the bundle. */
  readonly checkPolicy: HealthCheckPolicy
  /** Subdivisions of ISO 3166-2 by default; else of a geo database. */
  readonly subdivisions: SubdivisionSource
  readonly limits: CompileLimits
  /** @returns the bundle as a node loads it, or why it would refuse. `known` was loaded before. */
  readonly load: (bundle: EncodedBundle, known: Bundle | undefined) => Bundle | string
  /** null: tests are parsed and checked, but not run. */
  readonly policyTests: PolicyTests | null
  /** null: no running nodes are observed. */
  readonly observe: Observe | null
  /** null: no progress is reported. */
  readonly tell: Tell | null
  /** False: warnings and notes are counted, not listed, because finding their lines costs time. */
  readonly listsRemarks: boolean
}

const defaultParts: CompilerParts = {
  checkPolicy: strictPolicy,
  subdivisions: { name: 'ISO 3166-2', has: isSubdivision },
  limits: bundleLimits,
  load: ({ bytes }, known) => {
    const loaded = loadBundle(bytes, undefined, known)
    return loaded.ok ? loaded.value : JSON.stringify(loaded.error)
  },
  policyTests: null,
  observe: null,
  tell: null,
  listsRemarks: true,
}

/**
 * Keeps the files of the last compilation by blob id and by place, and the intermediate results of
 * the last bundle: unchanged parts are not computed again. The result does not depend on them.
 */
export function createCompiler(parts: Partial<CompilerParts> = {}): Compiler {
  const all = { ...defaultParts, ...parts }
  const { checkPolicy, subdivisions, limits, load, policyTests, observe, tell, listsRemarks } = all
  const read = new FileMemory()
  let before: readonly PlacedFile[] = []
  const memory = {
    tree: new TreeMemory(),
    records: new RecordMemory(),
    lower: new LowerMemory(),
    encoder: new EncoderMemory(),
  }
  let loaded: Bundle | undefined
  return {
    has: (blobId) => read.has(blobId),
    learn: (file) => read.learn(file),
    compile: (files, { commit, nowMs, isOnlyChecked = false, takesBytes = false }) => {
      const tooLarge = tooLargeReport(files, limits, listsRemarks)
      if (tooLarge !== undefined) return tooLarge
      read.begin()
      const work: Work = {
        files,
        takesBytes,
        commit,
        nowMs: nowMs ?? null,
        limits,
        checkPolicy,
        subdivisions,
        load,
        policyTests,
        observe,
        tell,
        read,
        before,
        memory,
        loaded,
        findings: new Findings(),
      }
      for (const stage of isOnlyChecked ? checkingStages : stages) {
        tell?.(`compiling: ${stage.does}`)
        stage.run(work)
        // Reading and checking run to the end, so that one run shows every error.
        if (stage.stopsOnError && work.findings.errorCount > 0) break
      }
      read.end()
      before = work.placed ?? []
      loaded = work.loaded
      const report = { ...work.findings.report(listsRemarks), dependsOnTime: dependsOnTime(work) }
      if (work.findings.errorCount > 0 || isOnlyChecked) return { ok: false, ...report }
      assert(work.model !== undefined, 'a compilation without errors has a model')
      assert(work.bundle !== undefined, 'a compilation without errors has a bundle')
      const { tree, zones, records, responses, model, bundle, placed } = work
      const plans = { zones: zones!, records: records!, responses: responses! }
      const outline = (): NameOutline => nameOutline(tree!, plans)
      return {
        ok: true,
        model,
        bundle,
        outline,
        guardrails: tree!.settings?.object.spec.guardrails,
        read: placed!,
        ...report,
      }
    },
  }
}

/** A script in a policy test is stopped when it takes too long, and the test is then not judged. */
function dependsOnTime({ overlays, policyTests, loaded }: Work): boolean {
  const { rollouts, windows } = overlays!
  const isTimed = policyTests !== null && loaded !== undefined && scriptBodiesOf(loaded).length > 0
  return isTimed || rollouts.length + windows.length > 0
}

/** Nothing is parsed, and the memory is kept for the commit that mends the tree. */
function tooLargeReport(
  files: readonly SourceFile[],
  { configurationBytesMax }: CompileLimits,
  listsRemarks: boolean,
): CompileFailure | undefined {
  const weight = overweight(files, configurationBytesMax)
  if (weight === undefined) return undefined
  const { bytes, heaviest, heaviestBytes } = weight
  const args = [bytes, configurationBytesMax, heaviestBytes].map(String)
  const findings = new Findings()
  findings.addForPath('configuration-too-large', 'gslb.yaml', [...args, heaviest])
  return { ok: false, ...findings.report(listsRemarks), dependsOnTime: false }
}

/** Results kept for the next compilation. */
interface Memory {
  readonly tree: TreeMemory
  readonly records: RecordMemory
  readonly lower: LowerMemory
  readonly encoder: EncoderMemory
}

/** One compilation, filled in stage by stage. */
interface Work {
  readonly files: readonly SourceFile[]
  readonly takesBytes: boolean
  readonly commit: string
  readonly nowMs: number | null
  readonly limits: CompileLimits
  readonly checkPolicy: HealthCheckPolicy
  readonly subdivisions: SubdivisionSource
  readonly load: CompilerParts['load']
  readonly policyTests: PolicyTests | null
  readonly observe: Observe | null
  readonly tell: Tell | null
  readonly read: FileMemory
  /** The files placed by the last compilation, by path. */
  readonly before: readonly PlacedFile[]
  readonly memory: Memory
  /** The last bundle; after loading, this one. */
  loaded: Bundle | undefined
  readonly findings: Findings
  placed?: readonly PlacedFile[]
  tree?: Tree
  zones?: ZonePlan | undefined
  records?: RecordPlan | undefined
  responses?: ResponsePlan
  redirects?: RedirectPlan
  overlays?: OverlayPlan
  model?: BundleModel
  bundle?: EncodedBundle
}

interface Stage {
  /** The progress text. */
  readonly does: string
  readonly stopsOnError: boolean
  readonly run: (work: Work) => void
}

const stages: readonly Stage[] = Object.freeze([
  { does: 'reading files', stopsOnError: false, run: readFiles },
  { does: 'joining files', stopsOnError: false, run: bindTree },
  { does: 'checking', stopsOnError: true, run: checkTree },
  { does: 'replacing names', stopsOnError: true, run: lowerTree },
  { does: 'making the bundle', stopsOnError: true, run: encodeModel },
  { does: 'reading the bundle', stopsOnError: true, run: selfTest },
  { does: 'asking policy tests', stopsOnError: true, run: askTests },
  { does: 'looking at what is used', stopsOnError: true, run: tellObserved },
])

const checkingStages = stages.slice(
  0,
  stages.findIndex(({ run }) => run === lowerTree),
)

function readFiles(work: Work): void {
  const { before } = work
  const sorted = sortedByPath(work.files, before)
  const placed = new Array<PlacedFile>(sorted.length)
  const outside: string[] = []
  let count = 0
  let at = 0
  for (let i = 0; i < sorted.length; i++) {
    const source = sorted[i]!
    work.tell?.('compiling: file', i + 1, sorted.length)
    // Usually the same string object: comparing unequal ones costs more.
    while (at < before.length && before[at]!.path !== source.path) {
      if (before[at]!.path > source.path) break
      at++
    }
    const one = unchanged(source, before[at], work) ?? readOne(source, work)
    if (one !== undefined) placed[count++] = one
    else if (roleOf(source.path).role === 'outside') outside.push(source.path)
  }
  placed.length = count
  if (count === 0) reportMissing(work)
  else for (const path of outside) work.findings.addForPath('file-outside', path)
  work.placed = placed
}

/**
 * Sorts by path, so that the order does not depend on the lister. Usually the files are sorted
 * already, and their path strings are the objects of the last compilation.
 */
function sortedByPath(
  files: readonly SourceFile[],
  before: readonly PlacedFile[],
): readonly SourceFile[] {
  let at = 0
  let wasKnown = false
  for (let i = 0; i < files.length; i++) {
    const { path } = files[i]!
    if (before[at]?.path !== path) while (at < before.length && before[at]!.path < path) at++
    const isKnown = before[at]?.path === path
    if (isKnown) at++
    // Two consecutive known files are in order already.
    const isInOrder = i === 0 || (isKnown && wasKnown) || files[i - 1]!.path < path
    if (!isInOrder) return files.toSorted((a, b) => byCodeUnits(a.path, b.path))
    wasKnown = isKnown
  }
  return files
}

/** Reported alone: in a wrong directory a warning for each YAML file would bury it. */
function reportMissing({ files, findings }: Work): void {
  const remedy = remedyFor(files.map(({ path }) => path))
  findings.addForPath('configuration-missing', 'gslb.yaml', [remedy])
}

/** Whether the same content is in the same place as before. */
function unchanged(
  { path, blobId, kind }: SourceFile,
  before: PlacedFile | undefined,
  work: Work,
): PlacedFile | undefined {
  // Files refused unread have no blob id.
  const isSame = before?.path === path && before.file.blobId === blobId && kind === 'file'
  if (!isSame) return undefined
  work.read.keep(before.file)
  work.findings.addForFile(path, before.file)
  return before
}

function readOne(source: SourceFile, work: Work): PlacedFile | undefined {
  const { path } = source
  const role = roleOf(path)
  const tenant = role.role === 'tenant' ? role.tenant : ''
  const unreadable = { path, tenant, file: unreadableFile() }
  if (source.kind !== 'file' && hidesConfiguration(path)) {
    work.findings.addForPath(source.kind === 'symlink' ? 'file-symlink' : 'file-submodule', path)
    return unreadable
  }
  if (role.role === 'ignored' || role.role === 'outside') return undefined
  if (source.sizeBytes > fileBytesMax) {
    const args = [String(source.sizeBytes), String(fileBytesMax)]
    work.findings.addForPath('file-too-large', path, args)
    return unreadable
  }
  const file = contentOf(source, work)
  work.findings.addForFile(path, file)
  if (file.kind === undefined || isHomeOf(file.kind, role)) {
    return { path, tenant, file }
  }
  const at = { path, file, place: valueAt('kind') }
  work.findings.addForTree('kind-misplaced', at, { args: [file.kind, kinds[file.kind].path] })
  return unreadable
}

function contentOf(source: SourceFile, work: Work): ReadFile {
  const { blobId, path } = source
  let file = work.read.get(blobId)
  if (file === undefined) {
    const { bytes } = source
    assert(bytes !== null, `the bytes of ${path} are given, or known`)
    file = readFile(blobId, bytes)
    if (work.takesBytes) source.bytes = null
  }
  work.read.keep(file)
  return file
}

function bindTree(work: Work): void {
  work.tree = buildTree(work.placed!, work.memory.tree)
  work.zones = planZones(work.tree)
  const { tree, zones, memory } = work
  work.records = zones === undefined ? undefined : memory.records.planOf(tree, zones)
  work.responses = planResponses(work.tree)
  work.redirects = planRedirects(work.tree)
  work.overlays = planOverlays(work.tree)
}

function checkTree({ findings, ...work }: Work): void {
  const { tree, responses, redirects, overlays } = work
  const plans = {
    zones: work.zones,
    records: work.records,
    responses: responses!,
    redirects: redirects!,
    overlays: overlays!,
  }
  const subject = { ...work, tree: tree!, ...plans }
  for (const rule of treeRules) rule(subject, findings.addForTree)
}

function lowerTree(work: Work): void {
  assert(work.zones !== undefined, 'settings without errors give zones')
  const plans = {
    zones: work.zones,
    records: work.records!,
    responses: work.responses!,
    redirects: work.redirects!,
    overlays: work.overlays!,
  }
  work.model = lower(work.tree!, plans, work.commit, work.memory.lower)
}

function encodeModel(work: Work): void {
  work.bundle = encodeBundle(work.model!, plainCodeOf, work.memory.encoder)
}

function selfTest(work: Work): void {
  const loaded = work.load(work.bundle!, work.loaded)
  if (typeof loaded !== 'string') work.loaded = loaded
  else work.findings.addForPath('self-test-failed', 'gslb.yaml', [loaded])
}

function askTests({ policyTests, loaded, tree, findings }: Work): void {
  const tests = tree!.of.Test
  if (policyTests === null || tests.length === 0) return
  assert(loaded !== undefined, 'what the self-test has loaded can be asked')
  policyTests(loaded, tests, findings.addForTree)
}

function tellObserved({ observe, tree, findings }: Work): void {
  observe?.(tree!, findings.addForTree)
}
