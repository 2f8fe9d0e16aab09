// `gslbd dnssec`: makes the key of a zone, prints what its parent needs, and rolls keys.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { signingAlgorithms } from '#dns/dnssec/algorithms.ts'
import type { KeyOfZone } from '#dns/dnssec/key-files.ts'
import { DigestType, dsRdata, generateZoneKey } from '#dns/dnssec/zone-key.ts'
import { foldName, formatName, parseName } from '#dns/name.ts'
import { rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { RrType } from '#dns/rrtype.ts'
import { recordsOfBind } from '#dns/dnssec/imported-keys.ts'
import { keyUses, KeyUse, signsAll } from '#dns/dnssec/key-record.ts'
import { dsText } from '#dns/dnssec/rollover.ts'
import { askForRoll, tellOfDs } from '#cli/dnssec/ask-node.ts'
import { nodeApiFor } from '#cli/watch/node-api.ts'
import { readSecrets } from '#process/data/secrets.ts'
import { copyKeyOf } from '#node/signing/pull-keys.ts'
import { exposedKeys, keyFolder, readAllKeys, storeKey } from '#server/signing/key-store.ts'
import type { KeySecrets, StoredRecords } from '#server/signing/key-store.ts'
import { readForeignKeys, storeForeignKeys } from '#server/signing/import-files.ts'
import { keyLines, waitingLine } from '#server/signing/key-status.ts'
import { looksFile, readKeptViews } from '#server/signing/stored-looks.ts'
import { CommandFault, commandLine, Exit, needed, UsageError } from '#system/process/command.ts'
import type { Command, Io, ValuesOf } from '#system/process/command.ts'

const usage = `Usage: gslbd dnssec keygen ZONE [--algorithm NAME] [--settings FILE]
       gslbd dnssec import FILE... [--dnskey FILE] [--zone ZONE] [--settings FILE]
       gslbd dnssec ds ZONE [--settings FILE]
       gslbd dnssec status [--settings FILE]
       gslbd dnssec roll ZONE [--key ROLE] [--emergency] [--url URL]
       gslbd dnssec seen ZONE TAG [--url URL]

Keys of signed zones stand in the folder "${keyFolder}" of the data directory, as files of BIND;
with GSLB_SECRET_KEY set, private keys are sealed by it, and a control node takes them into its
database when it starts: other nodes get them from there, and keys roll by the policy of the zone.
keygen makes a key. import takes keys that another server signs with: files of BIND (K*.key, with
K*.private beside), or with --zone and --dnskey PEM files of Knot, where --dnskey is a file with
the DNSKEY records of the zone. ds prints the DS records that go to the parent of the zone. status
says what each key does, what the zone waits for, and what is wrong.
roll asks a running control node to make new keys, which take over step by step, as caches and the
parent permit. seen says that all servers of the parent have the DS record of the key TAG, and none
of another algorithm, where that node cannot ask them. GSLB_API_KEY is the key for both, with the
permission dnssec:write.

  --algorithm NAME  ${signingAlgorithms.map(({ name }) => name).join(' or ')} (default the first)
  --dnskey FILE     what "keymgr ZONE dnskey" or "dig ZONE DNSKEY" prints
  --zone ZONE       the zone that PEM files are of
  --settings FILE   gslbd.yaml of the node
  --key ROLE        the key that is followed by a new one: csk, ksk or zsk (default all)
  --emergency       rolls also while another roll goes on; the waits stay
  --url URL         the API of a control node (default GSLB_API_URL, or http://127.0.0.1:8080)

Exit codes: 0 done; 1 there is no such key, one that cannot be used, or the node cannot do it;
2 wrong call.`

const options = {
  settings: { type: 'string' },
  algorithm: { type: 'string' },
  dnskey: { type: 'string' },
  zone: { type: 'string' },
  key: { type: 'string' },
  emergency: { type: 'boolean' },
  url: { type: 'string' },
} as const

export const dnssec: Command = {
  name: 'dnssec',
  usage,
  async run(args, io) {
    const { positionals, values } = commandLine(args, options)
    const [verb, ...names] = positionals
    if (verb === 'roll' || verb === 'seen') return await askNode(verb, names, values, io)
    if (verb !== 'keygen' && verb !== 'ds' && verb !== 'status' && verb !== 'import') {
      throw new UsageError('write keygen, import, ds, status, roll or seen')
    }
    for (const other of ['key', 'emergency', 'url'] as const) {
      if (values[other] !== undefined) throw new UsageError(`${verb} has no --${other}`)
    }
    if (verb === 'import' && names.length === 0) throw new UsageError('name files of keys')
    if (verb !== 'import') checkNames(names, verb === 'status')
    const zone = zoneOf((verb === 'import' ? values.zone : names[0]) ?? '.')
    const place = await placeOf(values.settings, io)
    try {
      const nowMs = Date.now()
      const here = { ...place, ...needed(readAllKeys(place.dataDir, place, nowMs)) }
      if (verb === 'status') return status(here, io)
      if (verb === 'ds') return ds(zone, here, io)
      if (verb === 'keygen') return keygen(zone, values.algorithm, here, io)
      const given = { zone: values.zone === undefined ? null : zone, dnskey: values.dnskey }
      return importKeys(names, { ...given, ...here, nowMs }, io)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).syscall === undefined) throw error
      throw new CommandFault(Exit.ErrorsFound, (error as Error).message)
    }
  },
}

