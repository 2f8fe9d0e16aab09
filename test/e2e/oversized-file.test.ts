// A file, and a tree, far beyond what may be read, in a signed commit: held in a sentence.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { bundleLimits } from '#bundle/format/limits.ts'
import { callApi } from '#test/support/api-client.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { gitHttpServer } from '#test/support/git-http-server.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { start, killAll } = useDaemons()
const mebibyte = 1024 * 1024
/** More than an object may have. */
const hugeBytes = 70 * mebibyte
/** git deflates so much several times. */
const patienceMs = 300_000
const path = 'tenants/default/services/huge.yaml'
let site: Site

beforeEach(async () => {
  site = await Site.make('oversized')
  site.trustNode()
  await site.push()
})
afterEach(async () => {
  await killAll()
  site.remove()
})

async function pushHuge(bytes: number): Promise<string> {
  site.write(path, Buffer.alloc(bytes, '#'))
  const commit = await site.commit('huge')
  await site.push()
  return commit
}

async function expectHeld(
  daemon: DaemonProcess,
  commit: string,
  bytes: number,
  told = { code: 'file-too-large', file: path },
): Promise<void> {
  const status = await waitUntil('the verdict', async () => {
    const next = await daemon.gitops()
    return next.head === commit && next.reason !== null && next
  })
  expect([status.sync, status.reason?.code]).toEqual(['held', 'CompileFailed'])
  expect(status.diagnostics).toMatchObject([told])
  expect(status.diagnostics[0]?.message).toContain(String(bytes))
  const write = await callApi<object>(daemon, 'POST', '/pools', {
    body: { name: 'one' },
  })
  expect(write.status).toBe(409)
  expect(await daemon.answers('www.example.com. A')).toEqual(['www.example.com. 5 IN A 192.0.2.1'])
}

test(
  '70 MiB under tenants/ are held with the file, and writes are a conflict',
  async () => {
    const daemon = await start('serve', '--settings', site.settingsFile)
    await waitUntil('sync', async () => (await daemon.gitops()).sync === 'synced')
    await expectHeld(daemon, await pushHuge(hugeBytes), hugeBytes)
    // Packed, the size is in another place.
    await site.run('git', '-C', join(site.dataDir, 'config.git'), 'gc', '-q')
    await daemon.stop()
    const again = await start('serve', '--settings', site.settingsFile)
    await expectHeld(again, await site.git('rev-parse', 'HEAD'), hugeBytes)
    await site.git('rm', '-q', path)
    await site.commit('small again')
    await site.push()
    await waitUntil('sync', async () => (await again.gitops()).sync === 'synced')
  },
  patienceMs,
)

test(
  `${hugeBytes / mebibyte} MiB from a remote are downloaded once`,
  async () => {
    const server = await gitHttpServer(site.dataDir)
    site.writeSettings({ gitops: { url: server.url('config.git'), poll: '1s' } })
    const daemon = await start('serve', '--settings', site.settingsFile)
    await waitUntil('sync', async () => (await daemon.gitops()).sync === 'synced')
    await expectHeld(daemon, await pushHuge(hugeBytes), hugeBytes)
    const folder = join(site.dataDir, 'gitops/mirror.git/objects/pack')
    const packs = () =>
      readdirSync(folder).map((name) => `${name} ${statSync(join(folder, name)).mtimeMs}`)
    const before = packs()
    const looks = server.requests.length + 12
    await waitUntil('more looks', () => server.requests.length >= looks)
    expect(packs()).toEqual(before)
    expect((await daemon.gitops()).sync).toBe('held')
  },
  patienceMs,
)

/** Files of so many contents, which git packs to a few megabytes. */
async function pushManyFiles(files: number, contents: number, bytes: number): Promise<string> {
  const importer = spawn('git', ['-C', site.checkout, 'fast-import', '--quiet'], {
    stdio: ['pipe', 'inherit', 'inherit'],
  })
  const ended = once(importer, 'close')
  const filler = '#'.repeat(bytes - 8)
  const write = async (text: string): Promise<void> => {
    if (!importer.stdin.write(text)) await once(importer.stdin, 'drain')
  }
  for (let i = 1; i <= contents; i++) {
    await write(`blob\nmark :${i}\ndata ${bytes}\n${filler}${String(i).padStart(8, '0')}\n`)
  }
  await write('commit refs/heads/many\ncommitter x <x@example.com> 0 +0000\ndata 0\n')
  await write('from refs/heads/main^0\ndeleteall\n')
  for (let i = 0; i < files; i++) {
    await write(`M 100644 :${(i % contents) + 1} tenants/default/services/${i}.yaml\n`)
  }
  importer.stdin.end('\n')
  expect(await ended).toEqual([0, null])
  await site.git('read-tree', 'many')
  const commit = await site.commitIndex('many')
  await site.push()
  return commit
}

const peakMiB = (pid: number): number => {
  const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!
  return Number(kib) / 1024
}

test(
  '100,000 files of 64 KiB are held, and take no more memory than what may be read',
  async () => {
    const daemon = await start('serve', '--settings', site.settingsFile)
    await waitUntil('sync', async () => (await daemon.gitops()).sync === 'synced')
    const before = peakMiB(daemon.pid)
    const commit = await pushManyFiles(100_000, 8_000, 65_536)
    const told = { code: 'configuration-too-large', file: 'gslb.yaml' }
    await expectHeld(daemon, commit, 100_000 * 65_536, told)
    const { help } = (await daemon.gitops()).diagnostics[0]!
    expect(help).toContain('tenants/default/services')
    const more = peakMiB(daemon.pid) - before
    process.stderr.write(`100,000 files of 64 KiB: ${Math.round(more)} MiB at the highest\n`)
    expect(more).toBeLessThan(bundleLimits.configurationBytesMax / 2 ** 20 + 150)
  },
  patienceMs,
)
