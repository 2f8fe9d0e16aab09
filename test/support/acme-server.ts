// Runs Pebble, a certificate authority for tests, which proves domains by asking a DNS server as a
// real one does.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { freePort } from './free-port.ts'
import { makeTempDir, removeTempDir } from './temp-dir.ts'
import { waitUntil } from './wait-until.ts'

export interface AcmeServer {
  readonly directoryUrl: string
  /** Its certificate, which clients must trust. */
  readonly certificate: string
  /** Folder for files of its clients; removed with the server. */
  readonly path: string
  /** PEM of the root of what it gives, which is another one after each start. */
  readonly root: () => Promise<string>
  readonly output: () => string
  readonly stop: () => Promise<void>
}

interface AcmeServerOptions {
  /** Default: five years. */
  readonly validitySeconds?: number
  /** Where it asks for HTTP challenges; default: nowhere. */
  readonly httpPort?: number
  /** Keys in base64url by their identifiers: it takes accounts of these customers alone. */
  readonly customers?: Readonly<Record<string, string>>
}

/** @param dnsPort of the server on 127.0.0.1 that it asks for challenges */
export async function startAcmeServer(
  dnsPort: number,
  { validitySeconds, httpPort = 1, customers }: AcmeServerOptions = {},
): Promise<AcmeServer> {
  const path = makeTempDir('acme')
  const [certificate, privateKey] = [join(path, 'cert.pem'), join(path, 'key.pem')]
  const subject = ['-subj', '/CN=acme', '-addext', 'subjectAltName=IP:127.0.0.1']
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '9']
  const files = ['-keyout', privateKey, '-out', certificate]
  execFileSync('openssl', ['req', '-x509', ...kind, ...subject, ...files], { stdio: 'ignore' })
  const [port, management] = [await freePort(), await freePort()]
  const pebble = {
    ...{ listenAddress: `127.0.0.1:${port}`, managementListenAddress: `127.0.0.1:${management}` },
    ...{ certificate, privateKey, httpPort, tlsPort: 1, ocspResponderURL: '' },
    ...(customers && {
      ...{ externalAccountBindingRequired: true, externalAccountMACKeys: customers },
    }),
    ...(validitySeconds === undefined ? {} : { certificateValidityPeriod: validitySeconds }),
  }
  const config = join(path, 'pebble.json')
  writeFileSync(config, JSON.stringify({ pebble }))
  const child = spawn('pebble', ['-config', config, '-dnsserver', `127.0.0.1:${dnsPort}`], {
    // Without its random pauses and refusals, which test clients.
    env: { ...process.env, PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = once(child, 'close')
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await ended
    removeTempDir(path)
  }
  try {
    await waitUntil('the ACME server', () => output.includes('Listening on'), { timeoutMs: 30_000 })
  } catch (error) {
    await stop()
    throw new Error(`the ACME server did not start: ${output}`, { cause: error })
  }
  const directoryUrl = `https://127.0.0.1:${port}/dir`
  const root = async (): Promise<string> => {
    const url = `https://127.0.0.1:${management}/roots/0`
    const asked = get(url, { ca: readFileSync(certificate), agent: false })
    const [response] = (await once(asked, 'response')) as [Readable]
    return await text(response)
  }
  return { directoryUrl, certificate, path, root, output: () => output, stop }
}
