// When a certificate is asked for: at two thirds of its time, and no earlier than the pause after
// a failure is over. Pure; by the clock of the node, against which a certificate may be skewed.
import type { AcmeState, IssuedCertificate } from './acme-state.ts'
import { isPausing, pauseLimits, replacedUntilMs } from './pauses.ts'
import type { AcmeWish } from './pauses.ts'

export const renewalLimits = {
  /** A node that begins earlier leaves the others of the cluster, and of the CA, their time. */
  spreadShare: 1 / 20,
  /** So much of its time is left when it is renewed whatever the pace says. */
  lastShare: 1 / 6,
  /** No certificate is renewed earlier than this part of its time after it came, for that. */
  leastShare: 1 / 10,
} as const

/** @returns why one is to be asked for now, a few words; null: not now */
export function whyNow(state: AcmeState, wish: AcmeWish, nowMs: number): string | null {
  const why = whyAtAll(state.certificate, wish, nowMs)
  return why === null || isPausing(state.pauses, wish, nowMs) ? null : why
}

/** The same whatever pause there is. */
export function whyAtAll(
  certificate: IssuedCertificate | null,
  wish: AcmeWish,
  nowMs: number,
): string | null {
  if (certificate === null) return 'there is none'
  if (!isFor(certificate, wish)) return 'other names, or another directory'
  return nowMs >= dueMs(certificate, nowMs) ? 'two thirds of its time are over' : null
}

/** One with more names serves as well, until it is renewed. */
export function isFor(certificate: AcmeWish, { directory, names }: AcmeWish): boolean {
  const has = new Set(certificate.names)
  return certificate.directory === directory && names.every((name) => has.has(name))
}

/** By both clocks: that of a node may have been wrong, and CAs date certificates back. */
export const isOlder = (one: IssuedCertificate, than: IssuedCertificate): boolean =>
  one.notBeforeMs < than.notBeforeMs && one.issuedAtMs < than.issuedAtMs

/** @returns that control nodes have different settings, a sentence without its full stop */
export function replacedFault(
  { certificate, pauses }: Pick<AcmeState, 'certificate' | 'pauses'>,
  wish: AcmeWish,
  nowMs: number,
): string | null {
  const untilMs = replacedUntilMs(pauses, wish, nowMs)
  if (untilMs === null || certificate === null || isFor(certificate, wish)) return null
  return (
    `another control node has asked for ${certificate.names.join(', ')} of ` +
    `${certificate.directory}, in the place of what acme of this node says: write the same names ` +
    `and directory on all control nodes; this node asks again at ${new Date(untilMs).toISOString()}`
  )
}

/**
 * The clock that noted when it came may have been ahead, and put right, or be that of another
 * node. One that stays ahead renews more often, and never without end.
 */
function dueMs(certificate: IssuedCertificate, nowMs: number): number {
  const { issuedAtMs, renewAtMs: pacedMs, notBeforeMs, notAfterMs } = certificate
  if (nowMs < issuedAtMs - pauseLimits.skewMs) return notBeforeMs + (pacedMs - issuedAtMs)
  const lifeMs = Math.max(0, notAfterMs - notBeforeMs)
  const { lastShare, leastShare } = renewalLimits
  const lastMs = Math.max(notAfterMs - lifeMs * lastShare, issuedAtMs + lifeMs * leastShare)
  return Math.min(pacedMs, lastMs)
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
