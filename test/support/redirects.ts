// Redirects as input of the encoder.
import fc from 'fast-check'
import type { RedirectModel } from '#bundle/redirects/redirect-table.ts'
import { uid } from './bundle-models.ts'

/** @param host with or without its final dot; `*.` in front makes a wildcard */
export function redirect(
  number: number,
  host: string,
  target: string,
  parts: Partial<RedirectModel> = {},
): RedirectModel {
  const isWildcard = host.startsWith('*.')
  const name = isWildcard ? host.slice(2) : host
  return {
    uid: uid(0x7000_0000 + number),
    tenant: 'default',
    host: name.endsWith('.') ? name : `${name}.`,
    isWildcard,
    target,
    code: 301,
    preservePath: true,
    hstsSeconds: 0,
    hstsIncludeSubDomains: false,
    ...parts,
  }
}

/** Few labels, so that hosts are often below each other. */
export const arbitraryHost = fc
  .array(fc.constantFrom('a', 'b', 'old', 'x-1', '_y', 'l'.repeat(63)), {
    minLength: 1,
    maxLength: 3,
  })
  .map((labels) => `${labels.join('.')}.`)

export const arbitraryRedirects: fc.Arbitrary<readonly RedirectModel[]> = fc
  .uniqueArray(fc.tuple(arbitraryHost, fc.boolean()), {
    maxLength: 12,
    selector: ([host, isWildcard]) => `${isWildcard} ${host}`,
  })
  .chain((hosts) =>
    fc.tuple(...hosts.map(([host, isWildcard], i) => arbitraryRedirect(i, host, isWildcard))),
  )

function arbitraryRedirect(
  number: number,
  host: string,
  isWildcard: boolean,
): fc.Arbitrary<RedirectModel> {
  return fc.record({
    // Not in the order of the hosts.
    uid: fc.constant(uid((number * 7919) % 1_000)),
    tenant: fc.constantFrom('default', 'acme'),
    host: fc.constant(host),
    isWildcard: fc.constant(isWildcard),
    target: fc.constantFrom('http://a.test', 'https://b.test/base/', 'https://c.test/?q=%C3%A4'),
    code: fc.constantFrom(301 as const, 302 as const, 307 as const, 308 as const),
    preservePath: fc.boolean(),
    hstsSeconds: fc.constantFrom(0, 1, 63_072_000),
    hstsIncludeSubDomains: fc.boolean(),
  })
}
