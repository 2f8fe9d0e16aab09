// The section `externalDns` of gslbd.yaml: the listener that external-dns writes by.
import type { Static } from '#lib/schema/type.ts'
import { isLoopback } from '#lib/loopback.ts'
import { boolean, integer, section, text } from '#settings/forms/forms.ts'

export const externalDns = section(
  "The webhook provider of Kubernetes' external-dns. [More](../operations/external-dns.md).",
  {
    enabled: boolean({
      default: false,
      description: 'Whether external-dns may write here. Needs `api.enabled`.',
    }),
    listenAddr: text(45, {
      default: '127.0.0.1',
      'x-kind': 'address',
      description:
        'Its address. Beyond this machine, put a proxy with TLS before it: the URL of ' +
        'external-dns has the key of a tenant in it.',
    }),
    port: integer(0, 65_535, {
      default: 8_888,
      description: 'TCP port, 8888 as external-dns expects it. 0 takes a free one and logs it.',
    }),
    tenant: text(63, {
      'x-default': 'none',
      pattern: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$',
      'x-expected': 'the id of a tenant',
      description:
        'Tenant for which requests without a credential write: those of an external-dns in the ' +
        'same pod or on the same machine. Only with a `listenAddr` of this machine alone. ' +
        'Without it, each request needs the API key of a tenant.',
    }),
  },
)
type ExternalDnsSection = Static<typeof externalDns>

/** Returns sentences for the operator about what does not go together. */
export function faultsOfExternalDns(
  { enabled, tenant, listenAddr }: ExternalDnsSection,
  hasApi: boolean,
): readonly string[] {
  if (!enabled) return []
  const faults: string[] = []
  if (!hasApi) {
    faults.push('externalDns.enabled needs api.enabled: what external-dns writes goes its way')
  }
  if (tenant !== undefined && !isLoopback(listenAddr)) {
    faults.push(
      `externalDns.tenant lets everybody write who reaches ${listenAddr}: take it away, so that ` +
        'requests need the API key of a tenant, or set externalDns.listenAddr to 127.0.0.1',
    )
  }
  return faults
}
