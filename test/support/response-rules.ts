// Response rules for tests: one with defaults, random ones, and a naive matcher.
import fc from 'fast-check'
import type { BundleModel, ResponseRuleModel } from '#bundle/format/model.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import { noRoutingTables } from '#routing/choose/environment.ts'
import { answer } from '#answer/answer.ts'
import { Counters } from '#answer/counters/counters.ts'
import { ResponseHits } from '#answer/counters/response-hits.ts'
import { createServingView } from '#answer/serving-view.ts'
import { Transaction } from '#answer/transaction.ts'
import { bundleOf, uid } from './bundle-models.ts'
import { decodeMessage, query } from './dns/message.ts'
import type { Message, QueryParts } from './dns/message.ts'

export function rule(
  number: number,
  triggerType: ResponseRuleModel['triggerType'],
  trigger: string,
  parts: Partial<ResponseRuleModel> = {},
): ResponseRuleModel {
  return {
    uid: uid(0x900000 + number),
    triggerType,
    trigger,
    action: 'nxdomain',
    target: '',
    signed: false,
    source: 'local',
    ...parts,
  }
}

/** Few labels, so that rules for a name, its ancestors and its descendants meet often. */
const label = fc.constantFrom('a', 'b', 'c', 'www', 'x'.repeat(63))
export const arbitraryName = fc
  .tuple(
    fc.array(label, { maxLength: 3 }),
    fc.constantFrom('org.', 'example.org.', 'a.example.org.', 'net.'),
  )
  .map(([labels, end]) => [...labels, end].join('.'))

export const arbitraryRules: fc.Arbitrary<readonly ResponseRuleModel[]> = fc
  .uniqueArray(
    fc.record({
      triggerType: fc.constantFrom('exact' as const, 'domain' as const),
      trigger: arbitraryName,
      action: fc.constantFrom('nxdomain' as const, 'passthru' as const, 'cname' as const),
      target: arbitraryName,
      signed: fc.boolean(),
      source: fc.constantFrom('local', 'feed'),
    }),
    { maxLength: 24, selector: ({ triggerType, trigger }) => `${triggerType} ${trigger}` },
  )
  .map((rules) =>
    rules.map(({ triggerType, trigger, action, target, signed, source }, i) =>
      rule(((i * 7919) % 101) * 1000 + i, triggerType, trigger, {
        action,
        signed,
        source,
        target: action === 'cname' ? target : '',
      }),
    ),
  )

/** Naive: exact rules first, then label by label toward the root. */
export function naiveMatch(
  rules: readonly ResponseRuleModel[],
  name: string,
): ResponseRuleModel | undefined {
  const exact = rules.find((one) => one.triggerType === 'exact' && one.trigger === name)
  if (exact !== undefined) return exact
  const labels = name.split('.').slice(0, -1)
  for (let i = 0; i < labels.length; i++) {
    const suffix = `${labels.slice(i).join('.')}.`
    const domain = rules.find((one) => one.triggerType === 'domain' && one.trigger === suffix)
    if (domain !== undefined) return domain
  }
  return undefined
}

/** The answer path over a model without sockets, with its hit counts. */
interface RuleAnswerer {
  readonly ask: (question: string, parts?: QueryParts) => Message
  /** Answers a packet repeatedly, ignoring replies. */
  readonly repeat: (packet: Uint8Array, times: number) => void
  readonly hits: ResponseHits
  /** Cells in which the answer path counts. */
  readonly cells: Int32Array
}

export function createRuleAnswerer(model: BundleModel): RuleAnswerer {
  const bundle = bundleOf(model)
  const settings = { udpPayloadSize: 1_232, nsid: '', versionBind: '', tcpIdleTimeoutMs: 0 }
  const counters = new Counters(new SharedArrayBuffer(Counters.bytes))
  const tx = new Transaction(settings, 1, counters)
  const hits = new ResponseHits()
  tx.adopt(
    createServingView({
      number: 1,
      bundle: bundle.bytes,
      digest: bundle.digest,
      routing: createRoutingState(bundle, 1).buffers,
      tables: noRoutingTables,
      responseHits: hits.carry(bundle, (bytes) => new SharedArrayBuffer(bytes)),
    }),
  )
  const slot = new Uint8Array(65_535)
  return {
    ask: (question, parts) => {
      const packet = query(question, parts)
      slot.set(packet)
      const length = answer(tx, slot, 0, packet.length, slot, 0, slot.length)
      return decodeMessage(Buffer.from(slot.subarray(0, length)))
    },
    repeat: (packet, times) => {
      for (let i = 0; i < times; i++) {
        for (let at = 0; at < packet.length; at++) slot[at] = packet[at]!
        answer(tx, slot, 0, packet.length, slot, 0, slot.length)
      }
    },
    hits,
    cells: tx.view!.responseHits,
  }
}
