// `gslbd export`: writes a zone of a configuration, or its response rules, as a zone file.
import { isAbsentZone } from '#bundle/load/absent-zones.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import type { BundleModel } from '#bundle/format/model.ts'
import { adoptBundle, loadBundle } from '#bundle/load/load.ts'
import { encodeWritten } from '#zones/dynamic/written-bundle.ts'
import { writtenSnapshot } from '#zones/dynamic/written-records.ts'
import { exportRpz } from '#zones/export/rpz-export.ts'
import { exportZone } from '#zones/export/zone-export.ts'
import type { ZoneExport } from '#zones/export/zone-export.ts'
import { nameOfZone } from '#routing/print/bundle-json.ts'
import { openBundleFile } from '#cli/files/bundle-file.ts'
import { readWrittenRecords } from '#cli/files/written-records-file.ts'
import { checkPolicyOf, checkPolicyOptions, checkPolicyUsage } from '#settings/check-policy.ts'
import { readConfiguration } from '#gitops/checkout/config-directory.ts'
import { commandLine, Exit, UsageError } from '#system/process/command.ts'
import type { Command, Io } from '#system/process/command.ts'
import { createCompiler } from '#compiler/compile.ts'
import { printText, summary } from '#diagnostics/print/text.ts'
import { formatName, parseName } from '#dns/name.ts'
import { anyReader, zoneReaders } from '#dns/zone-file/zone-readers.ts'
import type { ZoneReader } from '#dns/zone-file/zone-readers.ts'
import { zoneLines } from '#dns/zone-file/zone-writer.ts'
import type { HealthCheckPolicy } from '#compiler/values/health-check-policy.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { suggest } from '#lib/suggest.ts'

const readerNames = zoneReaders.map(({ name }) => name).join(', ')
const usage = `Usage: gslbd export zone NAME [options]
       gslbd export rpz [options]

Prints the zone NAME of a configuration as a zone file (RFC 1035): SOA, name servers, all static
records, and of balanced names the addresses of every enabled member. Host names of members, which
each node resolves, are named in comments. With rpz: the response rules of a configuration, as a
response policy zone for resolvers.

  --config PATH       the configuration directory (default: .)
  --bundle FILE       a compiled bundle instead
  --written FILE      with the records written at run time, as GET /dns/written-records lists them
  --serial N          serial of the SOA record (default: serialBase and 1); nodes count the commits
  --for READER        the server that reads the zone; without it, what all of them read:
                      ${readerNames}
  --origin NAME       name of the policy zone (default: rpz.)
  --source NAME       only response rules of this source
${checkPolicyUsage}

Exit codes: 0 printed; 1 errors in configuration or bundle, or no such zone; 2 wrong call or
unreadable path.`

const serialMax = 4_294_967_295

export const exportCommand: Command = {
  name: 'export',
  summary: 'print a zone, or the response rules, as a zone file',
  usage,
  run: async (args, io) => {
    const { positionals, values } = commandLine(args, {
      config: { type: 'string' },
      bundle: { type: 'string' },
      serial: { type: 'string' },
      written: { type: 'string' },
      for: { type: 'string' },
      origin: { type: 'string' },
      source: { type: 'string' },
      ...checkPolicyOptions,
    })
    const [word, text, ...rest] = positionals
    const what = whatOf(word, text, rest)
    const isZone = what.is === 'zone'
    if (isZone && (values.origin ?? values.source) !== undefined) {
      throw new UsageError('--origin and --source are for rpz')
    }
    if (!isZone && values.written !== undefined) throw new UsageError('--written is for a zone')
    const reader = readerNamed(values.for)
    const serial = serialOf(values.serial)
    const fail = (exit: Exit, sentence: string) => {
      io.err(`gslbd export: ${sentence}\n`)
      return exit
    }
    if (values.bundle !== undefined && values.config !== undefined) {
      throw new UsageError('give --config or --bundle, not both')
    }
    if (!isZone && values.bundle !== undefined) throw new UsageError('--bundle is for a zone')
    const policy = checkPolicyOf(values)
    const source =
      values.bundle === undefined
        ? await compiled(values.config ?? '.', policy, io)
        : opened(values.bundle)
    if (!source.ok) return fail(source.error.exit, source.error.message)
    const written = writtenFor(source.value.bundle, values.written)
    if (!written.ok) return fail(Exit.Usage, written.error)
    const exported =
      what.is === 'zone'
        ? zoneOf(source.value.bundle, { name: what.name, serial, written: written.value })
        : rpzOf(source.value.rules, serial ?? 1, values)
    if (!exported.ok) return fail(Exit.ErrorsFound, exported.error)
    for (const remark of exported.value.remarks) io.out(`; ${remark}\n`)
    const { origin, records } = exported.value
    for (const line of zoneLines(records, { origin, names: 'relative', reader })) io.out(line)
    return Exit.Ok
  },
}

