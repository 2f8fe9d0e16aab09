// Tests a process whose output cannot be written: a full disk, a reader that left.
import { execFile, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ask } from '#test/support/dns/client.ts'
import { said } from '#test/support/dns/said.ts'
import { mainPath } from '#test/support/daemon.ts'
import { freePort } from '#test/support/free-port.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

type Stdio = 'pipe' | number

async function serve(stdout: Stdio, stderr: Stdio) {
  const path = tempDir('output')
  const port = await freePort()
  const settings = join(path, 'gslbd.yaml')
  const dns = { listenAddr: '127.0.0.1', port, threads: 1 }
  writeFileSync(settings, JSON.stringify({ dataDir: join(path, 'data'), dns }))
  const child = spawn(process.execPath, [mainPath, 'serve', '--settings', settings], {
    stdio: ['ignore', stdout, stderr],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const rcode = async () => {
    try {
      return said(await ask({ host: '127.0.0.1', port }, 'www.example.com. A')).rcode
    } catch {
      return 'none'
    }
  }
  return { child, rcode }
}

function full(): number {
  const fd = openSync('/dev/full', 'w')
  onTestFinished(() => closeSync(fd))
  return fd
}

describe('a node', () => {
  test('answers, reloads and stops cleanly while neither stream can be written', async () => {
    const { child, rcode } = await serve(full(), full())
    await waitUntil('an answer', async () => (await rcode()) === 'REFUSED')
    child.kill('SIGHUP')
    expect(await rcode()).toBe('REFUSED')
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  })

  test('goes on when the reader of its log has left', async () => {
    const { child, rcode } = await serve('pipe', 'pipe')
    child.stdout!.once('data', () => child.stdout!.destroy())
    child.stderr!.destroy()
    await waitUntil('an answer', async () => (await rcode()) === 'REFUSED')
    // Each makes a line.
    for (let i = 0; i < 3; i++) child.kill('SIGHUP')
    expect(await rcode()).toBe('REFUSED')
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  })
})

test('a log that has room again tells how many lines were lost, and goes on', async () => {
  const path = tempDir('room')
  const log = join(path, 'log')
  const settings = join(path, 'gslbd.yaml')
  const dns = { listenAddr: '127.0.0.1', port: 0, threads: 1 }
  writeFileSync(settings, JSON.stringify({ dataDir: join(path, 'data'), dns }))
  // In blocks of 512 octets: no file may become larger.
  const script = 'ulimit -f 16; exec "$@" >>"$0"'
  const command = [process.execPath, mainPath, 'serve', '--settings', settings]
  const child = spawn('sh', ['-c', script, log, ...command], { stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  const text = (): string => (existsSync(log) ? readFileSync(log, 'utf8') : '')
  await waitUntil('the node', () => text().includes('gslbd is running'))
  let looks = 0
  await waitUntil('the tale', () => {
    if (text().includes('log lines were lost')) return true
    for (let i = 0; i < 5; i++) child.kill('SIGHUP')
    // Now and then somebody makes room; sooner or later lines were lost before that.
    if (++looks % 50 === 0 && text().length > 7_500) truncateSync(log)
    return false
  })
  expect(text()).toMatch(/"lost":[1-9]\d*,/)
  // Reloads that still wait write lines, too.
  truncateSync(log)
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  expect(text()).toContain('gslbd has stopped')
})

describe('a command', () => {
  const shell = (line: string) =>
    new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      const dir = tempDir('shell')
      const env = { PATH: process.env['PATH'], NODE: process.execPath, MAIN: mainPath, DIR: dir }
      execFile('sh', ['-c', line], { env }, (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
      )
    })

  test.each([
    { ends: 'well', args: 'check examples/quickstart --format json', code: 0 },
    { ends: 'with errors', args: 'check test/fuzz --format json', code: 1 },
  ])('whose reader has left and that ends $ends says nothing of it', async ({ args, code }) => {
    // The reader says that it leaves; only then does the command start.
    const { stdout, stderr } = await shell(
      `exec 9>&1; mkfifo "$DIR/left"
      { cat "$DIR/left"; "$NODE" "$MAIN" ${args}; echo $? >&9; } | { exec <&-; : >"$DIR/left"; }`,
    )
    expect({ stdout, stderr }).toEqual({ stdout: `${code}\n`, stderr: '' })
  })

  test('that cannot write its result ends with 1 and says why', async () => {
    const { code, stderr } = await shell('"$NODE" "$MAIN" explain >/dev/full')
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'gslbd: the output cannot be written: ENOSPC: no space left on device, write\n',
    })
  })
})
