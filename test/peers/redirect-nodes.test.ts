// Two nodes on one repository and one PostgreSQL: what one writes, the other answers by then.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { callApi } from '#test/support/api-client.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { gitEnvironment } from '#test/support/git-sandbox.ts'
import { gitHttpServer } from '#test/support/git-http-server.ts'
import { startPostgres } from '#test/support/postgres-server.ts'
import { rawHttp } from '#test/support/raw-http.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'
import { newPem, signerLine } from '#test/support/write-scene.ts'

const { start } = useDaemons()
const names = ['first', 'second']

interface Rule {
  readonly sourceFqdn: string
  readonly hitCount: number
}

async function locationAt(daemon: DaemonProcess, host: string): Promise<string> {
  const port = Number(daemon.logged('redirects are answered')?.['port'])
  const request = `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
  const { text } = await rawHttp(port, [request])
  return /^Location: (.*)\r$/m.exec(text)?.[1] ?? text.slice(9, 12)
}

/** Both answer one of the host h0.example; a restart forgets nothing that was stored. */
async function countTogether(
  one: DaemonProcess,
  two: DaemonProcess,
  startAgain: () => Promise<DaemonProcess>,
): Promise<void> {
  expect(await locationAt(one, 'h0.example')).toMatch(/^https/)
  const hitsAt = async (daemon: DaemonProcess): Promise<number | undefined> => {
    const { body } = await callApi<readonly Rule[]>(daemon, 'GET', '/redirects')
    return body.find(({ sourceFqdn }) => sourceFqdn === 'h0.example')?.hitCount
  }
  for (const daemon of [one, two]) {
    await waitUntil('the hits of both', async () => (await hitsAt(daemon)) === 2)
  }
  await two.stop()
  const again = await startAgain()
  await waitUntil('the hits of before', async () => (await hitsAt(again)) === 2)
}

test('a redirect that one node makes is answered by the other when the 201 returns', async () => {
  const postgres = await startPostgres()
  onTestFinished(() => postgres.stop())
  const home = tempDir('redirect-nodes')
  execFileSync('git', ['init', '-q', '--bare', '-b', 'main', join(home, 'config')], {
    env: gitEnvironment,
  })
  execFileSync('git', ['-C', join(home, 'config'), 'config', 'http.receivepack', 'true'], {
    env: gitEnvironment,
  })
  const remote = await gitHttpServer(home)
  const signers = join(home, 'allowed_signers')
  writeFileSync(signers, '')
  const settingsOf = (name: string): string => {
    const directory = join(home, name)
    mkdirSync(directory)
    const path = join(directory, 'gslbd.yaml')
    const settings = {
      dataDir: './data',
      dns: { listenAddr: '127.0.0.1', port: 0, threads: 1 },
      api: { enabled: true, port: 0 },
      redirect: { enabled: true, listenAddr: '127.0.0.1', port: 0 },
      database: { url: postgres.url },
      state: { nodeName: name },
      // So that no node finds a commit by itself.
      gitops: { url: remote.url('config'), poll: '1h', allowedSigners: signers },
    }
    writeFileSync(path, JSON.stringify(settings))
    return path
  }
  const paths = names.map(settingsOf)
  const lines = names.map((name) => {
    const pem = newPem()
    mkdirSync(join(home, name, 'data/keys'), { recursive: true })
    writeFileSync(join(home, name, 'data/keys/node.pem'), pem, { mode: 0o600 })
    return signerLine(name, pem)
  })
  writeFileSync(signers, lines.join(''))
  const [one, two] = [
    await start('serve', '--settings', paths[0]!),
    await start('serve', '--settings', paths[1]!),
  ]
  const make = async (daemon: DaemonProcess, host: string): Promise<void> => {
    const body = { sourceFqdn: host, targetUrl: `https://${host}.new.example` }
    const made = await callApi(daemon, 'POST', '/redirects', { body })
    expect([made.status, made.body]).toMatchObject([201, { sourceFqdn: host }])
  }
  await make(one, 'warm.example')
  // From then on they know of each other.
  await waitUntil('the other node', async () => {
    const isThere = (await locationAt(two, 'warm.example')).startsWith('https')
    return isThere && (await callApi(two, 'GET', '/redirects')).status === 200
  })
  for (let i = 0; i < 4; i++) {
    const [writer, other] = i % 2 === 0 ? [two, one] : [one, two]
    await make(writer, `h${i}.example`)
    expect(await locationAt(other, `h${i}.example`)).toBe(`https://h${i}.example.new.example`)
  }
  await countTogether(one, two, () => start('serve', '--settings', paths[1]!))
}, 240_000)
