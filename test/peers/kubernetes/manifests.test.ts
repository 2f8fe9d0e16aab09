// The chart, and the kustomize base and overlays, rendered by Helm and by kubectl: one set of
// objects, which the published schemas take, with settings that a node takes.
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { chartArchive } from '#bin/release-plan.ts'
import { loadSettings } from '#settings/settings.ts'
import { runProgram } from '#test/support/run-program.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { helm, installPrograms, kustomize, manifestsOf } from './programs.ts'
import type { Manifest } from './programs.ts'
import { faultsOf } from './schemas.ts'

const root = join(import.meta.dirname, '../../..')
const deploy = join(root, 'deploy')
const chart = join(deploy, 'helm/gslbd')

// A download of 40 MB where .ci/run has not made it.
beforeAll(installPrograms, 600_000)

async function render(values: object, release = 'gslbd'): Promise<readonly Manifest[]> {
  const file = join(tempDir('values'), 'values.json')
  writeFileSync(file, JSON.stringify(values))
  const where = ['--namespace', 'gslbd', '--values', file]
  const text = await helm('template', release, chart, ...where)
  expect(await helm('lint', '--strict', '--quiet', ...where, chart)).toBe('')
  return manifestsOf(text)
}

async function expectToBeTaken(manifests: readonly Manifest[]): Promise<void> {
  const faults = await Promise.all(manifests.map(faultsOf))
  expect(faults.flat()).toEqual([])
  for (const { data } of manifests) {
    if (data === undefined) continue
    const file = join(tempDir('settings'), 'gslbd.yaml')
    writeFileSync(file, data['gslbd.yaml'] ?? '')
    expect(loadSettings({ file, env: {}, flags: {} })).toMatchObject({ ok: true })
  }
}

const named = (manifests: readonly Manifest[], kind: string, name: string): Manifest => {
  const found = manifests.find((one) => one.kind === kind && one.metadata.name === name)
  return found ?? expect.fail(`there is no ${kind} ${name}`)
}

const kindsOf = (manifests: readonly Manifest[]): readonly string[] =>
  manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted()

/** Without what each of the two adds: hashes in names here, labels of the release there. */
function withoutMarks(value: unknown): unknown {
  if (typeof value === 'string')
    return value.replace(/^(gslbd-(?:control|dns))-[a-z0-9]{10}$/, '$1')
  if (Array.isArray(value)) return value.map(withoutMarks)
  if (typeof value !== 'object' || value === null) return value
  const rest = Object.entries(value).filter(
    ([key]) => key !== 'app.kubernetes.io/instance' && key !== 'checksum/settings',
  )
  const clean = rest.map(([key, inner]): [string, unknown] => [key, withoutMarks(inner)])
  return Object.fromEntries(
    clean.filter(([key, inner]) => key !== 'annotations' || JSON.stringify(inner) !== '{}'),
  )
}

function comparable(manifests: readonly Manifest[]): readonly unknown[] {
  return manifests
    .map(({ kind, metadata: { name, namespace }, data, ...rest }) => ({
      ...(withoutMarks(rest) as object),
      object: `${kind} ${withoutMarks(name) as string} of ${namespace ?? ''}`,
      ...(data && { settings: parse(data['gslbd.yaml'] ?? '') as unknown }),
    }))
    .toSorted((a, b) => a.object.localeCompare(b.object))
}

interface PodSpec {
  readonly containers: readonly {
    readonly name: string
    readonly args?: readonly string[]
    readonly volumeMounts: readonly { readonly name: string }[]
  }[]
}

const reading = ['get', 'list', 'watch']

/** A Deployment with these containers. */
const podsOf = (containers: readonly object[]) => ({
  ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'x' } },
  template: { spec: { containers } },
})

describe('kustomize', () => {
  const built = 'kubernetes/{base,overlays/*}/kustomization.yaml'
  const folders = globSync(built, { cwd: deploy }).map(dirname)
  test.each(folders)('Kubernetes takes all that %s makes', async (folder) => {
    const manifests = await kustomize(join(deploy, folder))
    expect(manifests.length).toBeGreaterThan(5)
    await expectToBeTaken(manifests)
  })

  test('a field that the schema does not name is a fault, and so is a wrong type', async () => {
    const [service] = (await kustomize(join(deploy, 'kubernetes/base'))).filter(
      ({ kind }) => kind === 'Service',
    )
    const wrong = { ...service!, spec: { ...service!.spec, prots: [], type: 7 } }
    const said = (await faultsOf(wrong)).join('\n')
    expect(said).toContain('v1 Service/spec/prots is not a field of the schema')
    expect(said).toContain('v1 Service/spec/type ')
  })
})

