// Checks that this version can serve a bundle: its record holds, it loads, has the named digest,
// and uses known steps.
import { serviceCell } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { NodeCell } from '#bundle/format/cells.ts'
import { checkOrder, verifyChannelRecord } from '#bundle/signature/channel.ts'
import type { ChannelRecord, TrustedKey } from '#bundle/signature/channel.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { firstPolicyCode } from '#bundle/format/routing-cells.ts'
import { err } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { unknownStepOf } from '#routing/choose/policy.ts'
import { plainByCode } from '#routing/choose/ways.ts'
import type { BundleStore } from './bundle-store.ts'
import { refuse } from './refusals.ts'
import type { Refusal } from './refusals.ts'

/**
 * @param bytes the signed file, in shared memory
 * @param record has been verified
 * @param known was loaded before; the result does not depend on it
 */
export function servableBundle(
  bytes: Uint8Array,
  record: ChannelRecord,
  trusted: readonly TrustedKey[],
  known?: Bundle,
): Result<Bundle, Refusal> {
  const bundle = answerableBundle(bytes, trusted, known)
  return bundle.ok && bundle.value.digest !== record.digest ? refuse('digest-mismatch') : bundle
}

/** Checks a bundle before there is a record; the caller checks which bundle it is. */
export function answerableBundle(
  bytes: Uint8Array,
  trusted: readonly TrustedKey[],
  known?: Bundle,
): Result<Bundle, Refusal> {
  const loaded = loadBundle(bytes, trusted, known)
  if (!loaded.ok) return err({ code: 'bad-bundle', message: loaded.error.message })
  const bundle = loaded.value
  for (let service = 0; service < bundle.counts.services; service++) {
    const code = serviceCell(bundle, service, NodeCell.Algorithm)
    const isPolicy = code >= firstPolicyCode
    if (!isPolicy && plainByCode[code] === undefined) return refuse('unknown-strategy')
  }
  return unknownStepOf(bundle) === undefined ? loaded : refuse('unknown-strategy')
}

interface AcceptanceParts {
  readonly trusted: readonly TrustedKey[]
  /** null: there is no quarantine. */
  readonly store: Pick<BundleStore, 'quarantine'> | null
}

/**
 * Verifies a record before its bundle is there: signature, order, quarantine.
 *
 * @param newest that was ever activated
 */
export function acceptableRecord(
  signed: unknown,
  { trusted, store }: AcceptanceParts,
  newest: ChannelRecord | undefined,
): Result<ChannelRecord, Refusal> {
  const record = verifyChannelRecord(signed, trusted)
  if (!record.ok) return refuse(record.error)
  const order = checkOrder(record.value, newest)
  if (!order.ok) return refuse(order.error)
  return store?.quarantine()[record.value.digest] === undefined ? record : refuse('quarantined')
}
