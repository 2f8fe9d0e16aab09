// A node whose data directory cannot be written when it starts: it serves what it has.
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { spawnWith, start, killAll } = useDaemons()
afterEach(killAll)
let site: Site

beforeAll(async () => {
  site = await Site.make('disk')
  site.trustNode()
  await site.push()
  const daemon = await start('serve', '--settings', site.settingsFile)
  await waitUntil('the first bundle', async () => (await answerOf(daemon)) === '192.0.2.1')
  await daemon.stop()
})
afterAll(() => site.remove())

async function answerOf(daemon: DaemonProcess): Promise<string> {
  const [line = ''] = await daemon.answers('www.example.com. A')
  return line.split(' ').at(-1) ?? ''
}

/**
 * @param sign of a file: while it is there; '' for always
 * @returns a module under which every write below `folder` fails with `code`
 */
function unwritable(folder: string, code: string, sign = ''): string {
  const path = join(site.path, `${code}${sign === '' ? '' : '-once'}.mjs`)
  const source = `
    import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    const { existsSync } = fs
    const sign = ${JSON.stringify(sign)}
    const isNow = () => sign === '' || existsSync(sign)
    const isIn = (path) => isNow() && String(path).startsWith(${JSON.stringify(folder)})
    const fail = (path) => {
      const syscall = 'open'
      throw Object.assign(new Error('${code}: ' + path), { code: '${code}', path, syscall })
    }
    const openLater = fs.promises.open
    fs.promises.open = async (path, flags = 'r', ...more) =>
      flags !== 'r' && isIn(path) ? fail(path) : openLater(path, flags, ...more)
    const wrap = (name, isWrite) => {
      const original = fs[name]
      fs[name] = (...args) => isWrite(...args) ? fail(args[0]) : original(...args)
    }
    wrap('openSync', (path, flags = 'r') => flags !== 'r' && isIn(path))
    wrap('writeFileSync', (path) => isIn(path))
    wrap('mkdirSync', (path) => isIn(path) && !existsSync(path))
    for (const name of ['renameSync', 'linkSync']) wrap(name, (_from, to) => isIn(to))
    wrap('rmSync', (path) => isIn(path) && existsSync(path))
    syncBuiltinESMExports()
  `
  writeFileSync(path, source)
  return path
}

const faults = [
  { what: 'is full', code: 'ENOSPC', says: 'the disk is full' },
  { what: 'is read-only', code: 'EROFS', says: 'the file system is read-only' },
  { what: 'belongs to somebody else', code: 'EACCES', says: 'this user may not write there' },
] as const

describe('a data directory that', () => {
  test.each(faults)('$what is served from, and the log and the API say so', async (fault) => {
    const module = unwritable(site.dataDir, fault.code)
    const daemon = spawnWith(module, 'serve', '--settings', site.settingsFile)
    await daemon.running()
    expect(await answerOf(daemon)).toBe('192.0.2.1')
    const line = daemon.logged(`the data directory ${site.dataDir} cannot be written`)
    expect(line?.level).toBe('error')
    expect(line?.msg).toContain(fault.says)
    expect(line?.msg).toContain('the last bundle is served')
    expect(await daemon.health()).toBe('degraded')
    expect(await daemon.stop()).toEqual({ code: 0, signal: null })
    expect(existsSync(join(site.dataDir, 'lock'))).toBe(false)
  })

  test('becomes full while the node runs is an error in the log and the health', async () => {
    const sign = join(site.path, 'full')
    onTestFinished(() => rmSync(sign, { force: true }))
    const module = unwritable(site.dataDir, 'ENOSPC', sign)
    const daemon = spawnWith(module, 'serve', '--settings', site.settingsFile)
    await daemon.running()
    await waitUntil('the first look', async () => (await daemon.health()) === 'ok')
    // The API can write a moment later than the health is well.
    await waitUntil('the view', async () => (await daemon.get('/api/v1/pools')).startsWith('['))
    writeFileSync(sign, '')
    const answer = await fetch(`http://127.0.0.1:${daemon.apiPort}/api/v1/pools`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: 'too-much' }),
    })
    expect(answer.status).toBe(500)
    expect(await answer.text()).toContain('The change is not in Git.')
    expect(await daemon.health()).toBe('degraded')
    expect((await daemon.gitops()).reason?.code).toBe('DiskFull')
    const line = daemon.logged('The disk of the data directory is full')
    expect([line?.level, line?.msg]).toEqual(['error', expect.stringContaining('Make room')])
    rmSync(sign)
    await waitUntil('the node to notice', async () => (await daemon.health()) === 'ok')
    expect(daemon.logged('the repository can be used again')?.level).toBe('info')
    expect(await daemon.stop(), daemon.output).toEqual({ code: 0, signal: null })
  })

  test('cannot be written and holds no bundle is an error that says what to do', async () => {
    const fault = faults[2]
    const empty = join(site.path, `empty-${fault.code}`)
    const module = unwritable(empty, fault.code)
    const daemon = spawnWith(module, 'serve', '--data-dir', empty)
    expect(await daemon.ended).toEqual({ code: 1, signal: null })
    expect(daemon.stderr).toContain(`the data directory ${empty} cannot be made`)
    expect(daemon.stderr).toContain(fault.says)
    expect(daemon.stderr).toContain('--data-dir')
  })

  test('is full and whose bundle is damaged is an error, before "stopped"', async () => {
    rmSync(join(site.dataDir, 'node', 'previous.json'), { force: true })
    writeFileSync(join(site.dataDir, 'node', 'active.json'), '{')
    const module = unwritable(site.dataDir, 'ENOSPC')
    const daemon = spawnWith(module, 'serve', '--settings', site.settingsFile)
    expect(await daemon.ended).toEqual({ code: 1, signal: null })
    expect(daemon.stderr).toContain('the disk is full')
    const said = daemon.log().map(({ msg }) => msg)
    const reason = said.findIndex((msg) => msg.includes('cannot be written'))
    expect(reason).toBeGreaterThanOrEqual(0)
    expect(said.indexOf('gslbd has stopped')).toBeGreaterThan(reason)
  })
})
