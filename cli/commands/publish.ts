// `gslbd publish`: writes the active bundle, or a compiled one, for any web server.
import { signChannelRecord, verifyChannelRecord } from '#bundle/signature/channel.ts'
import type {
  ChannelRecord,
  SignedChannelRecord,
  SigningKey,
  TrustedKey,
} from '#bundle/signature/channel.ts'
import type { Publication } from '#bundle/signature/publication.ts'
import { DeliveryFiles } from '#node/compose/delivery-files.ts'
import { openBundleFile } from '#cli/files/bundle-file.ts'
import { readSigningKey } from '#gitops/trust/key-files.ts'
import { commandLine, Exit, UsageError } from '#system/process/command.ts'
import type { Command, Io } from '#system/process/command.ts'
import { publishTree, publishedRecord } from '#fleet/publish.ts'
import { systemClock } from '#lib/clock.ts'
import { parseDuration } from '#lib/duration.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { BundleStore } from '#server/node/bundle-store.ts'
import { textsDirectory } from '#server/texts/texts-bundle.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const usage = `Usage: gslbd publish DIR [--data-dir DIR]
       gslbd publish DIR --bundle FILE --key FILE [--channel NAME] [--valid DURATION]

Writes a bundle and its signed channel record into the directory DIR, as nodes of the role dns
pull them: bundles/DIGEST, bundles/channels/NAME and a delta from the bundle before. Any web
server, CDN or bucket can show them.
Without --bundle it is what the node of a data directory serves, which may be running, and on a
channel of their own the TXT records that were written at run time.

  --data-dir DIR     the node's data directory (GSLB_DATA_DIR; default ./data)
  --bundle FILE      a bundle that "gslbd compile" has written and signed
  --key FILE         the Ed25519 private key that signed it; it signs the record, too
  --channel NAME     default main
  --valid DURATION   how long the record holds; publish again before (default 7d)

