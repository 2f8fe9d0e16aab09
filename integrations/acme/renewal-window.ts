// The window of time in which a CA wants a certificate to be renewed (RFC 9773): how it is read,
// the moment that is drawn in it, and when it is asked for again. Pure.
import { hash } from 'node:crypto'
import { fieldsOf } from '#lib/text/json.ts'
import type { AcmeRenewal, IssuedCertificate } from './acme-state.ts'
import { acmeStateLimits } from './acme-state.ts'

export interface SuggestedWindow {
  readonly startMs: number
  readonly endMs: number
  /** Address of a page that says why; null: none is named. */
  readonly why: string | null
}

/** RFC 9773 section 4.3: times of a CA are clamped to these bounds. */
export const renewalAskLimits = {
  leastMs: 60_000,
  mostMs: 86_400_000,
  /** For an answer without a time. */
  usualMs: 6 * 3_600_000,
  /** After a failure without a time. */
  failedMs: 3_600_000,
  /** While one node asks, others wait this long. */
  claimMs: 600_000,
} as const

/** Digest by which certificates are told apart. */
export const chainMark = ({ chain }: Pick<IssuedCertificate, 'chain'>): string =>
  hash('sha256', chain)

/** What is known of this certificate; null: nothing. */
export const renewalOf = (
  renewal: AcmeRenewal | null,
  certificate: Pick<IssuedCertificate, 'chain'>,
): AcmeRenewal | null => (renewal?.mark === chainMark(certificate) ? renewal : null)

/** A time of the next question that is too far away was noted by a clock that was wrong. */
export function isAskDue(
  renewal: AcmeRenewal | null,
  certificate: Pick<IssuedCertificate, 'chain'>,
  nowMs: number,
): boolean {
  const known = renewalOf(renewal, certificate)
  return known === null || nowMs >= known.nextMs || known.nextMs > nowMs + renewalAskLimits.mostMs
}

/** @returns null: it is none */
export function readWindow(data: unknown): SuggestedWindow | null {
  const { suggestedWindow, explanationURL } = fieldsOf(data)
  const { start, end } = fieldsOf(suggestedWindow)
  const [startMs, endMs] = [timeOf(start), timeOf(end)]
  if (startMs === null || endMs === null || endMs <= startMs) return null
  const isPage = typeof explanationURL === 'string' && pageForm.test(explanationURL)
  return { startMs, endMs, why: isPage ? explanationURL : null }
}

/** It goes into pages and onto terminals. */
const pageForm = new RegExp(`^https?://[!-~]{1,${acmeStateLimits.whyMax - 8}}$`)

function timeOf(text: unknown): number | null {
  if (typeof text !== 'string' || !/^\d{4}-\d\d-\d\dT[0-9:.]{1,30}(Z|[+-]\d\d:\d\d)$/.test(text)) {
    return null
  }
  const atMs = Date.parse(text)
  return Number.isNaN(atMs) ? null : atMs
}

/**
 * The moment of a window that has not changed stays.
 *
 * @param draw 0 to 1: certificates that are of one time are not renewed at once
 */
export function drawnIn(
  window: SuggestedWindow,
  before: AcmeRenewal | null,
  draw: number,
): Pick<AcmeRenewal, 'atMs' | 'window'> {
  const { startMs, endMs } = window
  // The clock of the CA is known to a second.
  const known = before?.window ?? null
  if (
    before !== null &&
    known !== null &&
    Math.abs(known.startMs - startMs) <= clockStepMs &&
    Math.abs(known.endMs - endMs) <= clockStepMs
  ) {
    return { atMs: before.atMs, window: { ...known, why: window.why } }
  }
  return { atMs: Math.floor(startMs + (endMs - startMs) * draw), window }
}

const clockStepMs = 5_000

/**
 * @param saidMs what the CA says; null: nothing
 * @param usualMs where it does not
 */
export function askedAgainMs(saidMs: number | null, usualMs: number): number {
  const { leastMs, mostMs } = renewalAskLimits
  return Math.min(Math.max(saidMs ?? usualMs, leastMs), mostMs)
}
