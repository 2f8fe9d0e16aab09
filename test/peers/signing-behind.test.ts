// Secondaries that sign what they transfer from a node, as docs/operations/secondaries.md has it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { pool, service } from '#test/support/bundle-models.ts'
import { ask, exchangeUdp } from '#test/support/dns/client.ts'
import { query } from '#test/support/dns/message.ts'
import { startNode } from '#test/support/dns/node.ts'
import type { RunningNode } from '#test/support/dns/node.ts'
import { modelOfWritten } from '#test/support/dns/written-zone.ts'
import { freePort } from '#test/support/free-port.ts'
import { saidBy } from '#test/support/said-by.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const page = join(import.meta.dirname, '../../docs/operations/secondaries.md')
const name = 'example.com.'
const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` }

const modelOf = (address: string) => {
  const text = `$ORIGIN ${name}
@ 60 SOA ns1 hostmaster 1 2 2 86400 60
@ 60 NS ns1
ns1 60 A 127.0.0.1
www 60 A ${address}
*.star 60 A 192.0.2.33
alias 60 CNAME app
`
  const written = modelOfWritten({ name, text })
  return {
    ...written,
    pools: [pool(1, ['192.0.2.10', '192.0.2.11'])],
    services: [service(1, `app.${name}`)],
  }
}

let node: RunningNode
beforeAll(async () => {
  const transfers = { enabled: true, requireTsig: false, allow: [] }
  node = await startNode(modelOf('192.0.2.80'), { transfers })
})
afterAll(() => node?.stop())

/** The indented block of the page that follows a line, without its indent. */
function blockAfter(line: string): string {
  const lines = readFileSync(page, 'utf8').split('\n')
  const start = lines.findIndex((text) => text.includes(line)) + 1
  const first = lines.findIndex((text, i) => i >= start && text.startsWith('    '))
  const end = lines.findIndex((text, i) => i > first && /^\S/.test(text))
  return lines
    .slice(first, end)
    .map((text) => text.slice(4))
    .join('\n')
}

const bindConf = (folder: string, port: number): string => `options {
  directory "${folder}";
  listen-on port ${port} { 127.0.0.1; };
  listen-on-v6 { none; };
  pid-file none;
  session-keyfile none;
  recursion no;
  dnssec-validation no;
};
controls { };
${blockAfter('With BIND, which signs with `dnssec-policy`')}
`

const knotConf = (folder: string, port: number): string => `server:
    rundir: ${folder}
    listen: 127.0.0.1@${port}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
database:
    storage: ${folder}
log:
  - target: stderr
    any: warning
${blockAfter('With Knot DNS, which signs with a policy')}
`

async function startSigner(program: string): Promise<number> {
  const folder = tempDir(`signer-${program}`)
  const port = await freePort()
  const file = join(folder, 'conf')
  const primary = `${node.port}`
  const text = program === 'named' ? bindConf(folder, port) : knotConf(folder, port)
  const local = text
    .replaceAll('192.0.2.1 key "K"', `127.0.0.1 port ${primary}`)
    .replaceAll('192.0.2.1', `127.0.0.1@${primary}`)
    .replaceAll(/^ *(key: K|acl: notified)\n/gm, '')
  writeFileSync(file, local.replaceAll('/var/lib/knot', folder))
  const args = program === 'named' ? ['-g', '-c', file] : ['-c', file]
  const child = spawn(program, args, { env, stdio: 'ignore', cwd: folder })
  const ended = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return port
}

test.each(['named', 'knotd'])(
  '%s signs what it transfers',
  { timeout: 90_000 },
  async (program) => {
    const port = await startSigner(program)
    const server = { host: '127.0.0.1', port }
    const keyOf = async (): Promise<string | undefined> => {
      const reply = await ask(server, `${name} DNSKEY`, { tcp: true }).catch(() => undefined)
      return reply?.answer.find(({ type }) => type === 48)?.rdataText
    }
    await waitUntil(`${program} to have a key`, async () => (await keyOf()) !== undefined, {
      timeoutMs: 30_000,
    })
    const folder = tempDir('anchor')
    const at = ['@127.0.0.1', '-p', `${port}`]
    const validated = async (question: string): Promise<string> => {
      const { text } = await saidBy('dig', [...at, '+short', '+tcp', name, 'DNSKEY'])
      const anchors = text
        .trim()
        .split('\n')
        .flatMap((line) => {
          const [flags, protocol, algorithm, ...key] = line.split(' ')
          return `${name} static-key ${flags} ${protocol} ${algorithm} "${key.join('')}";`
        })
      const anchor = join(folder, 'anchor')
      writeFileSync(anchor, `trust-anchors { ${anchors.join(' ')} };\n`)
      const args = [...at, '-a', anchor, `+root=${name}`, ...question.split(' ')]
      return (await saidBy('delv', args)).text
    }
    for (const question of ['www A', 'app A', 'x.star A', 'alias A', 'none A', 'app AAAA']) {
      const full = question.replace(' ', `.${name} `)
      await waitUntil(
        `${full} to be signed`,
        async () => /fully validated/.test(await validated(full)),
        { timeoutMs: 20_000 },
      )
    }
    // A change here is signed there.
    await node.serve(modelOf('192.0.2.99'))
    const notify = query(`${name} SOA`)
    // RFC 1996: the opcode NOTIFY, and AA.
    notify[2] = 0x24
    await exchangeUdp(server, notify)
    await waitUntil(
      'the change to be signed',
      async () => /192\.0\.2\.99/.test(await validated(`www.${name} A`)),
      { timeoutMs: 60_000 },
    )
    expect(await validated(`none.${name} A`)).toMatch(/negative response, fully validated/)
    await node.serve(modelOf('192.0.2.80'))
  },
)
