// Hostile updates and requests for transfers, signed and not: each is answered as it must be.
import { describe, expect, test } from 'vitest'
import { checkTsig } from '#dns/tsig/check-tsig.ts'
import { rcodeNames } from '#dns/rcode.ts'
import { Random } from '#lib/random.ts'
import { decodeMessage } from '#test/support/dns/message.ts'
import { signedWith } from '#test/support/dns/signed.ts'
import { laneCount } from '#test/support/lane.ts'
import { countFrom, testSeed } from '#test/support/random.ts'
import { complaintAboutReplies, exchangeCorpus } from '../fuzz/targets/exchange.ts'
import { exchangeKey, exchangeSeconds, ExchangeUnderTest } from '../fuzz/targets/exchange.ts'
import { mutated } from '../fuzz/targets/mutator.ts'

const count = countFrom('GSLB_FUZZ_COUNT', laneCount(40_000, 3_000))
/** What can be signed and is for the handler: a question, with QR clear. */
const isForUs = (message: Buffer): boolean => message.length >= 12 && message.readUInt8(2) < 0x80

const sign = (message: Buffer): Buffer => signedWith(exchangeKey, message, exchangeSeconds)

/** A signature behind octets that are no records is none. */
const isValid = (message: Buffer): boolean =>
  checkTsig(message, () => exchangeKey, exchangeSeconds).is === 'signed'

/** What the collected messages get, signed and over TCP: an rcode, or a number of records. */
const expected = {
  update: {
    NOERROR:
      'add-text delete-all delete-all-texts delete-text mx-prerequisite-compressed ' +
      'prerequisites-of-all-kinds ttl-with-top-bit with-opt',
    FORMERR:
      'class-chaos counts-65535 delete-with-ttl header-only ' +
      'mx-prerequisite-name-runs-out-of-rdata mx-prerequisite-points-to-itself no-zone ' +
      'octets-behind owner-is-pointer-forward owner-of-256-octets records-fewer-than-counted ' +
      'soa-prerequisite-cut text-empty text-longer-than-rdata two-zones type-opt-as-update ' +
      'zone-of-type-a',
    NOTZONE: 'name-ends-like-zone name-outside-zone',
    REFUSED: 'six-hundred-records',
    NXRRSET: 'type-tsig-as-prerequisite',
    NOTAUTH: 'zone-is-root zone-of-class-any',
  },
  transfer: {
    '1': 'ixfr-current soa-of-catalog soa-of-catalog-with-small-opt',
    '5': 'axfr-of-catalog axfr-of-catalog-in-capitals ixfr-of-catalog',
    '305':
      'axfr axfr-with-opt axfr-with-soa-in-authority axfr-with-subnet-and-keepalive ' +
      'ixfr-half-the-circle-away ixfr-old ixfr-over-the-turn ixfr-soa-mname-points-to-itself ' +
      'ixfr-soa-names-compressed ixfr-with-opt',
    BADVERS: 'axfr-with-opt-of-version-1',
    NOTAUTH: 'axfr-below-apex axfr-of-other-zone axfr-of-root',
    FORMERR:
      'axfr-name-is-pointer axfr-question-cut axfr-twice-in-one axfr-with-octets-behind ' +
      'axfr-with-two-opt ixfr-authority-counted-not-there ixfr-rdlength-beyond-end ' +
      'ixfr-soa-mname-runs-out ixfr-soa-of-19-octets ixfr-with-ns-for-soa ixfr-with-two-soa ' +
      'ixfr-without-soa',
    REFUSED: 'axfr-of-class-any axfr-of-class-chaos',
  },
} as const
describe.each(['update', 'transfer'] as const)('collected messages: %s', (folder) => {
  test('each is answered as it must be', async () => {
    const exchange = new ExchangeUnderTest()
    const found: Record<string, string[]> = {}
    for (const [name, message] of exchangeCorpus(folder)) {
      if (!isForUs(message)) continue
      for (const isTcp of [true, false]) {
        for (const isSigned of [true, false]) {
          const sent = isSigned ? sign(message) : message
          const replies = await exchange.replies(sent, isTcp)
          expect([name, complaintAboutReplies(sent, replies, isValid(sent))]).toEqual([
            name,
            undefined,
          ])
          if (!isTcp || !isSigned) continue
          const decoded = replies.map((reply) => decodeMessage(reply))
          const records = decoded.reduce((sum, { answer }) => sum + answer.length, 0)
          const rcode = rcodeNames[decoded[0]!.rcode]!
          const what = records > 0 ? `${records}` : rcode
          found[what] = [...(found[what] ?? []), name].sort()
        }
      }
    }
    const rows = Object.entries(found).map(([what, all]) => [what, all.join(' ')])
    expect(Object.fromEntries(rows)).toEqual(expected[folder])
  })

  test(`${count} mutations are answered as they must be`, async () => {
    const exchange = new ExchangeUnderTest()
    const random = new Random(testSeed)
    const honest = [...exchangeCorpus(folder).values()]
    const faults: string[] = []
    let answered = 0
    for (let i = 0; i < count && faults.length < 5; i++) {
      const message = mutated(honest, random)
      const isSigned = i % 4 !== 0
      // A count of 65,535 additional records has no room for one more.
      if (!isForUs(message) || (isSigned && message.readUInt16BE(10) === 65_535)) continue
      const sent = isSigned ? sign(message) : message
      const replies = await exchange.replies(sent, i % 2 === 0)
      const complaint = complaintAboutReplies(sent, replies, isValid(sent))
      if (complaint !== undefined) faults.push(`${complaint}: ${sent.toString('hex')}`)
      if (replies.some((reply) => (reply.readUInt8(3) & 15) === 0)) answered++
    }
    expect(faults).toEqual([])
    // Messages that are all refused would prove nothing.
    expect(answered).toBeGreaterThan(count / 50)
  })
})
