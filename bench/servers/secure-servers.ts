// Servers that answer over TCP, TLS and HTTPS: how each is configured for the zone of the
// benchmarks. Knot and PowerDNS answer neither TLS nor HTTPS themselves; dnsdist does before them.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pairsIn } from '#server/tls/sources.ts'
import { makeTlsFiles } from '#test/support/tls-files.ts'
import { bundleFiles } from '../data/encode-bundle.ts'
import { hasAnswer, QueryClient } from '../load/query-client.ts'
import { freePort } from './free-port.ts'
import { isInstalled, startProgram } from './program.ts'
import { startGslbd, startServer, staticZone, zone } from './servers.ts'

export const secureServerNames = Object.freeze(['gslbd', 'bind', 'dnsdist'] as const)
export type SecureServerName = (typeof secureServerNames)[number]

export const httpsPath = '/dns-query'

export interface SecureServer {
  readonly name: SecureServerName
  /** `dnsdist` and the server behind it are two. */
  readonly pids: readonly number[]
  readonly ports: { readonly tcp: number; readonly tls: number; readonly https: number }
  readonly stop: () => Promise<void>
}

interface StartOptions {
  readonly directory: string
  readonly names: number
  readonly core: number
}

interface Site extends StartOptions {
  readonly certFile: string
  readonly keyFile: string
  readonly ports: SecureServer['ports']
}

export function isSecureServerInstalled(name: SecureServerName): boolean {
  const programs = { gslbd: [], bind: ['named'], dnsdist: ['dnsdist', 'knotd'] }[name]
  return programs.every(isInstalled)
}

export async function startSecureServer(
  name: SecureServerName,
  options: StartOptions,
): Promise<SecureServer> {
  const directory = join(options.directory, `secure-${name}`)
  mkdirSync(directory, { recursive: true })
  const ports = { tcp: await freePort(), tls: await freePort(), https: await freePort() }
  const site = { ...options, ...makeTlsFiles(directory, 'ns.example'), directory, ports }
  if (name === 'gslbd') return startOurs(site)
  if (name === 'bind') return startBind(site)
  return startDnsdist(site)
}

async function startOurs(site: Site): Promise<SecureServer> {
  const { directory, names, core, certFile, keyFile, ports } = site
  const { paths } = await bundleFiles(directory, 'secure', { services: names, pools: names })
  const https = { port: ports.https, path: httpsPath }
  const pairs = pairsIn('dns.tls', { certFile, keyFile })
  const tls = { pairs, given: null, port: ports.tls, https }
  const { port, pid, stop } = await startGslbd(paths, { core, tls })
  return { name: 'gslbd', pids: [pid], ports: { ...ports, tcp: port }, stop }
}

async function startBind(site: Site): Promise<SecureServer> {
  const { directory, names, core, certFile, keyFile, ports } = site
  const conf = join(directory, 'named.conf')
  writeFileSync(join(directory, 'zone'), staticZone(names))
  writeFileSync(
    conf,
    `tls bench { cert-file "${certFile}"; key-file "${keyFile}"; };
http bench { endpoints { "${httpsPath}"; }; listener-clients 20000; };
controls { };
options {
  directory "${directory}"; pid-file none; session-keyfile none; recursion no;
  listen-on-v6 { none; };
  listen-on port ${ports.tcp} { 127.0.0.1; };
  listen-on port ${ports.tls} tls bench { 127.0.0.1; };
  listen-on port ${ports.https} tls bench http bench { 127.0.0.1; };
  tcp-clients 20000; tcp-listen-queue 512; tcp-idle-timeout 1200; tcp-keepalive-timeout 1200;
};
zone "${zone}" { type primary; file "zone"; };
`,
  )
  const program = startProgram('named', ['-g', '-n', '1', '-c', conf], { core })
  await answers(ports.tcp)
  return { name: 'bind', pids: [program.pid], ports, stop: program.stop }
}

async function startDnsdist(site: Site): Promise<SecureServer> {
  const { directory, names, core, certFile, keyFile, ports } = site
  const knot = await startServer('knot', { directory, names, core })
  const conf = join(directory, 'dnsdist.conf')
  const files = `'${certFile}', '${keyFile}'`
  writeFileSync(
    conf,
    `setLocal('127.0.0.1:${ports.tcp}')
addTLSLocal('127.0.0.1:${ports.tls}', ${files}, { tcpListenQueueSize = 512 })
addDOHLocal('127.0.0.1:${ports.https}', ${files}, '${httpsPath}', { tcpListenQueueSize = 512 })
newServer({ address = '127.0.0.1:${knot.port}', healthCheckMode = 'up' })
setMaxTCPClientThreads(1)
setMaxTCPConnectionDuration(0)
setTCPRecvTimeout(600)
setSecurityPollSuffix('')
`,
  )
  const args = ['--supervised', '--disable-syslog', '-C', conf]
  const program = startProgram('dnsdist', args, { core })
  await answers(ports.tcp)
  const stop = async (): Promise<void> => {
    await program.stop()
    await knot.stop()
  }
  return { name: 'dnsdist', pids: [program.pid, knot.pid], ports, stop }
}

async function answers(port: number): Promise<void> {
  const client = new QueryClient(port)
  await client.open()
  await client.waitFor(`svc0.${zone}`, hasAnswer, { everyMs: 20 })
  client.close()
}