Exit codes: 0 written; 1 not written; 2 wrong call or unreadable file.`

export const publish: Command = {
  name: 'publish',
  summary: 'write the bundle for a web server, from which nodes pull it',
  usage,
  async run(args, io) {
    const { positionals, values } = commandLine(args, {
      'data-dir': { type: 'string' },
      bundle: { type: 'string' },
      key: { type: 'string' },
      channel: { type: 'string' },
      valid: { type: 'string' },
    })
    const [directory, ...rest] = positionals
    if (directory === undefined || rest.length > 0) throw new UsageError('give one directory')
    const { bundle, key } = values
    const found =
      bundle === undefined
        ? ofDataDir(directory, dataDirOf(values, io))
        : ofFile(directory, { ...values, bundle, key })
    if (!found.ok) return fail(io, found.error, Exit.Usage)
    for (const { signedRecord, bundle: bytes, before } of found.value) {
      io.progress?.(`writing ${bytes.length} bytes to ${directory}`)
      const written = await tried(() => publishTree(directory, signedRecord, bytes, before))
      if (!written.ok) return fail(io, written.error, Exit.ErrorsFound)
      const { channel, seq, digest } = written.value.record
      io.out(
        `${directory}: channel ${channel}, seq ${seq}, ${bytes.length} bytes, digest ${digest}\n`,
      )
    }
    return Exit.Ok
  },
}

interface Found extends Publication {
  /** The record in the directory. */
  readonly before: ChannelRecord | undefined
}

interface FileOptions {
  readonly bundle: string
  readonly key: string | undefined
  readonly channel?: string | undefined
  readonly valid?: string | undefined
}

function dataDirOf(
  values: Readonly<Record<string, string | undefined>>,
  { env }: Pick<Io, 'env'>,
): string {
  for (const name of ['key', 'channel', 'valid']) {
    if (values[name] !== undefined) throw new UsageError(`--${name} belongs to --bundle`)
  }
  return values['data-dir'] ?? env['GSLB_DATA_DIR'] ?? './data'
}

/** The bundle that the node serves, or served last, as the node signed it. */
function ofDataDir(directory: string, dataDir: string): Result<readonly Found[], string> {
  const path = join(dataDir, 'keys', 'node.pem')
  if (!existsSync(path)) return err(`${dataDir} is no data directory of a node: it has no ${path}`)
  const key = readSigningKey(path)
  if (!key.ok) return key
  const store = new BundleStore(dataDir)
  const delivery = new DeliveryFiles(dataDir, store)
  // During a delivery in waves: the bundle that has passed all of them.
  const signed = delivery.passed() ?? store.record('active')
  const main = storedOf(directory, key.value, signed, (digest) => delivery.bundlePath(digest))
  if (main === undefined) return err(`${dataDir} has no bundle yet, or its record is damaged`)
  if (!main.ok) return main
  const texts = new BundleStore(dataDir, textsDirectory)
  const textsRecord = texts.record('active')
  const ofTexts = storedOf(directory, key.value, textsRecord, (digest) => texts.bundlePath(digest))
  // A node without an API serves no TXT bundle.
  if (ofTexts === undefined) return ok([main.value])
  return ofTexts.ok ? ok([main.value, ofTexts.value]) : ofTexts
}

/** @returns undefined: there is no valid record */
function storedOf(
  directory: string,
  key: SigningKey & TrustedKey,
  signed: unknown,
  pathOf: (digest: string) => string,
): Result<Found, string> | undefined {
  const record = verifyChannelRecord(signed, [key])
  if (!record.ok) return undefined
  const { digest, channel } = record.value
  const loaded = openBundleFile(pathOf(digest), [key])
  if (!loaded.ok) {
    const { error } = loaded
    const why = typeof error === 'string' ? error : error.message
    return err(`the stored bundle cannot be used: ${why}`)
  }
  if (loaded.value.digest !== digest) return err('the stored bundle is not that of its record')
  const before = recordIn(directory, channel, key)
  return ok({ signedRecord: signed as SignedChannelRecord, bundle: loaded.value.bytes, before })
}

function ofFile(directory: string, options: FileOptions): Result<readonly Found[], string> {
  const { bundle: path, key: keyPath, channel = 'main', valid = '7d' } = options
  if (keyPath === undefined) throw new UsageError('--bundle needs --key')
  if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(channel)) {
    throw new UsageError('--channel has small letters, digits and dashes')
  }
  const validMs = parseDuration(valid)
  if (!validMs.ok || validMs.value <= 0) throw new UsageError('--valid is a duration such as 7d')
  const key = readSigningKey(keyPath)
  if (!key.ok) return key
  const opened = openBundleFile(path, [key.value])
  if (!opened.ok) {
    const { error } = opened
    return err(typeof error === 'string' ? error : `${path}: ${error.message} (${error.code})`)
  }
  const { digest, bytes } = opened.value
  const before = recordIn(directory, channel, key.value)
  const record = nextRecord(before, { channel, digest, validMs: validMs.value })
  return ok([{ signedRecord: signChannelRecord(record, key.value), bundle: bytes, before }])
}

function nextRecord(
  before: ChannelRecord | undefined,
  { channel, digest, validMs }: { channel: string; digest: string; validMs: number },
): ChannelRecord {
  const nowMs = systemClock.nowMs()
  const isRenewal = before?.digest === digest
  return {
    channel,
    seq: (before?.seq ?? 0) + (isRenewal ? 0 : 1),
    digest,
    previous: (isRenewal ? before.previous : before?.digest) ?? '',
    commit: '',
    issuedAtMs: nowMs,
    expiresAtMs: nowMs + validMs,
  }
}

/** A record by another key does not count: nodes that trust this key refuse it. */
function recordIn(
  directory: string,
  channel: string,
  key: SigningKey & TrustedKey,
): ChannelRecord | undefined {
  const record = verifyChannelRecord(publishedRecord(directory, channel), [key])
  return record.ok ? record.value : undefined
}

async function tried<T>(work: () => Promise<Result<T, string>>): Promise<Result<T, string>> {
  try {
    return await work()
  } catch (error) {
    return err(`it cannot be written: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function fail(io: Io, sentence: string, exit: Exit): Exit {
  io.err(`gslbd publish: ${sentence}\n`)
  return exit
}