async function askNode(
  verb: 'roll' | 'seen',
  given: readonly string[],
  values: ValuesOf<typeof options>,
  io: Io,
): Promise<Exit> {
  const ofRolls = verb === 'roll' ? [] : (['key', 'emergency'] as const)
  for (const other of ['settings', 'algorithm', 'dnskey', 'zone', ...ofRolls] as const) {
    if (values[other] !== undefined) throw new UsageError(`${verb} has no --${other}`)
  }
  const [tag, names] = verb === 'seen' ? [given[1], given.toSpliced(1, 1)] : [undefined, given]
  if (verb === 'seen' && tag === undefined) throw new UsageError('name a zone and a key tag')
  checkNames(names, false)
  const zone = formatName(zoneOf(names[0]!))
  const api = nodeApiFor(values.url, io)
  const what = { role: values.key, isEmergency: values.emergency ?? false }
  const said = tag === undefined ? askForRoll(api, zone, what) : tellOfDs(api, zone, tag)
  io.out(await said)
  return Exit.Ok
}

function checkNames(names: readonly string[], hasNone: boolean): void {
  if (names.length > 1) throw new UsageError(`"${names[1]}" is one too many`)
  if (hasNone && names.length > 0) throw new UsageError('status lists all zones: name none')
  if (!hasNone && names.length === 0) throw new UsageError('name one zone')
}

function zoneOf(name: string): Uint8Array {
  const zone = parseName(name)
  if (!zone.ok) throw new UsageError(`"${name}" is no name of a zone`)
  return foldName(zone.value)
}

interface Place extends KeySecrets {
  readonly dataDir: string
  /** Has key files. */
  readonly directory: string
}

/** A data directory, and the keys that are in it. */
type Here = Place & StoredRecords

async function placeOf(file: string | undefined, io: Io): Promise<Place> {
  const { settingsFor } = await import('#cli/files/settings-file.ts')
  const { dataDir, roles } = settingsFor(io, file)
  const { secretKey } = needed(readSecrets(io.env))
  const copyKey = roles.includes('control') ? secretKey : copyKeyOf(io.env)
  return { dataDir, directory: join(dataDir, keyFolder), secretKey, copyKey }
}

function keygen(
  zone: Uint8Array,
  algorithmName: string | undefined,
  { directory, secretKey, found, faults }: Here,
  io: Io,
): Exit {
  const algorithm = signingAlgorithms.find(
    (one) => one.name === (algorithmName ?? signingAlgorithms[0]!.name),
  )
  if (algorithm === undefined) throw new UsageError(`there is no algorithm "${algorithmName}" here`)
  const name = formatName(zone)
  if (found.has(name) || faults.has(name)) {
    const what = `${directory} has a key of ${name} already: move it away if another is to sign`
    throw new CommandFault(Exit.ErrorsFound, what)
  }
  const key = { zone, key: generateZoneKey(algorithm) }
  try {
    io.out(`${storeKey(directory, key, secretKey, Date.now())}\n${dsLine(key)}\n`)
  } catch (error) {
    const why = (error as Error).message
    throw new CommandFault(Exit.ErrorsFound, `the key cannot be stored: ${why}`)
  }
  return Exit.Ok
}

