// Checks whether the servers that the settings name can be used: sources of bundles, PostgreSQL and
// Redis.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { verifyChannelRecord } from '#bundle/signature/channel.ts'
import type { SignedChannelRecord, TrustedKey } from '#bundle/signature/channel.ts'
import { fetchFile } from '#fleet/fetch.ts'
import { fleetLimits } from '#fleet/limits.ts'
import { channelPath } from '#fleet/tree.ts'
import { readTrustedKeyList } from '#gitops/trust/key-files.ts'
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { parseJson } from '#lib/text/json.ts'
import { readBundleToken } from '#process/data/secrets.ts'
import { createEphemeral } from '#state/ephemeral.ts'
import { lookAtDatabase } from '#state/look-at-database.ts'
import { copyFile } from '#zones/dynamic/local-copy.ts'
import { bad, good, warning } from './check.ts'
import type { Check, CheckedNode, Finding } from './check.ts'

export const servers: Check = {
  name: 'servers',
  async look(node) {
    const isPulling = !node.settings.roles.includes('control')
    const found = await Promise.all([isPulling ? sources(node) : database(node), redis(node)])
    const all = found.flat()
    return all.length > 0
      ? all
      : [good('the settings name no source of bundles, no database and no Redis')]
  },
}

async function sources(node: CheckedNode): Promise<Finding[]> {
  const { bundle } = node.settings
  const keys = readTrustedKeyList(bundle.keys)
  if (!keys.ok) return [bad(`bundle.keys: ${keys.error}`, 'see docs/operations/fleet.md')]
  const asked = await Promise.all(bundle.urls.map((url) => source(node, url, keys.value)))
  const found = asked.map(({ finding }) => finding)
  // One source that works is enough for a node.
  const isAnyGood = found.some(({ verdict }) => verdict === 'good')
  const signers = new Set(asked.flatMap(({ keyId }) => keyId ?? []))
  return [
    ...found.map((one) => (one.verdict === 'bad' && isAnyGood ? { ...one, ...lesser } : one)),
    ...(signers.size > 1 ? [warning(countedApart, 'see docs/operations/fleet.md')] : []),
  ]
}

const lesser = { verdict: 'warning' } as const
const countedApart =
  'bundle.urls leads to control nodes with keys of their own: each counts its own seq, and a ' +
  'node that turns from one to another refuses what it finds there (rollback)'

async function source(
  { settings: { bundle }, env, patienceMs }: CheckedNode,
  address: string,
  trusted: readonly TrustedKey[],
): Promise<{ readonly finding: Finding; readonly keyId?: string }> {
  const url = new URL(address.endsWith('/') ? address : `${address}/`)
  const name = `${url.origin}${url.pathname}`
  const token = readBundleToken(env)
  const answer = await fetchFile(new URL(channelPath(bundle.channel), url), {
    headers: token.ok && token.value !== null ? { authorization: `Bearer ${token.value}` } : {},
    bytesMax: fleetLimits.recordBytesMax,
    headPatienceMs: patienceMs,
    rate: fleetLimits.rate,
    signal: AbortSignal.timeout(patienceMs),
  })
  if (!answer.ok) {
    const { status, message } = answer.error
    const isRefused = status === 401 || status === 403
    const todo = isRefused
      ? 'set GSLB_BUNDLE_TOKEN as on that control node'
      : 'see bundle.urls, the network, and whether that node runs'
    return { finding: bad(`${name} gives no bundle: ${message}`, todo) }
  }
  const signed = parseJson(Buffer.from(answer.value.bytes).toString())
  const record = verifyChannelRecord(signed, trusted)
  if (record.ok) {
    const finding = good(`${name} gives seq ${record.value.seq}, by a key of bundle.keys`)
    return { finding, keyId: (signed as SignedChannelRecord).keyId }
  }
  if (record.error !== 'unknown-key') {
    const found = `${name} gives no record that can be used: ${record.error}`
    return { finding: bad(found, 'see bundle.urls') }
  }
  const todo =
    'add its public key (openssl pkey -in data/keys/node.pem -pubout, there), and reload this node'
  return { finding: bad(`${name} signs with a key that is not in ${bundle.keys}`, todo) }
}

async function database({ settings }: CheckedNode): Promise<Finding[]> {
  const { url, statementTimeoutMs, startupParameters } = settings.database
  if (url === '') return []
  const seen = await lookAtDatabase(url, { connections: 1, statementTimeoutMs, startupParameters })
  if (!seen.ok)
    return [bad(`database.url: ${plainOf(seen.error)}`, 'see docs/operations/stores.md')]
  const name = 'the database of database.url'
  if (seen.value.schema > 0) return [good(`${name} can be used`)]
  // A node writes it when it first reads a database, also an empty one.
  const hadOne = existsSync(join(settings.dataDir, copyFile))
  if (!hadOne) return [good(`${name} is empty: the next start makes its tables`)]
  return [warning(`${name} is empty, and this node has run with one: ${startsAnew}`, restoreTodo)]
}

const startsAnew = 'the next start begins without its accounts, keys and records'
const restoreTodo =
  'before that, restore a backup: gslbd restore FILE --only-database, see ' +
  'docs/operations/backups.md'

/** The node's own adapter writes a key that ends by itself. */
async function redis({ settings, patienceMs }: CheckedNode): Promise<Finding[]> {
  if (settings.redis.url === '') return []
  const opened = createEphemeral({ redis: settings.redis, clock: systemClock, log: noLog })
  // The check of the settings tells of faults in them.
  if (!opened.ok) return []
  const { status, close } = opened.value
  const endMs = systemClock.monotonicMs() + patienceMs
  while (status().state !== 'up' && systemClock.monotonicMs() < endMs) await delay(lookEveryMs)
  const { state, fault } = status()
  close()
  if (state === 'up') return [good('the Redis of redis.url is reached, and takes writes')]
  const todo = 'see docs/operations/stores.md; meanwhile nodes hear nothing of each other'
  return [warning(`redis.url: ${plainOf(fault ?? 'Redis is not reached')}`, todo)]
}

const plainOf = (sentence: string): string => sentence.replace(/\.$/, '')
const lookEveryMs = 50
const noLog: Log = { info: () => undefined, warn: () => undefined, error: () => undefined }
