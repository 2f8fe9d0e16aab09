// Says whether a simulated answer would be signed, and what a resolver that validates makes of it.
// No keys are needed: a bundle says which zones are signed, and by which algorithm.
import { nameOfZone } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import type { ResponseRuleModel } from '#bundle/format/model.ts'
import { signedZones, zoneAlgorithm } from '#bundle/load/zone-signing.ts'
import { algorithmName } from '#dns/dnssec/algorithms.ts'
import { signalNamesMax } from '#answer/signing/signal-names.ts'
import { plannedSignals } from './planned-signer.ts'

/**
 * Content of the proof for a validating resolver. `no-such-name`: by NOERROR and the type NXNAME
 * (RFC 9824). `delegation`: the DS records of a cut, or that there are none. `nothing`: a response
 * rule answers without signatures; `nothing-at-cut`: at or below a cut, where none can. `alias`:
 * the alias alone, since it leads to another zone. `unknown`: the answer is made of the keys.
 */
type Proof =
  | 'records'
  | 'alias'
  | 'no-such-name'
  | 'no-data'
  | 'delegation'
  | 'nothing'
  | 'nothing-at-cut'
  | 'unknown'

export interface SimulatedSigning {
  readonly zone: string
  /** As the configuration names it. */
  readonly algorithm: string
  readonly proof: Proof
}

/** Parts of a simulation that decide about the proof. */
interface Answered {
  readonly rcode: string
  readonly rule: Pick<ResponseRuleModel, 'action' | 'signed'> | null
  /** null: the answer is our own. */
  readonly referral: object | null
  readonly answerCount: number
  /** The zone of ours in which an alias ends; -1: there is none, or no zone of ours. */
  readonly aliasZone: number
  /** A zone's key signs what a signed rule says of the name. */
  readonly isRuleSigned: boolean
  /** The answer cannot be told without keys. */
  readonly isOfKeys: boolean
}

/**
 * @param zone of the name that is asked for; -1: none of ours
 * @returns null: nothing of this zone is signed
 */
export function signingOf(
  bundle: Bundle,
  zone: number,
  answered: Answered,
): SimulatedSigning | null {
  const algorithm = zone < 0 ? -1 : zoneAlgorithm(bundle, zone)
  const { rcode, answerCount } = answered
  const isAnswer = rcode === 'NOERROR' || rcode === 'NXDOMAIN' || answerCount > 0
  if (algorithm < 0 || !isAnswer) return null
  const named = { zone: nameOfZone(bundle, zone), algorithm: algorithmName(algorithm) }
  return { ...named, proof: proofOf(zone, answered) }
}

function proofOf(zone: number, answered: Answered): Proof {
  const { rcode, rule, referral, answerCount, aliasZone } = answered
  if (rule !== null && rule.action !== 'passthru' && !answered.isRuleSigned)
    return rule.signed ? 'nothing-at-cut' : 'nothing'
  if (answered.isOfKeys) return 'unknown'
  if (aliasZone >= 0 && aliasZone !== zone) return 'alias'
  if (referral !== null && answerCount === 0) return 'delegation'
  if (rcode === 'NXDOMAIN') return 'no-such-name'
  return answerCount > 0 ? 'records' : 'no-data'
}

const texts: Readonly<Record<Proof, string>> = {
  records: 'clients with DO get the records with signatures',
  alias:
    'clients with DO get the alias with signatures; what it leads to is in another zone, which ' +
    'signs it or not: simulate that name, too',
  'no-such-name':
    'clients with DO get NOERROR, and an NSEC record whose type NXNAME says that there is no such name',
  'no-data': 'clients with DO get an NSEC record that lists what the name has',
  delegation: 'clients with DO get the DS records of the cut, or the proof that there are none',
  nothing:
    'not so the answer of the rule: resolvers that validate give SERVFAIL; write signed: true in it',
  'nothing-at-cut':
    'not so the answer of the rule: the name is delegated, and signed: true has no effect',
  unknown: 'the answer is made of keys, which a simulation does not have',
}

/** A clause. */
export function signingText({ zone, algorithm, proof }: SimulatedSigning): string {
  return `by the keys of ${zone} (${algorithm}); ${texts[proof]}`
}

/** Sentences on zones that are signed after a change in another way than before. */
export function signingChanges(base: Bundle, head: Bundle): readonly string[] {
  const [was, is] = [base, head].map(
    (bundle) => new Map(signedZones(bundle).map(({ name, algorithm }) => [name, algorithm])),
  ) as [Map<string, number>, Map<string, number>]
  const sentences: string[] = []
  for (const [zone, algorithm] of is) {
    const before = was.get(zone)
    if (before === undefined) sentences.push(`zone ${zone} becomes signed: ${nextOf(zone)}`)
    else if (before !== algorithm) {
      const from = `${algorithmName(algorithm)} in the place of ${algorithmName(before)}`
      sentences.push(`zone ${zone} is signed by ${from}: ${roll}; where they are files, ${wait}`)
    }
  }
  for (const zone of was.keys()) {
    if (!is.has(zone)) sentences.push(`zone ${zone} is signed no more: ${wait}`)
  }
  const { leftOut } = plannedSignals(head)
  if (leftOut > plannedSignals(base).leftOut) {
    const most = `${signalNamesMax} names below _signal`
    sentences.push(`${leftOut} times a zone has no place among ${most}: ${bootstrapped}`)
  }
  return sentences.toSorted()
}

const bootstrapped =
  'parents cannot bootstrap it; take "signals" away from a zone of name servers, or give the DS ' +
  'records to the parents yourself'

const nextOf = (zone: string): string =>
  'each node needs its keys; once all have it, and its longest TTL is over, give the parent what ' +
  `"gslbd dnssec ds ${zone}" prints; a server that had it by zone transfer gets it no more, and ` +
  'has to go from the NS records before'

const roll = 'where its keys are in the database, they roll to it by themselves'

const wait =
  'a DS record at its parent that fits no key makes resolvers that validate take its answers for ' +
  'forgeries; have it taken away, and wait for its TTL, before'