interface ImportAsked extends Here {
  readonly zone: Uint8Array | null
  readonly dnskey: string | undefined
  readonly nowMs: number
}

function importKeys(paths: readonly string[], asked: ImportAsked, io: Io): Exit {
  const { zone, dnskey, directory, secretKey, found, faults, nowMs } = asked
  const dnskeys = dnskey === undefined ? '' : readFileSync(dnskey, 'utf8')
  const read = needed(readForeignKeys(paths, { zone, dnskeys, nowMs }))
  const byName = Map.groupBy(read, (one) => formatName(foldName(one.zone)))
  for (const [name, keys] of byName) {
    const why =
      found.has(name) || faults.has(name)
        ? `keys of ${name} are here already: import others before the zone is signed here`
        : !signsAll(recordsOfBind(keys, nowMs))
          ? `these keys of ${name} do not sign all of it now: import its KSK and its ZSK together`
          : undefined
    if (why !== undefined) throw new CommandFault(Exit.ErrorsFound, why)
  }
  for (const path of storeForeignKeys(directory, read, secretKey)) io.out(`${path}\n`)
  io.out('Start the control node again: it takes them into its database. Then sign the zone.\n')
  return Exit.Ok
}

function ds(zone: Uint8Array, { directory, found, faults }: Here, io: Io): Exit {
  const name = formatName(zone)
  const records = found.get(name) ?? []
  const entries = keyUses(records).filter(({ use }) => (use & KeyUse.SignsKeys) !== 0)
  const wanted = entries.filter(({ use }) => (use & KeyUse.InCds) !== 0)
  // Before the first one may be given, it is said all the same: "status" says from when.
  for (const { record } of wanted.length > 0 ? wanted : entries.slice(-1)) {
    io.out(`${name} IN DS ${dsText(record)}\n`)
  }
  if (entries.length > 0 && wanted.length === 0) io.err(tooEarly)
  if (entries.length > 0) return Exit.Ok
  const why = faults.get(name) ?? `${directory} has no key of ${name}; ${whose}`
  throw new CommandFault(Exit.ErrorsFound, why)
}

const tooEarly =
  'Do not give it to the parent yet: caches have answers without signatures. "gslbd dnssec ' +
  'status" says from when.\n'

/** SHA-256, as RFC 8624 section 3.3 requires; parents that take SHA-384 take it, too. */
function dsLine({ zone, key }: KeyOfZone): string {
  const rdata = rdataTypeOf(RrType.DS).print(dsRdata(zone, key, DigestType.Sha256))
  return `${formatName(zone)} IN DS ${rdata}`
}

function status({ directory, dataDir, found, faults }: Here, io: Io): Exit {
  const views = new Map(readKeptViews(join(dataDir, looksFile)).map((view) => [view.zone, view]))
  for (const [name, records] of found) {
    const waiting = views.get(name)?.waiting ?? []
    const lines = [...keyLines(records), ...waiting.map((one) => waitingLine(name, one))]
    io.out(`${name}\n${lines.map((line) => `  ${line}\n`).join('')}`)
  }
  for (const fault of faults.values()) io.err(`${fault}\n`)
  for (const path of exposedKeys(directory)) {
    io.err(`${path} can be read by others than its owner: chmod 600 it\n`)
  }
  if (found.size + faults.size > 0) return faults.size === 0 ? Exit.Ok : Exit.ErrorsFound
  io.out(`${directory} ${existsSync(directory) ? 'has no keys' : 'is not there'}; ${whose}.\n`)
  return Exit.Ok
}

const whose = 'name the settings of the node with --settings, unless its zones are not signed'
