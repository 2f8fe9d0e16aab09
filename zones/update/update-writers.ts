// Decides what the signer of an update may write: by the scope of a TSIG key, or by what the
// settings grant to a principal of Kerberos.
import { foldName, formatName, isAtOrBelow, parseName, sameOctets } from '#dns/name.ts'
import type { RecordWriter } from '#state/ports/dynamic-dns.ts'
import type { LiveTsigKey } from '#zones/dynamic/live-keys.ts'

/** The name of a TSIG key, in wire form and lower case; or a principal, as Kerberos writes it. */
export type UpdateSigner = Uint8Array | string

export interface UpdateWriter {
  /** As the log names it. */
  readonly label: string
  readonly tenantId: string
  readonly by: RecordWriter
  /** It writes TXT records, and no others. */
  readonly isTextOnly: boolean
  /** @returns why it may not write at a name; undefined: it may, if its tenant may */
  readonly refusal: (name: Uint8Array) => string | undefined
}

export interface PrincipalGrant {
  /** With `*` for any letters but `@` and backslashes. */
  readonly principal: string
  /** Wire form, in lower case: this name and names below. `self`: the machine's own name. */
  readonly scope: Uint8Array | 'self'
}

export interface PrincipalGrants {
  /** Principals write for it. */
  readonly tenantId: string
  readonly grants: readonly PrincipalGrant[]
}

export function writerOfKey(key: LiveTsigKey): UpdateWriter {
  const { id, tenantId, name, scope } = key
  return {
    ...{ label: formatName(name), tenantId, by: id, isTextOnly: scope === null },
    refusal: (written) =>
      scope === null || isAtOrBelow(written, scope)
        ? undefined
        : `the key has no right to ${formatName(written)}: its scope is ${formatName(scope)}`,
  }
}

export function writerOfPrincipal(
  principal: string,
  { tenantId, grants }: PrincipalGrants,
): UpdateWriter {
  const own = grants.filter((grant) => isMatch(grant.principal, principal))
  const self = machineName(principal)
  const covers = ({ scope }: PrincipalGrant, name: Uint8Array): boolean =>
    scope === 'self' ? self !== undefined && sameOctets(name, self) : isAtOrBelow(name, scope)
  return {
    ...{ label: principal, tenantId, isTextOnly: false },
    by: { tenantId, writtenBy: `kerberos:${principal}` },
    refusal: (name) =>
      own.some((grant) => covers(grant, name))
        ? undefined
        : `${principal} has no right to ${formatName(name)}: see dns.update.gssTsig.grants`,
  }
}

// A principal of another realm has another end. Kerberos writes a `/` or `@` within a component
// behind a backslash: `x\/admin@R` has one component, and is somebody else than `x/admin@R`.
function isMatch(pattern: string, principal: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[^\w]/g, '\\$&'))
  return new RegExp(`^${parts.join('[^@\\\\]*')}$`).test(principal)
}

/**
 * The name of a machine in its principal: `PC1$@EXAMPLE.ORG` of Active Directory is
 * pc1.example.org, `host/pc1.example.org@EXAMPLE.ORG` too.
 *
 * @returns in wire form and lower case; undefined: it is no machine
 */
export function machineName(principal: string): Uint8Array | undefined {
  const [, account, realm] = /^([\w-]+)\$@([\w.-]+)$/.exec(principal) ?? []
  const [, host] = /^host\/([\w-]+(?:\.[\w-]+)+)@[\w.-]+$/.exec(principal) ?? []
  const name = account === undefined ? host : `${account}.${realm}`
  const wire = name === undefined ? undefined : parseName(`${name}.`)
  return wire?.ok === true ? foldName(wire.value) : undefined
}
