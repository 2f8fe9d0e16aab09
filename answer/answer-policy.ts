// Answers for a service with a routing policy: runs its steps for the client and writes the chosen
// members.
import type { Bundle } from '#bundle/format/bundle.ts'
import { isAlias } from '#bundle/format/hostnames.ts'
import type { Chain } from '#routing/chain/chain.ts'
import { choose } from '#routing/choose/choose.ts'
import type { Policy } from '#routing/choose/policy.ts'
import type { Family } from '#routing/state/query.ts'
import { writeMember } from './records.ts'
import type { Transaction } from './transaction.ts'

/**
 * Writes the chosen members into the answer section.
 *
 * @returns their number, 0 when there is no candidate, -1 when they do not fit
 */
export function answerPolicy(
  tx: Transaction,
  bundle: Bundle,
  policy: Policy,
  service: number,
  pool: number,
  family: Family,
  ttlSeconds: number,
): number {
  const { chain } = tx
  chain.serviceIndex = service
  chain.family = family
  chain.qtype = tx.qtype
  chain.qnameBytes = tx.qnameBytes
  const isNobody = setClient(tx, chain)
  const most = choose(chain, policy, pool)
  if (most === 0) return 0
  // RFC 2181 section 10.1: a name has at most one alias.
  const chosen = bundle.hasHostnames && isAlias(bundle, chain.members[0]!) ? 1 : most
  // No scope without a subnet option: the resolver's address says nothing about its clients.
  if (chain.wantsScope && chain.scope > 0) {
    tx.ecsScope = isNobody ? loopbackBits : scopeBeside(chain)
  }
  for (let i = 0; i < chosen; i++) {
    if (!writeMember(tx, bundle, chain.members[i]!, family, ttlSeconds)) return -1
  }
  return chosen
}

/** Leading bits of 127.0.0.0/8. */
const loopbackBits = 8
const loopback = 0x7f00_0000

/**
 * Sets the client to the subnet that the resolver names, else to the resolver. RFC 7871 section
 * 7.1.2: a source prefix of 0 asks for the resolver's own address, with scope 0.
 *
 * @returns whether the subnet is one of 127.0.0.0/8, where no client of a resolver is: PowerDNS
 *   Recursor puts it for those of private networks. What is known of them is the resolver
 */
function setClient(tx: Transaction, chain: Chain): boolean {
  chain.wantsScope = tx.ecsAddressBytes > 0
  const isNobody =
    chain.wantsScope && tx.ecsFamily === 1 && tx.ecsWords[0]! >>> 24 === loopback >>> 24
  if (chain.wantsScope && !isNobody) chain.client.setWords(tx.ecsWords, tx.ecsFamily === 2)
  else chain.client.set(tx.source, tx.sourceAt, tx.sourceBytes)
  return isNobody
}

/** The scope of a choice, at least so long that 127.0.0.0/8, which gets another one, is outside. */
function scopeBeside({ client, scope }: Chain): number {
  if (client.isIpv6 || client.mappedBits > 0) return scope + client.mappedBits
  const shared = Math.clz32(client.words[0]! ^ loopback)
  return scope > shared ? scope : shared + 1
}
