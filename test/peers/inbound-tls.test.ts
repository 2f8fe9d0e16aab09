// Asks BIND and NSD for a zone over TLS, as a control node does.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { askPrimary } from '#zones/inbound/ask-primary.ts'
import type { Transferred } from '#zones/inbound/transfer-reader.ts'
import type { Result } from '#lib/result.ts'
import { wireName } from '#test/support/dns/wire-name.ts'
import { freePort } from '#test/support/free-port.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { makeTlsFiles } from '#test/support/tls-files.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const name = 'example.com.'
const zone = `$ORIGIN ${name}
$TTL 300
@ SOA ns1 hostmaster 7 3600 600 86400 60
@ NS ns1
ns1 A 192.0.2.53
${Array.from({ length: 2_000 }, (_, i) => `host${i} A 192.0.2.1`).join('\n')}
`
const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` }

interface Files {
  readonly certFile: string
  readonly keyFile: string
}

const configs: Readonly<
  Record<string, (folder: string, port: number, plain: number, files: Files) => string>
> = {
  named: (folder, port, _plain, { certFile, keyFile }) => `
tls own { cert-file "${certFile}"; key-file "${keyFile}"; };
controls { };
options {
  directory "${folder}"; pid-file none; session-keyfile none; recursion no;
  listen-on port ${port} tls own { 127.0.0.1; }; listen-on-v6 { none; };
};
zone "${name}" { type primary; file "zone"; allow-transfer { any; }; };
`,
  nsd: (folder, port, plain, { certFile, keyFile }) => `
server:
  ip-address: 127.0.0.1@${plain}
  ip-address: 127.0.0.1@${port}
  tls-port: ${port}
  tls-service-key: "${keyFile}"
  tls-service-pem: "${certFile}"
  username: ""
  zonesdir: "${folder}"
  database: ""
  pidfile: ""
  xfrdfile: "xfrd.state"
  zonelistfile: "zone.list"
  cookie-secret-file: ""
  server-count: 1
remote-control:
  control-enable: no
zone:
  name: "${name}"
  zonefile: "zone"
  provide-xfr: 127.0.0.1 NOKEY
`,
}

/** @returns its port for TLS */
async function start(program: string): Promise<number> {
  const folder = tempDir(`tls-${program}`)
  const [port, plain] = [await freePort(), await freePort()]
  const files = makeTlsFiles(folder, 'ns1.example.com')
  writeFileSync(join(folder, 'zone'), zone)
  const conf = join(folder, 'conf')
  writeFileSync(conf, configs[program]!(folder, port, plain, files))
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, readFileSync(files.certFile, 'utf8')])
  const args = program === 'named' ? ['-g', '-c', conf] : ['-d', '-c', conf]
  const child = spawn(program, args, { env, stdio: 'ignore', cwd: folder })
  const ended = once(child, 'close')
  onTestFinished(async () => {
    setDefaultCACertificates(before)
    child.kill('SIGKILL')
    await ended
  })
  return port
}

test.each(['named', 'nsd'])('%s sends a zone over TLS', async (program) => {
  const port = await start(program)
  const stop = new AbortController().signal
  const ask = (tls: string, serial?: number): Promise<Result<Transferred, string>> => {
    const question = { zone: wireName(name), key: undefined, serial, refused: undefined }
    const asking = { nowSeconds: () => Math.floor(Date.now() / 1_000), stop, tls }
    return askPrimary(
      { address: '127.0.0.1', port },
      { ...question, wants: 'changes' as const },
      asking,
    )
  }
  await waitUntil('it to answer', async () => (await ask('ns1.example.com', 7)).ok)
  expect(await ask('ns1.example.com', 7)).toMatchObject({ ok: true, value: { is: 'current' } })
  const whole = await ask('ns1.example.com')
  expect(whole).toMatchObject({ ok: true, value: { is: 'whole', soa: { serial: 7 } } })
  expect(await ask('ns2.example.com')).toMatchObject({ ok: false })
})
