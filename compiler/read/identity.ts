// The uid of an object: declared in its file, or derived from its name.
import { hash } from 'node:crypto'

/** Namespace of derived ids. Never changed: every derived id depends on it. */
const namespace = Buffer.from('8f1c2e64b0a95c1e9d3a6b70f4d2517e', 'hex')

/** UUIDv5 (RFC 9562 section 5.5) of the parts. */
export function derivedUid(...parts: readonly string[]): string {
  // JSON keeps ("a", "b/c") and ("a/b", "c") apart.
  const name = Buffer.from(JSON.stringify(parts))
  const digest = hash('sha1', Buffer.concat([namespace, name]), 'buffer')
  digest[6] = (digest[6]! & 0x0f) | 0x50
  digest[8] = (digest[8]! & 0x3f) | 0x80
  const hex = digest.toString('hex', 0, 16)
  const at = [0, 8, 12, 16, 20, 32]
  return at
    .slice(1)
    .map((end, i) => hex.slice(at[i], end))
    .join('-')
}

export function objectUid(tenant: string, kind: string, name: string): string {
  return derivedUid('object', tenant, kind, name)
}

/** @param trigger lower case with the trailing dot */
export function responseRuleUid(policyUid: string, triggerType: string, trigger: string): string {
  return derivedUid('response-rule', policyUid, triggerType, trigger)
}

/** A name and type has one record set, in any file. @param name lower case, final dot */
export function rrsetUid(name: string, type: number): string {
  return derivedUid('record-set', name, String(type))
}

/** @param target canonical address or host name: spellings do not change the uid */
export function memberUid(poolUid: string, target: string, port: number): string {
  return derivedUid('member', poolUid, target, String(port))
}
