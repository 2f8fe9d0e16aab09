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
import { dataDirOf } from '#cli/files/data-dir.ts'
import { readSigningKey } from '#gitops/trust/key-files.ts'
import {
  CommandFault,
  commandLine,
  Exit,
  needed,
  onlyOne,
  UsageError,
} from '#system/process/command.ts'
import type { Command, Io, ValuesOf } from '#system/process/command.ts'
import { publishTree, publishedRecord } from '#fleet/publish.ts'
import { systemClock } from '#lib/clock.ts'
import { parseDuration } from '#lib/duration.ts'
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

const options = {
  'data-dir': { type: 'string' },
  bundle: { type: 'string' },
  key: { type: 'string' },
  channel: { type: 'string' },
  valid: { type: 'string' },
} as const
type Values = ValuesOf<typeof options>

export const publish: Command = {
  name: 'publish',
  usage,
  async run(args, io) {
    const { positionals, values } = commandLine(args, options)
    const directory = onlyOne(positionals, 'give one directory')
    const found =
      values.bundle === undefined
        ? ofDataDir(directory, values, io)
        : [ofFile(directory, values.bundle, values)]
    for (const one of found) {
      const { length } = one.bundle
      io.progress?.(`writing ${length} bytes to ${directory}`)
      const { channel, seq, digest } = await write(directory, one)
      io.out(`${directory}: channel ${channel}, seq ${seq}, ${length} bytes, digest ${digest}\n`)
    }
    return Exit.Ok
  },
}

interface Found extends Publication {
  /** The record in the directory. */
  readonly before: ChannelRecord | undefined
}

/** The bundle that the node serves, or served last, as the node signed it. */
function ofDataDir(directory: string, values: Values, io: Io): readonly Found[] {
  for (const name of ['key', 'channel', 'valid'] as const) {
    if (values[name] !== undefined) throw new UsageError(`--${name} belongs to --bundle`)
  }
  const dataDir = dataDirOf(values, io)
  const path = join(dataDir, 'keys', 'node.pem')
  if (!existsSync(path))
    throw unusable(`${dataDir} is no data directory of a node: it has no ${path}`)
  const key = needed(readSigningKey(path), Exit.Usage)
  const store = new BundleStore(dataDir)
  const delivery = new DeliveryFiles(dataDir, store)
  // During a delivery in waves: the bundle that has passed all of them.
  const signed = delivery.passed() ?? store.record('active')
  const main = storedOf(directory, key, signed, (digest) => delivery.bundlePath(digest))
  if (main === undefined) throw unusable(`${dataDir} has no bundle yet, or its record is damaged`)
  const texts = new BundleStore(dataDir, textsDirectory)
  const textsRecord = texts.record('active')
  const ofTexts = storedOf(directory, key, textsRecord, (digest) => texts.bundlePath(digest))
  // A node without an API serves no TXT bundle.
  return ofTexts === undefined ? [main] : [main, ofTexts]
}

/** @returns undefined: there is no valid record */
function storedOf(
  directory: string,
  key: SigningKey & TrustedKey,
  signed: unknown,
  pathOf: (digest: string) => string,
): Found | undefined {
  const record = verifyChannelRecord(signed, [key])
  if (!record.ok) return undefined
  const { digest, channel } = record.value
  const loaded = openBundleFile(pathOf(digest), [key])
  if (!loaded.ok) throw unusable(`the stored bundle cannot be used: ${loaded.error.message}`)
  if (loaded.value.digest !== digest) throw unusable('the stored bundle is not that of its record')
  const before = recordIn(directory, channel, key)
  return { signedRecord: signed as SignedChannelRecord, bundle: loaded.value.bytes, before }
}

const unusable = (why: string): CommandFault => new CommandFault(Exit.Usage, why)

function ofFile(directory: string, path: string, values: Values): Found {
  const { key: keyPath, channel = 'main', valid = '7d' } = values
  if (keyPath === undefined) throw new UsageError('--bundle needs --key')
  if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(channel)) {
    throw new UsageError('--channel has small letters, digits and dashes')
  }
  const validMs = parseDuration(valid)
  if (!validMs.ok || validMs.value <= 0) throw new UsageError('--valid is a duration such as 7d')
  const key = needed(readSigningKey(keyPath), Exit.Usage)
  const { digest, bytes } = needed(openBundleFile(path, [key]), Exit.Usage)
  const before = recordIn(directory, channel, key)
  const record = nextRecord(before, { channel, digest, validMs: validMs.value })
  return { signedRecord: signChannelRecord(record, key), bundle: bytes, before }
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

async function write(
  directory: string,
  { signedRecord, bundle, before }: Found,
): Promise<ChannelRecord> {
  const writing = publishTree(directory, signedRecord, bundle, before)
  const written = await writing.catch((error: unknown) => {
    const why = `it cannot be written: ${(error as Error).message}`
    throw new CommandFault(Exit.ErrorsFound, why)
  })
  return needed(written).record
}
