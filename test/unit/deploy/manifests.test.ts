// Manifests under deploy/: their parts fit each other, and a node takes the settings in them.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { routes } from '#api/routes.ts'
import { loadSettings } from '#settings/settings.ts'

const deploy = join(import.meta.dirname, '../../../deploy')
const base = join(deploy, 'kubernetes/base')

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string }
}
interface Container {
  readonly ports: {
    readonly name: string
    readonly containerPort: number
    readonly protocol: string
  }[]
  readonly livenessProbe: Probe
  readonly readinessProbe: Probe
  readonly startupProbe: Probe
  readonly securityContext: object
  readonly resources: { readonly limits: { readonly memory: string } }
  readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: string[] } } }
  readonly envFrom: readonly { readonly secretRef: { readonly name: string } }[]
  readonly volumeMounts: { readonly name: string }[]
}
interface PodSpec {
  readonly containers: Container[]
  readonly volumes: { readonly name: string }[]
  readonly terminationGracePeriodSeconds: number
  readonly securityContext: object
}
interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly selector?: { readonly matchLabels?: object } & object
    readonly ports?: { readonly targetPort: string }[]
    readonly template?: { readonly metadata: { readonly labels: object }; readonly spec: PodSpec }
    readonly podSelector?: { readonly matchLabels: object }
    readonly ingress?: { readonly ports: { readonly port: string; readonly protocol: string }[] }[]
    readonly volumeClaimTemplates?: { readonly metadata: { readonly name: string } }[]
  }
}

const { resources } = parse(readFileSync(join(base, 'kustomization.yaml'), 'utf8')) as {
  resources: string[]
}
const manifests = resources.flatMap((file) =>
  parseAllDocuments(readFileSync(join(base, file), 'utf8')).map((one) => one.toJS() as Manifest),
)
const workloads = manifests.filter(({ spec }) => spec.template !== undefined)

test.each(globSync('{kubernetes,compose,debian}/**/{*.settings,gslbd}.yaml', { cwd: deploy }))(
  'a node takes the settings of %s',
  (file) => {
    const settings = loadSettings({ file: join(deploy, file), env: {}, flags: {} })
    expect(settings).toMatchObject({ ok: true })
  },
)

test.each(globSync('kubernetes/**/kustomization.yaml', { cwd: deploy }))(
  '%s names files that are there',
  (file) => {
    const { resources: named, configMapGenerator = [] } = parse(
      readFileSync(join(deploy, file), 'utf8'),
    ) as { resources: string[]; configMapGenerator?: { files: string[] }[] }
    const files = configMapGenerator.flatMap((one) => one.files.map((each) => each.split('=')[1]))
    for (const path of [...named, ...files]) {
      expect([path, existsSync(join(deploy, dirname(file), path ?? ''))]).toEqual([path, true])
    }
  },
)

test('the kinds that a site needs are there', () => {
  expect(manifests.map(({ kind }) => kind).toSorted()).toEqual(
    [
      ...['Deployment', 'NetworkPolicy', 'PodDisruptionBudget'],
      ...['Service', 'Service', 'StatefulSet'],
    ].toSorted(),
  )
})

describe.each(workloads.map((one) => [one.metadata.name, one] as const))('%s', (name, { spec }) => {
  const pod = spec.template!.spec
  const [container] = pod.containers as [Container]

  test('selects its own pods, and a service leads to its ports', () => {
    expect(spec.template!.metadata.labels).toEqual(spec.selector?.matchLabels)
    const leading = manifests.filter(
      (one) =>
        one.kind === 'Service' &&
        JSON.stringify(one.spec.selector) === JSON.stringify(spec.selector?.matchLabels),
    )
    expect(leading).toHaveLength(1)
    const ports = container.ports.map(({ name }) => name)
    for (const { targetPort } of leading[0]!.spec.ports!) expect(ports).toContain(targetPort)
  })

  test('has the ports of its settings', () => {
    const file = join(base, `${name.replace('gslbd-', '')}.settings.yaml`)
    const read = loadSettings({ file, env: {}, flags: {} })
    if (!read.ok) return expect.fail(read.error.join())
    const { dns, api } = read.value
    expect(container.ports).toEqual([
      { name: 'dns-udp', containerPort: dns.port, protocol: 'UDP' },
      { name: 'dns-tcp', containerPort: dns.port, protocol: 'TCP' },
      { name: 'api', containerPort: api.port, protocol: 'TCP' },
    ])
  })

  test('sets its threads, and has memory for twice as many', () => {
    const file = join(base, `${name.replace('gslbd-', '')}.settings.yaml`)
    const { dns } = parse(readFileSync(file, 'utf8')) as { dns: { threads: number } }
    const limitMiB = /^(\d+)Mi$/.exec(container.resources.limits.memory)?.[1]
    // Measured: 14 MiB for each, and 112 for the rest of a node that only answers.
    expect(Number(limitMiB)).toBeGreaterThan(112 + 2 * 14 * dns.threads)
  })

  test('the network policy is about its pods, and lets through to each of its ports', () => {
    const policy = manifests.find(({ kind }) => kind === 'NetworkPolicy')!.spec
    expect(spec.template!.metadata.labels).toMatchObject(policy.podSelector!.matchLabels)
    const through = policy.ingress!.flatMap(({ ports }) =>
      ports.map(({ port, protocol }) => `${port} ${protocol}`),
    )
    const own = container.ports.map(({ name, protocol }) => `${name} ${protocol}`)
    expect(through.toSorted()).toEqual(own.toSorted())
  })

  test('has probes on routes that need no key', () => {
    const open = routes.filter(({ needs }) => needs === 'public').map(({ path }) => path)
    for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
      expect(open).toContain(container[probe].httpGet.path)
      expect(container[probe].httpGet.port).toBe('api')
    }
  })

  test('has each volume that it mounts, and is not root', () => {
    const claims = (spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata.name)
    const volumes = [...pod.volumes.map(({ name }) => name), ...claims]
    const mounted = container.volumeMounts.map(({ name }) => name)
    expect(volumes.toSorted()).toEqual(mounted.toSorted())
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true })
    expect(container.securityContext).toMatchObject({ capabilities: { drop: ['ALL'] } })
  })

  test('a pause before the stop and the whole stop fit into its grace period', () => {
    const [program, pause] = container.lifecycle.preStop.exec.command
    expect(program).toBe('sleep')
    // The process gives up by itself after 28 s.
    const stopSeconds = Number(pause) + 28
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(stopSeconds)
  })

  test('a start leaves the modes of the files in its volumes', () => {
    // Kubernetes would give the group the private keys at each start.
    expect(pod.securityContext).toMatchObject({
      fsGroup: 5353,
      fsGroupChangePolicy: 'OnRootMismatch',
    })
  })
})

