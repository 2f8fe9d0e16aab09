// Whether a simulated answer would be signed, and what a resolver that validates makes of it. No
// keys are needed: a bundle says which zones are signed, and by which algorithm.
import type { Bundle } from '#bundle/format/bundle.ts'
import type { ResponseRuleModel } from '#bundle/format/model.ts'
import { signedZones, zoneAlgorithm } from '#bundle/load/zone-signing.ts'
import { signingAlgorithms } from '#dns/dnssec/algorithms.ts'
import { nameOfZone } from '#routing/print/bundle-json.ts'

/**
 * What is proved to a resolver that validates. `no-such-name`: by NOERROR and the type NXNAME (RFC
 * 9824). `delegation`: the DS records of a cut, or that there are none. `nothing`: a response rule
 * answers without signatures. `unknown`: only who has the keys can tell the answer.
 */
type Proof = 'records' | 'no-such-name' | 'no-data' | 'delegation' | 'nothing' | 'unknown'

export interface SimulatedSigning {
  readonly zone: string
  /** As the configuration names it. */
  readonly algorithm: string
  readonly proof: Proof
}

/** What of a simulation says it. */
interface Answered {
  readonly rcode: string
  readonly rule: Pick<ResponseRuleModel, 'action' | 'signed'> | null
  /** null: the answer is our own. */
  readonly referral: object | null
  readonly answerCount: number
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
  if (algorithm < 0 || answered.rcode === 'REFUSED') return null
  const named = { zone: nameOfZone(bundle, zone), algorithm: algorithmName(algorithm) }
  return { ...named, proof: proofOf(answered) }
}

function proofOf({ rcode, rule, referral, answerCount }: Answered): Proof {
  if (rule !== null && rule.action !== 'passthru' && !rule.signed) return 'nothing'
  if (referral !== null && answerCount === 0) return 'delegation'
  if (rcode === 'NXDOMAIN') return 'no-such-name'
  if (rcode !== 'NOERROR') return 'unknown'
  return answerCount > 0 ? 'records' : 'no-data'
}

const algorithmName = (algorithm: number): string =>
  signingAlgorithms.find(({ number }) => number === algorithm)?.name ?? `algorithm ${algorithm}`

const texts: Readonly<Record<Proof, string>> = {
  records: 'clients with DO get the records with signatures',
  'no-such-name':
    'clients with DO get NOERROR, and an NSEC record whose type NXNAME says that there is no such name',
  'no-data': 'clients with DO get an NSEC record that lists what the name has',
  delegation: 'clients with DO get the DS records of the cut, or the proof that there are none',
  nothing:
    'not so the answer of the rule: resolvers that validate give SERVFAIL; write signed: true in it',
  unknown: 'only who has its keys can tell this answer',
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
      sentences.push(`zone ${zone} is signed by ${from}: ${wait}`)
    }
  }
  for (const zone of was.keys()) {
    if (!is.has(zone)) sentences.push(`zone ${zone} is signed no more: ${wait}`)
  }
  return sentences.toSorted()
}

const nextOf = (zone: string): string =>
  'each node needs its keys; once all have it, and its longest TTL is over, give the parent what ' +
  `"gslbd dnssec ds ${zone}" prints`

const wait =
  'a DS record at its parent that fits no key makes resolvers that validate take its answers for ' +
  'forgeries; have it taken away, and wait for its TTL, before'