describe('the chart', () => {
  test('has the version of the program, and so has the image of the base', async () => {
    const { version } = parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      version: string
    }
    const said = parse(await helm('show', 'chart', chart)) as object
    expect(said).toMatchObject({ version, appVersion: version })
    const base = JSON.stringify(await kustomize(join(deploy, 'kubernetes/base')))
    expect(new Set(base.match(/"image":"[^"]+"/g))).toEqual(new Set([`"image":"gslbd:${version}"`]))
  })

  test('the package of a release is the chart', async () => {
    const file = join(tempDir('chart'), 'gslbd-chart.tgz')
    runProgram('git', [...chartArchive('HEAD', file)], { cwd: root })
    const packed = await helm('template', 'gslbd', file, '--namespace', 'gslbd')
    expect(manifestsOf(packed).length).toBeGreaterThan(5)
  })

  test('makes with its defaults what the kustomize base makes', async () => {
    const base = comparable(await kustomize(join(deploy, 'kubernetes/base')))
    expect(base).toHaveLength(8)
    expect(comparable(await render({}))).toEqual(base)
  })

  test('with a PodMonitor it makes what the base makes with the component', async () => {
    const folder = tempDir('overlay')
    const made = join(folder, 'deploy')
    cpSync(join(deploy, 'kubernetes'), made, { recursive: true })
    const overlay = join(made, 'overlays/monitored')
    mkdirSync(overlay)
    const words = { resources: ['../../base'], components: ['../../components/pod-monitor'] }
    writeFileSync(join(overlay, 'kustomization.yaml'), stringify({ namespace: 'gslbd', ...words }))
    const monitored = await kustomize(overlay)
    await expectToBeTaken(monitored)
    expect(kindsOf(monitored)).toContain('PodMonitor gslbd')
    expect(comparable(await render({ monitor: { kind: 'PodMonitor' } }))).toEqual(
      comparable(monitored),
    )
  })

  test('has each value in its schema, and no other', () => {
    interface Schema {
      readonly properties?: Readonly<Record<string, Schema>>
      readonly additionalProperties?: boolean
    }
    const pathsOf = (value: unknown, schema: Schema, path: string): string[] => {
      if (schema.additionalProperties !== false) return [path]
      const inner = Object.entries(schema.properties ?? {})
      const given = Object.keys(value as object)
      expect([path, inner.map(([key]) => key).filter((key) => key !== 'global')]).toEqual([
        path,
        expect.arrayContaining(given),
      ])
      return inner
        .filter(([key]) => key !== 'global')
        .flatMap(([key, one]) => {
          expect(given, `${path}.${key} has a default`).toContain(key)
          return pathsOf((value as Record<string, unknown>)[key], one, `${path}.${key}`)
        })
    }
    const schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8')) as Schema
    const values: unknown = parse(readFileSync(join(chart, 'values.yaml'), 'utf8'))
    expect(pathsOf(values, schema, 'values').length).toBeGreaterThan(30)
  })

  test('a DaemonSet has port 53 of each machine', async () => {
    const pod = { nodeSelector: { dns: 'yes' }, tolerations: [{ operator: 'Exists' }] }
    const manifests = await render({
      dns: { kind: 'DaemonSet', hostPort: 53, pod, service: { enabled: false } },
    })
    await expectToBeTaken(manifests)
    expect(kindsOf(manifests)).not.toContain('Service gslbd-dns')
    // Kubernetes counts no budget for a DaemonSet, and a drain passes its pods over.
    expect(kindsOf(manifests)).not.toContain('PodDisruptionBudget gslbd-dns')
    const { spec } = named(manifests, 'DaemonSet', 'gslbd-dns')
    expect(spec).not.toHaveProperty('replicas')
    expect(spec).toMatchObject({
      template: {
        spec: {
          ...pod,
          containers: [
            {
              ports: [
                { name: 'dns-udp', containerPort: 5353, hostPort: 53, protocol: 'UDP' },
                { name: 'dns-tcp', containerPort: 5353, hostPort: 53, protocol: 'TCP' },
                { name: 'api', containerPort: 8080, protocol: 'TCP' },
              ],
            },
          ],
        },
      },
    })
  })

  test('a ServiceMonitor finds the service that is made for it', async () => {
    const manifests = await render({
      monitor: { kind: 'ServiceMonitor', interval: '1m', labels: { release: 'prometheus' } },
    })
    await expectToBeTaken(manifests)
    expect(kindsOf(manifests)).not.toContain('PodMonitor gslbd')
    const { metadata } = named(manifests, 'Service', 'gslbd-metrics')
    const monitor = named(manifests, 'ServiceMonitor', 'gslbd')
    const { spec } = monitor as unknown as {
      readonly spec: { readonly selector: { readonly matchLabels: object } }
    }
    expect(metadata).toMatchObject({ labels: spec.selector.matchLabels })
    expect(monitor).toMatchObject({
      metadata: { labels: { release: 'prometheus' } },
      spec: { endpoints: [{ port: 'api', interval: '1m' }] },
    })
  })

  test('another release is a site without a control node, from a registry of its own', async () => {
    const manifests = await render(
      {
        image: {
          repository: 'registry.example.net/gslbd',
          digest: `sha256:${'0'.repeat(64)}`,
          pullPolicy: 'IfNotPresent',
          pullSecrets: ['registry'],
        },
        secrets: { dnsEnvironment: 'site-b', bundleKeys: 'site-b-keys' },
        control: { enabled: false },
        dns: {
          replicas: 5,
          bundleUrls: ['https://control.example.net', 'https://cdn.example.net/gslbd'],
          settings: { dns: { port: 1053, threads: 2 }, health: { enabled: false } },
          service: { type: 'ClusterIP' },
          env: [{ name: 'TZ', value: 'UTC' }],
          annotations: { 'example.net/team': 'dns' },
          podDisruptionBudget: { maxUnavailable: '20%' },
        },
        networkPolicy: { monitoringNamespace: '', apiFrom: [{ ipBlock: { cidr: '10.0.0.0/8' } }] },
        monitor: { kind: 'none' },
      },
      'b',
    )
    await expectToBeTaken(manifests)
    expect(kindsOf(manifests)).toEqual([
      'ConfigMap b-gslbd-dns',
      'Deployment b-gslbd-dns',
      'NetworkPolicy b-gslbd',
      'PodDisruptionBudget b-gslbd-dns',
      'Service b-gslbd-dns',
    ])
    const { data } = named(manifests, 'ConfigMap', 'b-gslbd-dns')
    expect(parse(data?.['gslbd.yaml'] ?? '')).toMatchObject({
      bundle: {
        urls: ['https://control.example.net', 'https://cdn.example.net/gslbd'],
        keys: '/etc/gslbd/keys/bundle_keys',
      },
      dns: { port: 1053, threads: 2, listenAddr: '0.0.0.0' },
      health: { enabled: false },
    })
    expect(named(manifests, 'Deployment', 'b-gslbd-dns')).toMatchObject({
      spec: {
        replicas: 5,
        template: {
          metadata: { annotations: { 'example.net/team': 'dns' } },
          spec: {
            imagePullSecrets: [{ name: 'registry' }],
            containers: [
              {
                image: `registry.example.net/gslbd@sha256:${'0'.repeat(64)}`,
                imagePullPolicy: 'IfNotPresent',
                envFrom: [{ secretRef: { name: 'site-b' } }],
                env: [{ name: 'GSLB_NODE_NAME' }, { name: 'TZ', value: 'UTC' }],
              },
            ],
          },
        },
      },
    })
  })

  test('makes three control nodes, and nothing else', async () => {
    const manifests = await render({
      control: { replicas: 3, storage: { size: '50Gi', className: 'fast' } },
      dns: { enabled: false },
      networkPolicy: { enabled: false },
      monitor: { kind: 'none' },
    })
    await expectToBeTaken(manifests)
    expect(kindsOf(manifests)).toEqual([
      'ConfigMap gslbd-control',
      'PodDisruptionBudget gslbd-control',
      'Service gslbd-control',
      'StatefulSet gslbd-control',
    ])
    expect(named(manifests, 'StatefulSet', 'gslbd-control')).toMatchObject({
      spec: {
        replicas: 3,
        volumeClaimTemplates: [
          { spec: { storageClassName: 'fast', resources: { requests: { storage: '50Gi' } } } },
        ],
      },
    })
  })

  test('a load balancer is as the values say, and so is who may ask it', async () => {
    const service = {
      ...{ loadBalancerClass: 'example.net/own', loadBalancerIP: '192.0.2.53' },
      ...{ loadBalancerSourceRanges: ['198.51.100.0/24'], ipFamilyPolicy: 'PreferDualStack' },
    }
    const manifests = await render({ dns: { service } })
    await expectToBeTaken(manifests)
    const wanted = { ...service, type: 'LoadBalancer', externalTrafficPolicy: 'Local' }
    expect(named(manifests, 'Service', 'gslbd-dns')).toMatchObject({ spec: wanted })
  })

  test('external-dns runs beside the control node, with an account that is its own', async () => {
    const manifests = await render({
      externalDns: {
        ...{ enabled: true, tenant: 'shop', ownerId: 'cluster-eu' },
        ...{ sources: ['service', 'crd', 'gateway-httproute'], args: ['--events'] },
      },
    })
    await expectToBeTaken(manifests)
    const { data } = named(manifests, 'ConfigMap', 'gslbd-control')
    const settings = parse(data?.['gslbd.yaml'] ?? '') as object
    expect(settings).toMatchObject({ externalDns: { enabled: true, tenant: 'shop' } })
    const { spec } = named(manifests, 'StatefulSet', 'gslbd-control') as unknown as {
      readonly spec: { readonly template: { readonly spec: PodSpec } }
    }
    const { containers, ...pod } = spec.template.spec
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      serviceAccountName: 'gslbd-external-dns',
    })
    const mounts = containers.map(({ name, volumeMounts }) => [
      name,
      volumeMounts.some((one) => one.name === 'external-dns-account'),
    ])
    expect(mounts).toEqual([
      ['gslbd', false],
      ['external-dns', true],
    ])
    expect(containers[1]?.args).toEqual(
      expect.arrayContaining(['--source=crd', '--txt-owner-id=cluster-eu', '--events']),
    )
    const role = named(manifests, 'ClusterRole', 'gslbd-gslbd-external-dns') as unknown as {
      readonly rules: readonly { readonly resources: string[]; readonly verbs: string[] }[]
    }
    const resources = role.rules.flatMap((rule) => rule.resources)
    expect(resources).toEqual(expect.arrayContaining(['services', 'dnsendpoints', 'httproutes']))
    expect(resources).not.toContain('ingresses')
    const writing = role.rules.filter(({ verbs }) => verbs.some((one) => !reading.includes(one)))
    expect(writing.flatMap((rule) => rule.resources)).toEqual(['dnsendpoints/status'])
    expect(named(await render({}), 'StatefulSet', 'gslbd-control').spec).not.toHaveProperty(
      'template.spec.serviceAccountName',
    )
  })

  test('the page of external-dns shows what Kubernetes and a node take', async () => {
    const page = readFileSync(join(root, 'docs/operations/external-dns.md'), 'utf8')
    const blocks = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text)
    const shown = blocks.map((text) => parse(text) as Partial<Manifest> | readonly unknown[])
    expect(shown).toHaveLength(4)
    const [settings, service, , sidecar] = shown
    const file = join(tempDir('page'), 'gslbd.yaml')
    writeFileSync(file, stringify(settings))
    expect(loadSettings({ file, env: {}, flags: {} })).toMatchObject({ ok: true })
    expect(await faultsOf(service as Manifest)).toEqual([])
    const { template, ...rest } = podsOf(sidecar as readonly object[])
    expect(await faultsOf({ ...rest, spec: { selector: {}, template } })).toEqual([])
  })

  test('other settings make other pods', async () => {
    const checksum = async (values: object): Promise<unknown> => {
      const { spec } = named(await render(values), 'Deployment', 'gslbd-dns')
      return (spec as { template: { metadata: { annotations: object } } }).template.metadata
        .annotations
    }
    const before = await checksum({})
    expect(await checksum({})).toEqual(before)
    expect(await checksum({ dns: { settings: { health: { enabled: false } } } })).not.toEqual(
      before,
    )
  })

  const wrong: readonly (readonly [values: object, said: string])[] = [
    [{ control: { enabled: false } }, 'say where the nodes get their bundles'],
    [{ dns: { kind: 'StatefulSet' } }, "must be one of 'Deployment', 'DaemonSet'"],
    [{ dns: { replica: 3 } }, "additional properties 'replica' not allowed"],
    [{ dns: { settings: { dns: { port: 53 } } } }, "at '/dns/settings/dns/port': minimum"],
    [{ control: { settings: { api: { enabled: false } } } }, "at '/control/settings/api/enabled'"],
    [{ secrets: { environment: '' } }, "at '/secrets/environment'"],
    [{ externalDns: { enabled: true } }, 'externalDns.ownerId is empty'],
    [
      { externalDns: { enabled: true, ownerId: 'a' }, control: { replicas: 2 } },
      'externalDns.enabled is for one control node',
    ],
    [{ externalDns: { sources: ['pod'] } }, "at '/externalDns/sources/0'"],
    [{ image: { digest: 'latest' } }, "at '/image/digest'"],
  ]
  test.each(wrong)('%j is refused', async (values, said) => {
    await expect(render(values)).rejects.toThrow(said)
  })
})
