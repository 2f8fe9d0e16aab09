// Chooses the first sequence number of a restored control node: above all that nodes may have seen
// from the lost one.
import { assert } from '#lib/assert.ts'
import type { Result } from '#lib/result.ts'
import { boundedBytes } from '#lib/http/bounded-body.ts'
import { err, ok } from '#lib/result.ts'

/** More than a control node publishes, since each publication is flushed to its disk. */
const publicationsPerSecondMax = 100
/** Covers the first hour, and a wrong clock. */
const leapMin = 1_000_000
/** Higher numbers are not believed, so that as many are left to count on. */
const seqMax = 2 ** 52

const answerBytesMax = 1_048_576
const patienceMs = 10_000

/**
 * How far nodes that cannot be asked may be ahead: by everything published since the backup.
 *
 * @param createdAtMs of the backup, to whose number the result is added
 */
export function leapSince(createdAtMs: number, nowMs: number): number {
  const ageSeconds = Math.ceil(Math.max(0, nowMs - createdAtMs) / 1_000)
  return leapMin + ageSeconds * publicationsPerSecondMax
}

/**
 * Asks pulling nodes for their sequence number at `/api/v1/health`, which needs no credential.
 *
 * @param urls of nodes, such as `http://ns1.example.net:8080`
 * @returns the highest number. Errors: a sentence for each node that gave none
 */
export async function askNodes(urls: readonly string[]): Promise<Result<number, string[]>> {
  const answers = await Promise.all(urls.map(askNode))
  const problems = answers.flatMap((one) => (one.ok ? [] : [one.error]))
  const seqs = answers.flatMap((one) => (one.ok ? [one.value] : []))
  const highest = Math.max(0, ...seqs)
  assert(isSeq(highest), 'a restored node counts on from a number that is believed')
  return problems.length > 0 ? err(problems) : ok(highest)
}

async function askNode(url: string): Promise<Result<number, string>> {
  try {
    const address = new URL('/api/v1/health', url)
    const signal = AbortSignal.timeout(patienceMs)
    const response = await fetch(address, { signal, redirect: 'error' })
    const text = Buffer.from(await boundedBytes(response.body, answerBytesMax)).toString()
    const { newest } = JSON.parse(text) as { newest?: { seq?: unknown } | null }
    // The node never had a bundle.
    if (newest === null) return ok(0)
    const seq = newest?.seq
    if (typeof seq === 'number' && isSeq(seq)) return ok(seq)
    return err(`${url} does not say its seq at /api/v1/health: it is no node that pulls`)
  } catch (error) {
    const { message, cause } = error as Error
    const why = cause instanceof Error ? cause.message : message
    return err(`${url} cannot be asked: ${why}`)
  }
}

export const isSeq = (seq: number): boolean =>
  Number.isSafeInteger(seq) && seq >= 0 && seq <= seqMax
