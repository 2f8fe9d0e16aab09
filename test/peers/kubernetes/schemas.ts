// Validates objects against the published schemas of Kubernetes and the Prometheus operator.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Manifest } from './programs.ts'

interface Schema {
  readonly validate: ((data: unknown) => boolean) & {
    errors?: readonly { readonly instancePath: string; readonly message?: string }[] | null
  }
}

const kubernetes = 'kubernetes-models/_schemas/IoK8sApi'
const operator = '@kubernetes-models/prometheus-operator/_schemas/'
const monitoring = `${operator}ComGithubPrometheusOperatorPrometheusOperatorPkgApisMonitoringV1`
const files: Readonly<Record<string, string>> = {
  'v1 ConfigMap': `${kubernetes}CoreV1ConfigMap`,
  'v1 Service': `${kubernetes}CoreV1Service`,
  'v1 ServiceAccount': `${kubernetes}CoreV1ServiceAccount`,
  'apps/v1 DaemonSet': `${kubernetes}AppsV1DaemonSet`,
  'apps/v1 Deployment': `${kubernetes}AppsV1Deployment`,
  'apps/v1 StatefulSet': `${kubernetes}AppsV1StatefulSet`,
  'discovery.k8s.io/v1 EndpointSlice': `${kubernetes}DiscoveryV1EndpointSlice`,
  'networking.k8s.io/v1 Ingress': `${kubernetes}NetworkingV1Ingress`,
  'networking.k8s.io/v1 NetworkPolicy': `${kubernetes}NetworkingV1NetworkPolicy`,
  'rbac.authorization.k8s.io/v1 ClusterRole': `${kubernetes}RbacV1ClusterRole`,
  'rbac.authorization.k8s.io/v1 ClusterRoleBinding': `${kubernetes}RbacV1ClusterRoleBinding`,
  'policy/v1 PodDisruptionBudget': `${kubernetes}PolicyV1PodDisruptionBudget`,
  'monitoring.coreos.com/v1 PodMonitor': `${monitoring}PodMonitor`,
  'monitoring.coreos.com/v1 ServiceMonitor': `${monitoring}ServiceMonitor`,
}

/** @returns a line for each fault; none for an object that Kubernetes takes as it is */
export async function faultsOf(manifest: Manifest): Promise<readonly string[]> {
  const what = `${manifest.apiVersion} ${manifest.kind}`
  const file = files[what]
  if (file === undefined) return [`${what}: there is no schema of it`]
  const path = join(import.meta.dirname, 'tools/node_modules', `${file}.js`)
  const { validate } = (await import(pathToFileURL(path).href)) as Schema
  const asked = new Map<object, Set<string>>()
  const errors = validate(watched(manifest, asked)) ? [] : (validate.errors ?? [])
  return [
    ...errors.map((error) => `${what}${error.instancePath} ${error.message ?? ''}`),
    ...unknownFields(manifest, asked, what),
  ]
}

/**
 * The schemas allow fields that they do not name, and an API server refuses those (or drops them).
 * A field that is there and that its schema never asked for is one that it does not name.
 */
function watched<T>(value: T, asked: Map<object, Set<string>>): T {
  if (typeof value !== 'object' || value === null) return value
  const keys = asked.get(value) ?? new Set()
  asked.set(value, keys)
  return new Proxy(value, {
    get(target, key) {
      if (typeof key === 'string') keys.add(key)
      return watched(Reflect.get(target, key) as unknown, asked)
    },
  })
}

function unknownFields(value: unknown, asked: Map<object, Set<string>>, path: string): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    const here = `${path}/${key}`
    if (!(asked.get(value)?.has(key) ?? false)) return [`${here} is not a field of the schema`]
    return unknownFields(inner, asked, here)
  })
}