function readerNamed(name: string | undefined): ZoneReader {
  if (name === undefined) return anyReader
  const reader = zoneReaders.find((one) => one.name === name)
  if (reader !== undefined) return reader
  throw new UsageError(`--for is one of ${readerNames}`)
}

type What = { readonly is: 'zone'; readonly name: string } | { readonly is: 'rpz' }

function whatOf(word: string | undefined, text: string | undefined, rest: readonly string[]): What {
  if (word === 'rpz') {
    if (text !== undefined) throw new UsageError('rpz takes no name; see --origin and --source')
    return { is: 'rpz' }
  }
  if (word !== 'zone') throw new UsageError('say what is exported: zone or rpz')
  if (text === undefined || rest.length > 0) throw new UsageError('give the name of one zone')
  return { is: 'zone', name: `${text.toLowerCase().replace(/\.$/, '')}.` }
}

function serialOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,10}$/.test(text) || Number(text) > serialMax) {
    throw new UsageError(`--serial is a number up to ${serialMax}`)
  }
  return Number(text)
}

interface ZoneAsked {
  readonly name: string
  readonly serial: number | undefined
  readonly written: Bundle | undefined
}

function zoneOf(bundle: Bundle, { name, serial, written }: ZoneAsked): Result<ZoneExport, string> {
  if (isAbsentZone(bundle, name)) {
    return err(
      `the records of ${name} are not here: none have come from its primary servers, or they ` +
        'have expired; export it when they are, or ask a primary server',
    )
  }
  const exported = exportZone(bundle, name, serial, written)
  if (exported !== undefined) return ok(exported)
  const names = Array.from(bundle.zoneNode, (_, zone) => nameOfZone(bundle, zone))
  const near = suggest(name, names)
  const hint = near === undefined ? '' : `; did you mean "${near}"?`
  return err(`there is no zone ${name}${hint}`)
}

/** @returns undefined: there are none in zones of the bundle. Errors: a sentence */
function writtenFor(bundle: Bundle, path: string | undefined): Result<Bundle | undefined, string> {
  if (path === undefined) return ok(undefined)
  const records = readWrittenRecords(path)
  if (!records.ok) return records
  const { handed } = encodeWritten(writtenSnapshot(1, records.value).records, bundle)
  return ok(handed === null ? undefined : adoptBundle(handed.bytes, handed.digest))
}

interface RpzOptions {
  readonly origin?: string | undefined
  readonly source?: string | undefined
}

function rpzOf(
  responseRules: BundleModel['responseRules'],
  serial: number,
  { origin: text = 'rpz.', source }: RpzOptions,
): Result<ZoneExport, string> {
  const origin = parseName(text)
  if (!origin.ok) throw new UsageError(`--origin is no name: ${text}`)
  const rules = responseRules.filter((rule) => source === undefined || rule.source === source)
  if (rules.length > 0 || source === undefined) {
    const name = formatName(origin.value)
    return ok({ origin: origin.value, ...exportRpz(rules, name, serial) })
  }
  const near = suggest(source, [...new Set(responseRules.map((rule) => rule.source))])
  const hint = near === undefined ? '' : `; did you mean "${near}"?`
  return err(`there is no response rule of the source ${source}${hint}`)
}

interface Fault {
  readonly exit: Exit
  readonly message: string
}
const fault = (exit: Exit, message: string): Result<never, Fault> => err({ exit, message })

interface Source {
  readonly bundle: Bundle
  /** undefined: a bundle was read. */
  readonly rules: BundleModel['responseRules']
}

/** Prints the diagnostics of a configuration with errors. */
async function compiled(
  path: string,
  checkPolicy: HealthCheckPolicy,
  io: Io,
): Promise<Result<Source, Fault>> {
  const files = await readConfiguration(path)
  if (!files.ok) return fault(Exit.Usage, files.error)
  const result = createCompiler({ checkPolicy }).compile(files.value, { commit: '' })
  if (!result.ok) {
    io.err(printText(result))
    return fault(Exit.ErrorsFound, summary(result))
  }
  const loaded = loadBundle(result.bundle.bytes)
  if (!loaded.ok) return fault(Exit.Internal, loaded.error.message)
  return ok({ bundle: loaded.value, rules: result.model.responseRules })
}

function opened(path: string): Result<Source, Fault> {
  const bundle = openBundleFile(path)
  if (bundle.ok) return ok({ bundle: bundle.value, rules: [] })
  return typeof bundle.error === 'string'
    ? fault(Exit.Usage, bundle.error)
    : fault(Exit.ErrorsFound, `${path}: ${bundle.error.message} (${bundle.error.code})`)
}
