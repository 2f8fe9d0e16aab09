// A node of the role dns whose sources lie about what they send: its memory, measured.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newSigningKey } from '#test/support/bundle-models.ts'
import { openSource, pathOf, signedBundle, signedRecord } from '#test/support/bundle-source.ts'
import type { Behaviour, BundleSource } from '#test/support/bundle-source.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const directory = makeTempDir('lying-source')
const daemons = useDaemons()
const key = newSigningKey()
let liars: readonly (readonly [BundleSource, Behaviour])[]
let honest: BundleSource
let node: DaemonProcess

const endless =
  (chunk: Uint8Array, head: Record<string, string> = {}): Behaviour =>
  (_request, response) => {
    response.writeHead(200, head)
    const more = (): void => {
      while (!response.destroyed && response.write(chunk));
    }
    response.on('drain', more)
    more()
  }
const slow: Behaviour = (_request, response) => {
  const timer = setInterval(() => response.write(Buffer.alloc(1_024)), 10)
  response.on('close', () => clearInterval(timer))
}
const packed = { 'content-encoding': 'zstd' }
const zeros = zstdCompressSync(Buffer.alloc(64 * 1024 * 1024))
/** 1.5 GiB. */
const bomb: Behaviour = (_request, response) => {
  response.writeHead(200, packed).end(Buffer.concat(Array.from({ length: 24 }, () => zeros)))
}
/** RFC 8878 section 3.1.2: it becomes nothing. */
const frame = Buffer.concat([Buffer.from('502a4d1800000100', 'hex'), Buffer.alloc(65_536)])
const lies = [bomb, endless(Buffer.alloc(65_536)), slow, endless(frame, packed)]

/** A record of a bundle, and what the source sends in its place. */
function publish(to: BundleSource, channel: string, seq: number, lie?: Behaviour): void {
  const { bytes, digest } = signedBundle(key, seq)
  const record = signedRecord(key, { channel, seq, digest, bytes: bytes.length })
  to.files.set(pathOf(digest), lie ?? bytes)
  to.files.set(`/bundles/channels/${channel}`, JSON.stringify(record))
}

function publishAll(seq: number): void {
  publish(honest, 'main', seq)
  for (const [liar, lie] of liars) {
    publish(liar, 'main', seq, lie)
    // Another bundle, so that no node has it.
    publish(liar, 'main.texts', 1_000 + seq, lie)
  }
}

const pullsOf = async (result: string): Promise<number> =>
  (await node.metrics()).get(`gslbd_bundle_pulls_total{result="${result}"}`) ?? 0

const mebibytes = (field: 'VmRSS' | 'VmHWM'): number => {
  const status = readFileSync(`/proc/${node.pid}/status`, 'utf8')
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024
}

beforeAll(async () => {
  honest = await openSource()
  liars = await Promise.all(lies.map(async (lie) => [await openSource(), lie] as const))
  publish(honest, 'main', 1)
  const pem = key.publicKey.export({ type: 'spki', format: 'pem' }).toString()
  writeFileSync(join(directory, 'control.pem'), pem)
  const urls = [...liars.map(([{ url }]) => url), honest.url]
  const settings = {
    dataDir: './data',
    roles: ['dns'],
    dns: { listenAddr: '127.0.0.1', port: 0, threads: 1 },
    api: { enabled: true, port: 0 },
    bundle: { urls, keys: './control.pem', poll: '100ms' },
  }
  writeFileSync(join(directory, 'gslbd.yaml'), JSON.stringify(settings))
  node = await daemons.start('serve', '--settings', join(directory, 'gslbd.yaml'))
  await waitUntil('the first bundle', async () => (await pullsOf('activated')) > 0)
})
afterAll(async () => {
  await daemons.killAll()
  for (const source of [honest, ...liars.map(([liar]) => liar)]) await source.close()
  removeTempDir(directory)
})

test('lies that unpack to gigabytes or have no end cost what the record says', async () => {
  // Peaks count from here on.
  writeFileSync(`/proc/${node.pid}/clear_refs`, '5')
  const restMiB = mebibytes('VmRSS')
  publishAll(2)
  const lied = 2 * liars.length
  await waitUntil('all to have lied', async () => (await pullsOf('too-large')) >= lied)
  await waitUntil('the bundle of the honest one', async () => (await pullsOf('activated')) >= 2)
  // Each is asked again after its rest, and is no better.
  publishAll(3)
  await waitUntil('another lie', async () => (await pullsOf('too-large')) > lied)
  const peakMiB = mebibytes('VmHWM') - restMiB
  expect(peakMiB).toBeLessThan(48)
  expect(await pullsOf('internal')).toBe(0)
})
