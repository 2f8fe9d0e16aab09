// `gslbd dnssec`: makes the key of a zone, and prints what its parent needs.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { signingAlgorithms } from '#dns/dnssec/algorithms.ts'
import type { KeyOfZone } from '#dns/dnssec/key-files.ts'
import { DigestType, dsRdata, generateZoneKey } from '#dns/dnssec/zone-key.ts'
import { foldName, formatName, parseName } from '#dns/name.ts'
import { rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { RrType } from '#dns/rrtype.ts'
import { readSecrets } from '#node/data/secrets.ts'
import { keyFolder, readAllKeys, storeKey } from '#server/signing/key-store.ts'
import { commandLine, endWith, Exit, UsageError } from '#system/process/command.ts'
import type { Command, Io } from '#system/process/command.ts'

const usage = `Usage: gslbd dnssec keygen ZONE [--algorithm NAME] [--settings FILE]
       gslbd dnssec ds ZONE [--settings FILE]
       gslbd dnssec status [--settings FILE]

Keys of signed zones stand in the folder "${keyFolder}" of the data directory, as files of BIND;
with GSLB_SECRET_KEY set, private keys are sealed by it, and a control node takes them into its
database when it starts: other nodes get them from there. A key that another server has made is
copied to the folder. keygen makes a key, and ds prints the DS record that goes to the parent of
the zone: after all nodes have the key. status lists the keys, and what is wrong with them.

  --algorithm NAME  ${signingAlgorithms.map(({ name }) => name).join(' or ')} (default the first)
  --settings FILE   gslbd.yaml of the node

Exit codes: 0 done; 1 there is no such key, or one that cannot be used; 2 wrong call.`

export const dnssec: Command = {
  name: 'dnssec',
  summary: 'make keys of signed zones, print their DS records',
  usage,
  async run(args, io) {
    const { positionals, values } = commandLine(args, {
      settings: { type: 'string' },
      algorithm: { type: 'string' },
    })
    const [verb, name, ...rest] = positionals
    if (rest.length > 0) throw new UsageError(`"${rest[0]}" is one too many`)
    if (verb !== 'keygen' && verb !== 'ds' && verb !== 'status') {
      throw new UsageError('write keygen, ds or status')
    }
    if ((name === undefined) !== (verb === 'status')) throw new UsageError('name one zone')
    const zone = parseName(name ?? '.')
    if (!zone.ok) throw new UsageError(`"${name}" is no name of a zone`)
    const wire = foldName(zone.value)
    const place = await placeOf(values.settings, io)
    if (typeof place === 'string') return endWith(io, Exit.ErrorsFound, place)
    try {
      if (verb === 'status') return status(place, io)
      return verb === 'ds' ? ds(wire, place, io) : keygen(wire, values.algorithm, place, io)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).syscall === undefined) throw error
      return endWith(io, Exit.ErrorsFound, `gslbd dnssec: ${(error as Error).message}`)
    }
  },
}

interface Place {
  readonly dataDir: string
  /** Has key files. */
  readonly directory: string
  readonly secretKey: Uint8Array | null
}

/** A copy that cannot be read is as none: the node itself says so. */
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined }

/** @returns a sentence where the settings or the environment cannot be used */
async function placeOf(file: string | undefined, io: Io): Promise<Place | string> {
  const { loadSettings } = await import('#settings/settings.ts')
  const settings = loadSettings({ file, env: io.env, flags: {} })
  if (!settings.ok) return settings.error.join('\n')
  const secrets = readSecrets(io.env)
  if (!secrets.ok) return `gslbd dnssec: ${secrets.error}`
  const { dataDir } = settings.value
  return { dataDir, directory: join(dataDir, keyFolder), secretKey: secrets.value.secretKey }
}

function keygen(
  zone: Uint8Array,
  algorithmName: string | undefined,
  { directory, dataDir, secretKey }: Place,
  io: Io,
): Exit {
  const algorithm = signingAlgorithms.find(
    (one) => one.name === (algorithmName ?? signingAlgorithms[0]!.name),
  )
  if (algorithm === undefined) throw new UsageError(`there is no algorithm "${algorithmName}" here`)
  const { found, faults } = readAllKeys(dataDir, secretKey, quiet)
  const name = formatName(zone)
  if (found.has(name) || faults.has(name)) {
    const what = `${directory} has a key of ${name} already: move it away if another is to sign`
    return endWith(io, Exit.ErrorsFound, `gslbd dnssec: ${what}`)
  }
  const key = { zone, key: generateZoneKey(algorithm) }
  try {
    io.out(`${storeKey(directory, key, secretKey, Date.now())}\n${dsLine(key)}\n`)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return endWith(io, Exit.ErrorsFound, `gslbd dnssec: the key cannot be stored: ${why}`)
  }
  return Exit.Ok
}

function ds(zone: Uint8Array, { directory, dataDir, secretKey }: Place, io: Io): Exit {
  const { found, faults } = readAllKeys(dataDir, secretKey, quiet)
  const name = formatName(zone)
  const key = found.get(name)
  if (key !== undefined) {
    io.out(`${dsLine(key)}\n`)
    return Exit.Ok
  }
  const why = faults.get(name) ?? `${directory} has no key of ${name}`
  return endWith(io, Exit.ErrorsFound, `gslbd dnssec: ${why}`)
}

/** SHA-256, as RFC 8624 section 3.3 requires; parents that take SHA-384 take it, too. */
function dsLine({ zone, key }: KeyOfZone): string {
  const rdata = rdataTypeOf(RrType.DS).print(dsRdata(zone, key, DigestType.Sha256))
  return `${formatName(zone)} IN DS ${rdata}`
}

function status({ directory, dataDir, secretKey }: Place, io: Io): Exit {
  const { found, faults } = readAllKeys(dataDir, secretKey, quiet)
  for (const [name, { key }] of found) io.out(`${name} ${key.algorithm.name} ${key.tag}\n`)
  for (const fault of faults.values()) io.err(`${fault}\n`)
  if (found.size + faults.size > 0) return faults.size === 0 ? Exit.Ok : Exit.ErrorsFound
  io.out(`${directory} ${existsSync(directory) ? 'has no keys' : 'is not there'}.\n`)
  return Exit.Ok
}
