// The page from an empty cluster to a balanced name with a certificate, walked as far as it goes
// without a cluster: Helm, a node with the settings of the chart, a model of external-dns, Pebble.
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { startAcmeServer } from '#test/support/acme-server.ts'
import type { AcmeServer } from '#test/support/acme-server.ts'
import { callApi } from '#test/support/api-client.ts'
import { startHttpBackend } from '#test/support/backend.ts'
import { codeBlocks } from '#test/support/client-world.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { ExternalDnsModel } from '#test/support/external-dns.ts'
import type { ModelEndpoint } from '#test/support/external-dns.ts'
import { saidBy } from '#test/support/said-by.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'
import { helm, installPrograms, manifestsOf } from './programs.ts'
import { faultsOf } from './schemas.ts'

const root = join(import.meta.dirname, '../../..')
const page = readFileSync(join(root, 'docs/operations/kubernetes-walk.md'), 'utf8')

/** The file of the page whose first line says so. */
function fileOf(name: string): string {
  const found = codeBlocks(page, 'yaml').find((one) => one.startsWith(`# ${name}`))
  return found ?? expect.fail(`the page has no ${name}`)
}

const patience = { timeoutMs: 120_000 }
const host = 'www.gslb.example.net'
const bearer = 'ab'.repeat(32)
const { start } = useDaemons({ GSLB_API_KEY: bearer })
let site: Site
let node: DaemonProcess
let ca: AcmeServer
/** Addresses of the loopback interface here: a tenant may have no member at 127.0.0.0/8. */
const [eu, us] = ['10.77.9.1', '10.77.9.2'] as const
const onLoopback = (verb: 'replace' | 'delete', address: string): void => {
  execFileSync('ip', ['address', verb, `${address}/32`, 'dev', 'lo'])
}
let backends: Awaited<ReturnType<typeof startHttpBackend>>[]

/** The settings of the control node that the chart makes, on this machine. */
async function settingsOfChart(): Promise<object> {
  const file = join(site.path, 'values.yaml')
  writeFileSync(file, fileOf('values.yaml'))
  const chart = join(root, 'deploy/helm/gslbd')
  const where = ['--namespace', 'gslbd', '--values', file]
  expect(await helm('lint', '--strict', '--quiet', ...where, chart)).toBe('')
  const manifests = manifestsOf(await helm('template', 'gslbd', chart, ...where))
  expect((await Promise.all(manifests.map(faultsOf))).flat()).toEqual([])
  const map = manifests.find(
    ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'gslbd-control',
  )
  return parse(map?.data?.['gslbd.yaml'] ?? '') as object
}

beforeAll(async () => {
  installPrograms()
  site = await Site.make('walk')
  const { dns, api, externalDns, ...settings } = (await settingsOfChart()) as Record<string, object>
  const here = { listenAddr: '127.0.0.1', port: 0 }
  const ports = {
    ...{ dns: { ...dns, ...here }, api: { ...api, ...here } },
    externalDns: { ...externalDns, ...here },
  }
  writeFileSync(site.settingsFile, stringify({ ...settings, ...ports, dataDir: './data' }))
  rmSync(join(site.checkout, 'tenants'), { recursive: true })
  site.write('gslb.yaml', fileOf('gslb.yaml'))
  await site.git('add', '-A')
  site.trustNode()
  await site.commit('the zone')
  await site.push()
  node = await start('serve', '--settings', site.settingsFile)
  await node.hasDatabase()
  await waitUntil('the first commit', async () => (await node.gitops()).active !== null)
  ca = await startAcmeServer(node.dnsPort)
  for (const address of [eu, us]) onLoopback('replace', address)
  const first = await startHttpBackend({ address: eu })
  const second = await startHttpBackend({ address: us, port: first.port })
  backends = [first, second]
}, 600_000)
afterAll(async () => {
  await Promise.all(backends.map((one) => one.close()))
  for (const address of [eu, us]) onLoopback('delete', address)
  await ca.stop()
  site.remove()
})

test('Kubernetes takes the objects of the page', async () => {
  const own = manifestsOf(`${fileOf('way-in.yaml')}---\n${fileOf('shop.yaml')}`)
  expect(own).toHaveLength(4)
  expect((await Promise.all(own.map(faultsOf))).flat()).toEqual([])
})

/** What external-dns reads of the Service, in a cluster whose load balancer has that address. */
function endpointOf(cluster: string, address: string, port: number): ModelEndpoint {
  const { metadata } = parse(fileOf('shop.yaml')) as {
    metadata: { annotations: Record<string, string> }
  }
  const annotations = new Map(
    Object.entries(metadata.annotations).map(([name, value]) => [name.split('/')[1]!, value]),
  )
  const properties = [...annotations].flatMap(([name, value]) =>
    name.startsWith('webhook-') ? [{ name: name.replace('webhook-', 'webhook/'), value }] : [],
  )
  // The page has port 80, for members and for their check.
  const ofBackend: Readonly<Record<string, (value: string) => string>> = {
    'webhook/gslbd-port': () => String(port),
    'webhook/gslbd-health-check': (value) => JSON.stringify({ ...JSON.parse(value), port }),
  }
  expect(annotations.get('set-identifier')).toBe('eu')
  return {
    ...{ dnsName: annotations.get('hostname') ?? '', recordType: 'A', targets: [address] },
    ...{ setIdentifier: cluster, recordTTL: Number(annotations.get('ttl')) },
    providerSpecific: properties.map(({ name, value }) => ({
      name,
      value: ofBackend[name]?.(value) ?? value,
    })),
  }
}

