// sticky: picks one member for each client network by rendezvous hashing; when a member goes, only
// its own clients move.
import type { Bundle } from '#bundle/format/bundle.ts'
import {
  HostnameCell,
  partsAround,
  slotMembers,
  slotsOfHostname,
} from '#bundle/format/hostnames.ts'
import type { Chain } from '#routing/chain/chain.ts'
import type { Way } from '#routing/choose/way.ts'

/** Prefix lengths of a client's network. */
const networkBits = { v4: 24, v6: 64 } as const

export const sticky: Way = {
  name: 'sticky',
  aliases: [],
  usedAs: ['filter'],
  kind: 'narrowing',
  leaves: 'one',
  picksAny: false,
  needs: [],
  likeness: [],
  page: {
    does: 'keeps one member for each client network; when a member goes, only its clients move',
    settings: '',
    scope: '/24 or /64',
  },
  bind({ bundle }) {
    const words = createUidWords(bundle)
    return (chain) => {
      const { members, count } = chain
      const network = networkHash(chain)
      let best = 0
      let most = -Infinity
      for (let i = 0; i < count; i++) {
        const score = memberHash(words, members[i]!, network)
        if (score > most) {
          most = score
          best = i
        }
      }
      chain.keepOnly(best)
    }
  },
}

/** Each member is as likely as its weight says; a change of one weight moves few clients. */
export const stickyWeighted: Way = {
  name: 'sticky-weighted',
  aliases: [],
  usedAs: ['filter'],
  kind: 'narrowing',
  leaves: 'one',
  picksAny: false,
  weightAs: 'share',
  needs: [],
  likeness: [],
  page: {
    does: 'as `sticky`, each member as likely as its weight',
    settings: "members' `weight`",
    scope: '/24 or /64',
  },
  bind({ bundle }) {
    const words = createUidWords(bundle)
    return (chain) => {
      const { members, count, state } = chain
      const network = networkHash(chain)
      let best = 0
      let most = -Infinity
      for (let i = 0; i < count; i++) {
        // Uniform between 0 and 1, both excluded. The member with the largest ln(u) / w is
        // distributed by w.
        const share = ((memberHash(words, members[i]!, network) >>> 0) + 0.5) / 4_294_967_296
        const score = Math.log(share) / state.memberShare[members[i]!]!
        if (score > most) {
          most = score
          best = i
        }
      }
      chain.keepOnly(best)
    }
  },
}

/** The uids of members, four words each; addresses of one host name get distinct words. */
function createUidWords(bundle: Bundle): Int32Array {
  const { buffer, byteOffset, byteLength } = bundle.memberUid
  const words = new Int32Array(buffer, byteOffset, byteLength / 4)
  if (bundle.hostnameRow.length === 0) return words
  const own = words.slice()
  for (let hostname = 0; hostname < bundle.hostnameRow.length / HostnameCell.Words; hostname++) {
    const before = (hostname - partsAround(bundle, hostname).first) * slotsOfHostname
    for (const [place, member] of [...slotMembers(bundle, hostname)].entries()) {
      own[member * 4 + 3]! ^= Math.imul(before + place + 1, 0x9e37_79b9)
    }
  }
  return own
}

function networkHash(chain: Chain): number {
  const { client } = chain
  const { words } = client
  chain.need(client.isIpv6 ? networkBits.v6 : networkBits.v4)
  return client.isIpv6
    ? mix(mix(0x36, words[0]! | 0), words[1]! | 0)
    : mix(0x34, words[0]! >>> (32 - networkBits.v4))
}

/** A signed 32-bit number: V8 would box an unsigned one when it is passed on. */
function memberHash(words: Int32Array, member: number, network: number): number {
  const at = member * 4
  const low = mix(mix(network, words[at]!), words[at + 1]!)
  return mix(mix(low, words[at + 2]!), words[at + 3]!)
}

/** The final rounds of MurmurHash3: all bits of both numbers affect all bits of the result. */
function mix(hash: number, word: number): number {
  let h = hash ^ word
  h = Math.imul(h ^ (h >>> 16), 0x85eb_ca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2_ae35)
  return ((h ^ (h >>> 16)) + 0x9e37_79b9) | 0
}
