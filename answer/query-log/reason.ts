// Names the reason of a logged answer in a word, and the members in it.
import { formatAddress } from '#dns/address.ts'
import { ExtendedError } from '#dns/edns-codes.ts'
import { Flag1, Flag2, HeaderOffset } from '#dns/header.ts'
import { readMessageName } from '#dns/message-name.ts'
import { formatName } from '#dns/name.ts'
import { rcodeNames } from '#dns/rcode.ts'
import { RrType } from '#dns/rrtype.ts'
import type { LoggedQuery } from './logged-queries.ts'
import { recordPlaces, Section } from './message-records.ts'

/** The algorithm or filters that chose, or a word for any other origin of the answer. */
export function reasonOf(logged: LoggedQuery): string {
  const { replyBytes, reply, extendedError, choice } = logged
  if (replyBytes === 0) return 'no-reply'
  if (choice !== null) return choice.chosen === 0 ? 'no-candidate' : choice.reason
  if (extendedError === ExtendedError.Blocked) return 'response-rule'
  if (extendedError === ExtendedError.NotReady) return 'no-bundle'
  if (reply === undefined) return 'records'
  const octets = Buffer.from(reply)
  const rcode = octets[HeaderOffset.Flags2]! & Flag2.RcodeMask
  if (rcode !== 0) return (rcodeNames[rcode] ?? `rcode-${rcode}`).toLowerCase()
  const flags = octets[HeaderOffset.Flags1]!
  if ((flags & Flag1.Tc) !== 0) return 'truncated'
  if (octets.readUInt16BE(HeaderOffset.AnCount) > 0) return 'records'
  const hasAuthority = octets.readUInt16BE(HeaderOffset.NsCount) > 0
  return hasAuthority && (flags & Flag1.Aa) === 0 ? 'referral' : 'nodata'
}

/** Names of the first chosen members; a member without a name appears by its address or alias. */
export function memberNames({ choice, reply }: LoggedQuery): readonly string[] {
  if (choice === null) return []
  const { members } = choice
  if (members.every((name) => name !== '') || reply === undefined) return members
  const answered = answeredWith(reply, choice.chosen)
  return members.map((name, i) => (name === '' ? (answered[i] ?? '') : name))
}

/** Addresses in the answer, or the target of an alias. */
function answeredWith(reply: Uint8Array, count: number): readonly string[] {
  const records = recordPlaces(reply) ?? []
  const answers = records.filter(({ section }) => section === Section.Answer)
  const addresses = answers.filter(({ type }) => type === RrType.A || type === RrType.AAAA)
  const alias = answers.findLast(({ type }) => type === RrType.CNAME)
  if (addresses.length < count && alias !== undefined) {
    const target = readMessageName(reply, alias.start)
    return target === undefined ? [] : [formatName(target.wire)]
  }
  return addresses.slice(-count).map(({ start, end }) => formatAddress(reply.subarray(start, end)))
}