test('the secrets of a control node are in no node that only answers', () => {
  const secretsOf = (name: string): readonly string[] =>
    manifests
      .find(({ metadata, spec }) => metadata.name === name && spec.template !== undefined)!
      .spec.template!.spec.containers.flatMap(({ envFrom }) =>
        envFrom.map(({ secretRef }) => secretRef.name),
      )
  expect(secretsOf('gslbd-control')).toEqual(['gslbd'])
  expect(secretsOf('gslbd-dns')).toEqual(['gslbd-dns'])
})

test('the disruption budget is that of the nodes that only answer', () => {
  const specOf = (wanted: string) => manifests.find(({ kind }) => kind === wanted)!.spec
  expect(specOf('PodDisruptionBudget').selector).toEqual(specOf('Deployment').selector)
})

test('a node that only answers pulls from one control node, by the name of its pod', () => {
  // Each control node counts by itself: behind one address they would contradict each other.
  const settings = loadSettings({ file: join(base, 'dns.settings.yaml'), env: {}, flags: {} })
  const service = manifests.find(
    ({ kind, metadata }) => kind === 'Service' && metadata.name === 'gslbd-control',
  )
  expect(service).toMatchObject({ spec: { clusterIP: 'None' } })
  expect(settings).toMatchObject({
    value: { bundle: { urls: ['http://gslbd-control-0.gslbd-control.gslbd.svc:8080'] } },
  })
})

describe('compose', () => {
  const folder = join(deploy, 'compose')
  const text = readFileSync(join(folder, 'compose.yaml'), 'utf8')
  const { services } = parse(text) as { services: { gslbd: ComposeService } }
  const { gslbd } = services

  test('each value that it asks for is in .env.example, and the other way round', () => {
    const asked = [...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name)
    const example = readFileSync(join(folder, '.env.example'), 'utf8')
    const given = [...example.matchAll(/^(\w+)=/gm)].map(([, name]) => name)
    expect(given.toSorted()).toEqual([...new Set(asked)].toSorted())
  })

  test('neither Git nor the build of the image takes .env', () => {
    for (const [file, line] of [
      ['.gitignore', '.env'],
      ['.dockerignore', '**/.env'],
    ] as const) {
      expect(readFileSync(join(deploy, '..', file), 'utf8').split('\n')).toContain(line)
    }
  })

  test('the image has the version of the program, as "npm run package:image" names it', () => {
    const { version } = parse(readFileSync(join(deploy, '../package.json'), 'utf8')) as {
      version: string
    }
    expect(gslbd.image).toBe(`gslbd:${version}`)
  })

  test('has the ports of the settings, and time to stop', () => {
    const read = loadSettings({ file: join(folder, 'gslbd.yaml'), env: {}, flags: {} })
    if (!read.ok) return expect.fail(read.error.join())
    const { dns, api } = read.value
    const inside = gslbd.ports.map((port) => port.split(':').at(-1))
    expect(inside).toEqual([`${dns.port}/udp`, `${dns.port}/tcp`, `${api.port}/tcp`])
    expect(Number.parseInt(gslbd.stop_grace_period, 10)).toBeGreaterThan(28)
  })
})

interface ComposeService {
  readonly image: string
  readonly ports: readonly string[]
  readonly stop_grace_period: string
}
