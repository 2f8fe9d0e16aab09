// Validators whose clock is another one than the node's: unbound, told another date, with no
// patience of its own.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { ask } from '#test/support/dns/client.ts'
import { signedName, startSignedNode } from '#test/support/dns/signed-zone.ts'
import type { SignedNode } from '#test/support/dns/signed-zone.ts'
import { freePort } from '#test/support/free-port.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const [minute, hour, day] = [60, 3_600, 86_400]
// Each rrset has periods of its own.
const questions = [
  ...['@ SOA', '@ NS', '@ DNSKEY', 'mail A', 'www A', 'text TXT', 'rp RP', 'x.star A', 'none A'],
  ...['alias2 A', 'host.old A', 'app A', 'many A', 'www TXT', 'deep.empty.non A', 'tostar A'],
].map((one) => one.replace(/^(?!@)\S+/, '$&.@').replace('@', signedName))

let folder = ''
let node: SignedNode
beforeAll(async () => {
  folder = makeTempDir('clock')
  node = await startSignedNode(folder, 13)
})
afterAll(async () => {
  await node.stop()
  removeTempDir(folder)
})

/**
 * @param skewSeconds its clock less the node's
 * @returns its port
 */
async function startUnbound(skewSeconds: number): Promise<number> {
  const port = await freePort()
  const [date] = new Date(Date.now() + skewSeconds * 1_000).toISOString().split('.')
  const { answer } = await ask(node, `${signedName} DNSKEY`)
  const text = `server:
  interface: 127.0.0.1
  port: ${port}
  do-daemonize: no
  chroot: ""
  username: ""
  directory: "."
  pidfile: ""
  use-syslog: no
  do-not-query-localhost: no
  module-config: "validator iterator"
  trust-anchor: "${signedName} DNSKEY ${answer[0]!.rdataText}"
  val-override-date: "${date!.replaceAll(/[-:T]/g, '')}"
  val-sig-skew-min: 0
  val-sig-skew-max: 0
remote-control:
  control-enable: no
stub-zone:
  name: "${signedName}"
  stub-addr: 127.0.0.1@${node.port}
`
  const conf = join(folder, `${port}.conf`)
  writeFileSync(conf, text)
  const child = spawn('/usr/sbin/unbound', ['-d', '-c', conf], { cwd: folder, stdio: 'ignore' })
  onTestFinished(async () => {
    const closed = once(child, 'close')
    child.kill('SIGKILL')
    await closed
  })
  await waitUntil('unbound to listen', () =>
    ask({ host: '127.0.0.1', port }, 'localhost. A', { rd: true }).then(
      () => true,
      () => false,
    ),
  )
  return port
}

test.each([
  ['agrees', 0, 'all'],
  ['is an hour late', minute - hour, 'all'],
  ['is a day ahead', day, 'all'],
  ['is three days ahead', 3 * day, 'all'],
  ['is a day late', -day, 'all'],
  ['is five days late', -5 * day, 'none'],
  ['is eight days ahead', 8 * day, 'none'],
])('a clock that %s', { timeout: 60_000 }, async (_what, skewSeconds, valid) => {
  const server = { host: '127.0.0.1', port: await startUnbound(skewSeconds) }
  const secure: string[] = []
  for (const question of questions) {
    const { rcode, ad } = await ask(server, question, { rd: true, opt: { dnssecOk: true } })
    if (rcode === 0 && ad) secure.push(question)
  }
  expect(secure).toEqual(valid === 'all' ? questions : [])
})
