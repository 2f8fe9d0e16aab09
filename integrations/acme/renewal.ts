// When a certificate is asked for: at two thirds of its time, and after a failure no earlier than
// the pause is over. Pure; by the clock of the node, against which a certificate may be skewed.
import { backoffMs } from '#lib/backoff.ts'
import type { AcmeFailure, AcmeState, IssuedCertificate } from './acme-state.ts'

export interface AcmeWish {
  readonly directory: string
  /** Lower case, without a final dot, in the order of the settings. */
  readonly names: readonly string[]
}

export const renewalLimits = {
  /** A node that begins earlier leaves the others of the cluster, and of the CA, their time. */
  spreadShare: 1 / 20,
  /** Let's Encrypt takes five wrong proofs of a name in an hour. */
  failures: { firstMs: 120_000, mostMs: 6 * 3_600_000 },
  /** Where a CA that limits rates does not say until when. */
  limited: { firstMs: 3_600_000, mostMs: 24 * 3_600_000 },
  /** What a CA says beyond it counts as this. */
  retryAfterMaxMs: 7 * 86_400_000,
  /** A failure that is so far in the future was noted by a clock that was wrong. */
  skewMs: 300_000,
} as const

export const wishText = ({ directory, names }: AcmeWish): string =>
  JSON.stringify([directory, names.toSorted()])

/** @returns why one is to be asked for now, a few words; null: not now */
export function whyNow(state: AcmeState, wish: AcmeWish, nowMs: number): string | null {
  const why = whyAtAll(state.certificate, wish, nowMs)
  if (why === null || !isPausing(state.failure, wish, nowMs)) return why
  return null
}

function whyAtAll(
  certificate: IssuedCertificate | null,
  wish: AcmeWish,
  nowMs: number,
): string | null {
  if (certificate === null) return 'there is none'
  if (wishText(certificate) !== wishText(wish)) return 'other names, or another directory'
  return nowMs >= certificate.renewAtMs ? 'two thirds of its time are over' : null
}

/** A clock that was ahead, and was put right, holds nothing back. */
function isPausing(failure: AcmeFailure | null, wish: AcmeWish, nowMs: number): boolean {
  if (failure === null || failure.wish !== wishText(wish)) return false
  return nowMs < failure.nextMs && nowMs >= failure.atMs - renewalLimits.skewMs
}

/**
 * By the clock that notes when it came, not by what the certificate says: a wrong clock renews at
 * the right pace all the same.
 *
 * @param draw 0 to 1
 */
export function renewAtMs(
  { notBeforeMs, notAfterMs }: Pick<IssuedCertificate, 'notBeforeMs' | 'notAfterMs'>,
  issuedAtMs: number,
  draw: number,
): number {
  const lifeMs = Math.max(0, notAfterMs - notBeforeMs)
  const share = 2 / 3 - draw * renewalLimits.spreadShare
  return Math.floor(issuedAtMs + lifeMs * share)
}

/** @param draw 0 to 1: nodes of others that failed at the same time come back one by one */
export function pauseMs(
  { code, retryAfterMs }: { readonly code: string; readonly retryAfterMs: number | null },
  failures: number,
  draw: number,
): number {
  const { limited, failures: others, retryAfterMaxMs } = renewalLimits
  const ownMs = backoffMs(code === 'rateLimited' ? limited : others, failures)
  const saidMs = Math.min(retryAfterMs ?? 0, retryAfterMaxMs)
  return Math.ceil(Math.max(ownMs, saidMs) * (1 + draw / 10))
}