/** Speaks to the node in the place of the framework's own requests. */
function listener(): FastifyInstance {
  const port = Number(node.logged('external-dns is listened to')?.['port'])
  const inject = async (asked: {
    readonly method: string
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
    readonly payload?: string
  }) => {
    const { method, url, headers, payload } = asked
    const body = payload === undefined ? {} : { body: payload }
    const response = await fetch(`http://127.0.0.1:${port}${url}`, { method, headers, ...body })
    return {
      ...{ statusCode: response.status, payload: await response.text() },
      headers: Object.fromEntries(response.headers),
    }
  }
  return { inject } as unknown as FastifyInstance
}

const addresses = async (): Promise<string> => {
  const all = await Promise.all(Array.from({ length: 8 }, () => node.answers(`${host}. A`)))
  const found = all.flat().map((line) => line.split(' ').at(-1) ?? '')
  return [...new Set(found)].sort().join(' ')
}

test('clusters write the name, and it is answered with those that are well', async () => {
  const [first, second] = backends
  // 503 while the first commit is read.
  const made = await waitUntil('the tenant', async () => {
    const body = { name: 'shop' }
    const reply = await callApi<{ apiKey: string }>(node, 'POST', '/tenants', { bearer, body })
    return reply.status === 503 ? undefined : reply
  })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  const credential = Buffer.from(`external-dns:${made.body.apiKey}`).toString('base64')
  const headers = { authorization: `Basic ${credential}` }
  const clusters = [
    { owner: 'cluster-eu', set: 'eu', address: eu },
    { owner: 'cluster-us', set: 'us', address: us },
  ]
  for (const { owner, set, address } of clusters) {
    const model = new ExternalDnsModel(listener(), { owner, headers })
    const endpoint = endpointOf(set, address, first!.port)
    expect(await model.sync([endpoint])).toMatchObject({ status: 204, error: '' })
    expect(await model.sync([endpoint])).toMatchObject({ sent: 0 })
  }
  await waitUntil('both', async () => (await addresses()) === `${eu} ${us}`)
  const [line] = await node.answers(`${host}. A`)
  expect(line).toMatch(/^www\.gslb\.example\.net\. 30 IN A /)
  await waitUntil('probes', () => first!.requests.length > 0 && second!.requests.length > 0)
  expect(first!.requests[0]).toMatchObject({ url: '/healthz' })
  await second!.close()
  await waitUntil('one alone', async () => (await addresses()) === eu, patience)
  // It stays so: the other one is still well.
  const { length } = first!.requests
  await waitUntil('another probe', () => first!.requests.length > length + 1, patience)
  expect(await addresses()).toBe(eu)
}, 240_000)

test('an ACME client gets a certificate of the name by the account of acme-dns', async () => {
  const base = `http://127.0.0.1:${node.apiPort}/acme-dns`
  const registered = await saidBy('curl', ['-sS', '-X', 'POST', `${base}/register`])
  const account = JSON.parse(registered.text) as Readonly<Record<string, string>>
  const { fulldomain = '', subdomain = '', username = '', password = '' } = account
  await site.git('pull', '-q', '--rebase', 'origin', 'main')
  const path = 'tenants/shop/records/challenges.yaml'
  site.write(path, fileOf(path).replace('FULLDOMAIN', fulldomain))
  await site.commit('the CNAME of the proof')
  await site.push()
  const proof = async () => (await node.answers(`_acme-challenge.${host}. TXT`)).join()
  await waitUntil('the CNAME', async () => (await proof()).includes(fulldomain))
  const hook = join(site.path, 'hook.sh')
  writeFileSync(
    hook,
    `#!/bin/sh
exec curl -sSf -H 'X-Api-User: ${username}' -H 'X-Api-Key: ${password}' \\
  -H 'Content-Type: application/json' \\
  -d "{\\"subdomain\\": \\"${subdomain}\\", \\"txt\\": \\"$CERTBOT_VALIDATION\\"}" ${base}/update
`,
  )
  chmodSync(hook, 0o755)
  const folders = ['config', 'work', 'logs'].flatMap((name) => [
    ...[`--${name}-dir`, join(site.path, 'certbot', name)],
  ])
  const { text } = await saidBy(
    'certbot',
    [
      ...['certonly', '-n', '--agree-tos', '-m', 'ann@example.com', '--no-eff-email', ...folders],
      ...['--server', ca.directoryUrl, '--manual', '--preferred-challenges', 'dns'],
      ...['--manual-auth-hook', hook, '-d', host],
    ],
    { env: { REQUESTS_CA_BUNDLE: ca.certificate } },
  )
  const certificate = join(site.path, `certbot/config/live/${host}/cert.pem`)
  expect(existsSync(certificate), `${text}\n${ca.output()}`).toBe(true)
  const shown = ['x509', '-noout', '-ext', 'subjectAltName', '-in', certificate]
  expect((await saidBy('openssl', shown)).text).toContain(`DNS:${host}`)
  const { spec } = parse(fileOf('issuer.yaml').split('---')[0] ?? '') as {
    spec: { acme: { solvers: { dns01: { acmeDNS: { host: string } } }[] } }
  }
  expect(spec.acme.solvers[0]?.dns01.acmeDNS.host).toMatch(/:8080\/acme-dns$/)
}, 240_000)
